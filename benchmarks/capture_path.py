"""rigflow's capture path on the memory rows: hand-overs, rows, take writer with blocking queues, commit.

Prints one JSON line, as `benchmarks.peer_lerobot` does.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import structlog
from reactivex.subject import Subject

from benchmarks.workload import CAMERAS, FPS, HEIGHT, WIDTH, memory_rows
from episodes.declaration import Declaration
from episodes.paths import TaskPaths
from episodes.staging import ClockPair
from episodes.streams import Stream, VectorStream, VideoStream
from operators.cells import Tick
from operators.events import Frame, Sample
from operators.hand_over import HandOver
from operators.latest_wins import LatestWins
from operators.oldest_frame import OldestFrame
from operators.rows import Channel, Fault, Row, rows
from sinks.commit import commit_staging
from sinks.encoders import EncoderPlan, video_settings
from sinks.reservation import reserve
from sinks.take_writer import TakeWriter

__all__ = ["main"]

PERIOD_NS = 1_000_000_000 // FPS
VECTORS: dict[str, tuple[int, ...]] = {
    "observation.tactile": (2, 32, 58),
    "observation.arm": (15,),
    "observation.target": (8,),
}
SIZES = dict.fromkeys(CAMERAS, (HEIGHT, WIDTH))


def _streams() -> tuple[Stream, ...]:
    videos = [VideoStream(slot=name) for name in CAMERAS]
    vectors = [VectorStream(column=name, shape=shape, declared_by_rig=True) for name, shape in VECTORS.items()]
    return (*videos, *vectors)


def _raise(fault: Fault) -> None:
    raise RuntimeError(f"{fault.channel}: {fault.error}")


def main() -> None:
    """Record argv[2] rows with the encoder argv[1]."""
    encoder, count = sys.argv[1], int(sys.argv[2])
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(30))
    source = list(memory_rows(count))
    declaration = Declaration(
        rig="memory", task_name="benchmark", fps=FPS, streams=_streams(), master=CAMERAS[0], app_version="benchmark"
    )
    plan = EncoderPlan(colour=video_settings(encoder), selected_by=encoder)
    with tempfile.TemporaryDirectory() as folder:
        paths = TaskPaths(Path(folder) / "benchmark")
        staging = reserve(paths, declaration)
        clock = ClockPair(time.monotonic_ns(), time.time())
        writer = TakeWriter(staging, declaration, plan, clock, frame_sizes=SIZES, blocking=True)
        overs: dict[str, HandOver[Any]] = {name: HandOver(30) for name in (*CAMERAS, *VECTORS)}
        channels = [Channel(name, overs[name].items, OldestFrame(PERIOD_NS)) for name in CAMERAS]
        channels += [Channel(name, overs[name].items, LatestWins()) for name in VECTORS]
        ticks: Subject[Tick] = Subject()

        def write(row: Row) -> None:
            if not writer.write(row):
                raise RuntimeError("a row was not taken")

        start = time.perf_counter()
        rows(ticks, channels, _raise).subscribe(write)
        for index, row in enumerate(source):
            at_ns = clock.mono_ns + index * PERIOD_NS
            for name in CAMERAS:
                overs[name].put(Frame(row.pictures[name], "rgb24", at_ns))
            for name, value in zip(VECTORS, (row.tactile, row.state, row.action), strict=True):
                overs[name].put(Sample(value, at_ns))
            for over in overs.values():
                over.drain()
            ticks.on_next(Tick(index, at_ns, at_ns))
        writer.close()
        committed = commit_staging(paths, staging)
        seconds = time.perf_counter() - start
    if committed.rows != count:
        raise RuntimeError(f"{committed.rows} rows committed of {count}")
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"rows": count, "seconds": seconds, "rows_per_s": count / seconds, "peak_mb": peak_mb}))


if __name__ == "__main__":
    main()
