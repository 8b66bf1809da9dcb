"""Reserving and committing a short take in a task of many episodes.

    python -m benchmarks.many_episodes COUNT

Prints one JSON line: seconds for the reservation and the commit together, the median of five takes.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import structlog

from episodes.declaration import Declaration
from episodes.numbering import EpisodeNumber
from episodes.paths import TaskPaths
from episodes.staging import ClockPair
from episodes.streams import VideoStream
from operators.cells import Tick
from operators.events import Frame
from operators.oldest_frame import TickFrame
from operators.rows import Row
from sinks.commit import commit_staging
from sinks.encoders import EncoderPlan, video_settings
from sinks.reservation import reserve
from sinks.take_writer import TakeWriter

__all__ = ["main"]

ROWS = 15
TAKES = 5
SIZES = {"cam_rgb": (64, 64)}


def _take(paths: TaskPaths, declaration: Declaration) -> float:
    """Record one short take; gives the time that reservation and commit took, seconds."""
    start = time.perf_counter()
    staging = reserve(paths, declaration)
    spent = time.perf_counter() - start
    clock = ClockPair(time.monotonic_ns(), time.time())
    plan = EncoderPlan(colour=video_settings("libx264"), selected_by="libx264")
    writer = TakeWriter(staging, declaration, plan, clock, frame_sizes=SIZES, blocking=True)
    for index in range(ROWS):
        at_ns = clock.mono_ns + index * 33_333_333
        frame = Frame(np.full((64, 64, 3), index, np.uint8), "rgb24", at_ns)
        writer.write(Row(Tick(index, at_ns, at_ns), (TickFrame(frame, repeated=False),)))
    writer.close()
    start = time.perf_counter()
    commit_staging(paths, staging)
    return spent + time.perf_counter() - start


def main() -> None:
    """Fill a task with argv[1] episodes, then measure."""
    count = int(sys.argv[1])
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(40))
    declaration = Declaration(
        rig="many", task_name="many", fps=30, streams=(VideoStream(slot="cam_rgb"),), master="cam_rgb"
    )
    with tempfile.TemporaryDirectory() as folder:
        paths = TaskPaths(Path(folder) / "many")
        _take(paths, declaration)
        # The files of one real episode, linked under the other numbers.
        first = EpisodeNumber(0)
        sources = [paths.data(first), paths.episode_row(first), *paths.videos(first).values()]
        for k in range(1, count):
            number = EpisodeNumber(k)
            targets = [paths.data(number), paths.episode_row(number), paths.video(number, "cam_rgb", "mp4")]
            for source, target in zip(sources, targets, strict=True):
                target.parent.mkdir(parents=True, exist_ok=True)
                target.hardlink_to(source)
        seconds = statistics.median(_take(paths, declaration) for _ in range(TAKES))
    print(json.dumps({"episodes": count, "seconds": seconds}))


if __name__ == "__main__":
    main()
