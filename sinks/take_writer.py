"""Everything of a running take that goes to disk: the observer of its rows."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from episodes.declaration import Declaration
from episodes.staging import Clock
from episodes.streams import MatrixStream, VideoStream
from operators.events import Frame, Sample
from operators.oldest_frame import TickFrame
from operators.rows import Row
from sinks.encoders import EncoderPlan, staged_video
from sinks.heavy_chunks import HeavyChunks
from sinks.journal import Journal
from sinks.pictures import picture_size
from sinks.video_writer import VideoWriter

__all__ = ["SlotLoad", "TakeWriter", "WrittenTake"]

SYNC_EVERY_ROWS = 30


@dataclass(frozen=True, slots=True)
class SlotLoad:
    """How a slot's encoder keeps up: frames that wait, share of time it was busy since the last look."""

    waiting: int
    load: float


@dataclass(frozen=True, slots=True)
class WrittenTake:
    """How a take's files ended: rows given, frames in each video, and what failed, by slot or ``journal``."""

    rows: int
    frames: dict[str, int]
    errors: dict[str, str]


class TakeWriter:
    """Writes a take into its staging folder.

    `write` is cheap: it hands frames to the slots' encoder threads, matrices to one thread and everything else to
    another. A live take never waits here: when any queue is full, nothing of the row is written anywhere, False comes
    back, and the take has to end with the row before.

    Args:
        folder: the staging folder. declaration: the rig's; ``row.values`` are in the order of its streams.
        plan: the encoders. clock: start of the take. sizes: slot to (height, width) of every frame.
        blocking: wait for the queues; for input from memory or files.
        counters: the running counters for ``drop_stats``; read on the journal's thread.
        on_failure: told what failed, on the thread on which it did.
    """

    def __init__(
        self,
        folder: Path,
        declaration: Declaration,
        plan: EncoderPlan,
        clock: Clock,
        *,
        sizes: Mapping[str, tuple[int, int]],
        blocking: bool = False,
        counters: Callable[[], Mapping[str, int]] = dict,
        on_failure: Callable[[str, Exception], None] | None = None,
    ) -> None:
        self._folder = folder
        self._declaration = declaration
        self._blocking = blocking
        self._on_failure = on_failure
        self._sizes = dict(sizes)
        self._errors: dict[str, str] = {}
        self._last: dict[str, TickFrame] = {}
        self.rows = 0
        self.wrong_size: dict[str, int] = {}
        # Queue, encoder and fragment together hold at most a second: half of it may wait here.
        bound = max(4, round(declaration.fps / 2))
        (folder / "videos").mkdir(exist_ok=True)
        self._paths: list[Path] = []
        self._writers: dict[int, VideoWriter] = {}
        self._matrices: dict[int, str] = {}
        for index, stream in enumerate(declaration.streams):
            if isinstance(stream, VideoStream):
                settings = plan.of(stream.slot)
                path = staged_video(folder, stream.slot, settings)
                height, width = sizes[stream.slot]
                self._paths.append(path)
                self._writers[index] = VideoWriter(
                    path,
                    stream.slot,
                    settings,
                    declaration.fps,
                    height,
                    width,
                    queue_bound=bound,
                    blocking=blocking,
                    on_error=self._failed,
                )
            elif isinstance(stream, MatrixStream):
                self._matrices[index] = stream.column
        matrix_streams = [s for s in declaration.streams if isinstance(s, MatrixStream)]
        self._heavy = HeavyChunks(folder, matrix_streams, bound) if matrix_streams else None
        self._journal = Journal(folder, declaration, clock.mono_ns, counters)
        self._rows: queue.Queue[Row | None] = queue.Queue(maxsize=bound * 4)
        self._heavy_rows: queue.Queue[dict[str, NDArray[np.float32] | None] | None] = queue.Queue(maxsize=bound)
        self._threads = [threading.Thread(target=self._write_journal, name="journal", daemon=True)]
        if self._heavy is not None:
            self._threads.append(threading.Thread(target=self._write_heavy, name="heavy", daemon=True))
        for thread in self._threads:
            thread.start()

    def write(self, row: Row) -> bool:
        """Take one row; False when it could not be taken, and the take has to end."""
        if self._errors or not (self._blocking or self._has_room()):
            return False
        values = list(row.values)
        frames: list[tuple[VideoWriter, Frame]] = []
        for index, writer in self._writers.items():
            shown = self._shown(writer.slot, cast("TickFrame | None", values[index]))
            values[index] = shown
            frames.append((writer, shown.frame))
        matrices: dict[str, NDArray[np.float32] | None] = {}
        for index, column in self._matrices.items():
            sample = cast("Sample[NDArray[np.float32]] | None", values[index])
            matrices[column] = None if sample is None else sample.value
        for writer, frame in frames:
            if not writer.write(frame):
                self._failed(writer.slot, RuntimeError("the encoder took no frame"))
                return False
        if self._heavy is not None:
            self._heavy_rows.put(matrices)
        self._rows.put(Row(row.tick, tuple(values)))
        self.rows += 1
        return True

    def _has_room(self) -> bool:
        # Only this thread puts, so what has room now has it a microsecond later.
        return (
            all(writer.has_room() for writer in self._writers.values())
            and not self._rows.full()
            and not self._heavy_rows.full()
        )

    def full_queue(self) -> str | None:
        """Which queue is full: a slot, ``force matrices`` or ``journal``; None when all have room."""
        for writer in self._writers.values():
            if not writer.has_room():
                return writer.slot
        if self._heavy_rows.full():
            return "force matrices"
        return "journal" if self._rows.full() else None

    def _shown(self, slot: str, shown: TickFrame | None) -> TickFrame:
        """The frame to store: the last one again where there is none, or one of another size."""
        size = self._sizes[slot]
        if shown is not None:
            try:
                fits = picture_size(shown.frame.image, shown.frame.pix_fmt) == size
            except Exception:  # noqa: BLE001 - a picture that cannot be understood counts as one that does not fit
                fits = False
            if fits:
                self._last[slot] = shown
                return shown
            if not shown.repeated:
                self.wrong_size[slot] = self.wrong_size.get(slot, 0) + 1
        last = self._last.get(slot)
        if last is None:
            last = TickFrame(self._blank(slot, size), repeated=True)
            self._last[slot] = last
        return TickFrame(last.frame, repeated=True)

    def _blank(self, slot: str, size: tuple[int, int]) -> Frame:
        depth = any(video.slot == slot and video.kind == "depth" for video in self._declaration.videos)
        if depth:
            return Frame(np.zeros(size, np.uint16), "gray16le", 0)
        return Frame(np.zeros((*size, 3), np.uint8), "rgb24", 0)

    def live(self) -> dict[str, SlotLoad]:
        """How the encoders keep up, by slot; for one caller."""
        return {writer.slot: SlotLoad(writer.waiting, writer.load()) for writer in self._writers.values()}

    def close(self) -> WrittenTake:
        """Work all queues off and finish all files."""
        self._end_threads()
        frames: dict[str, int] = {}
        for writer in self._writers.values():
            result = writer.close()
            frames[writer.slot] = result.frames
            if result.error is not None:
                self._errors.setdefault(writer.slot, result.error)
        return WrittenTake(self.rows, frames, dict(self._errors))

    def abort(self) -> None:
        """End without finishing anything."""
        for writer in self._writers.values():
            writer.abort()
        self._end_threads()

    def _end_threads(self) -> None:
        self._rows.put(None)
        if self._heavy is not None:
            self._heavy_rows.put(None)
        for thread in self._threads:
            thread.join()

    def _failed(self, name: str, error: Exception) -> None:
        first = name not in self._errors
        self._errors.setdefault(name, str(error) or type(error).__name__)
        if first and self._on_failure is not None:
            self._on_failure(name, error)

    def _write_journal(self) -> None:
        _work(self._rows, self._journal.append, self._journal.close, lambda e: self._failed("journal", e), self._sync)

    def _write_heavy(self) -> None:
        if self._heavy is not None:
            _work(self._heavy_rows, self._heavy.append, self._heavy.close, lambda e: self._failed("force matrices", e))

    def _sync(self) -> None:
        """Bring the videos to the disk as they grow, so that the commit has little left to wait for."""
        for path in self._paths:
            with suppress(OSError):
                handle = os.open(path, os.O_RDONLY)
                try:
                    os.fdatasync(handle)
                finally:
                    os.close(handle)


def _work(
    items: queue.Queue[Any],
    append: Callable[[Any], None],
    close: Callable[[], None],
    failed: Callable[[Exception], None],
    sync: Callable[[], None] | None = None,
) -> None:
    """Work a queue off until None comes; after a failure go on emptying it, so that nobody waits for a place."""
    alive, done = True, 0
    while (item := items.get()) is not None:
        if not alive:
            continue
        try:
            append(item)
            done += 1
            if sync is not None and done % SYNC_EVERY_ROWS == 0:
                sync()
        except Exception as error:  # noqa: BLE001 - told, and the take is ended
            alive = False
            failed(error)
    try:
        close()
    except Exception as error:  # noqa: BLE001 - told, and the take is cut to what is whole
        if alive:
            failed(error)
