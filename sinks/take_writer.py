"""The writer of a take: rows come in on the tick thread, everything goes to the staging folder."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from episodes.declaration import Declaration
from episodes.errors import ContractError, EpisodeError
from episodes.staging import MANIFEST, ClockPair, read_manifest
from episodes.streams import MatrixStream, VideoStream
from operators.cells import Tick
from operators.oldest_frame import TickFrame
from operators.rows import Row
from sinks.background_sync import BackgroundSync
from sinks.durable import DISK
from sinks.encoders import EncoderPlan, staged_video
from sinks.heavy_chunks import HEAVY_FILE, HeavyChunks
from sinks.journal import JOURNAL_FILE, JournalFile
from sinks.journal_columns import frame_stamps
from sinks.row_thread import RowThread
from sinks.video_settings import check_size
from sinks.video_writer import VideoResult, VideoWriter

__all__ = ["SlotLive", "TakeWriter"]

FLUSH_S = 0.5
GROUP_S = 0.8
"""What a kill may cost is a second: queue, encoder and fragment of a video; queue and row group of the matrices. Their
queue is all but empty in a take that goes well; where it fills, groups end sooner."""
JOURNAL_BOUND_S = 10.0
"""Light rows are small: a disk that stalls for seconds need not end a take."""


@dataclass(frozen=True, slots=True)
class SlotLive:
    """How a slot's encoder fares.

    Attributes:
        load: share of the time since the last look that it was busy, 0 to 1. waiting: frames in its queue.
        bound: frames that may wait.
    """

    load: float
    waiting: int
    bound: int


class TakeWriter:
    """Writes the rows of one take into its staging folder (`sinks.reservation.reserve`).

    Args:
        staging: the folder. declaration: as reserved. plan: encoders of every video slot.
        clock: the take's start on both clocks. frame_sizes: slot to (height, width).
        blocking: wait for room instead of giving False; for input from memory, never for a live take.
        counters: the running counters, as keys of ``drop_stats``; called twice a second, on a thread of the writer.
        on_failure: told once, on a thread of the writer, in words, that the take has to end.

    Raises:
        EpisodeError: the folder is not a reserved one. ContractError: an encoder cannot store a slot's pictures.
    """

    def __init__(
        self,
        staging: Path,
        declaration: Declaration,
        plan: EncoderPlan,
        clock: ClockPair,
        *,
        frame_sizes: Mapping[str, tuple[int, int]],
        blocking: bool = False,
        counters: Callable[[], Mapping[str, int]] = dict,
        on_failure: Callable[[str], None] = lambda _message: None,
    ) -> None:
        self._staging = staging
        self._blocking = blocking
        self._on_failure = on_failure
        self._failure_lock = threading.Lock()
        self._failed = self._closed = False
        self._last_row = -1
        self._results: dict[str, VideoResult] = {}
        self._claim(declaration, plan, clock, frame_sizes)
        streams = declaration.streams
        half = max(4, round(FLUSH_S * declaration.fps))
        group = max(4, round(GROUP_S * declaration.fps))
        self._bound = half
        self._spare = max(0, round(declaration.fps) - group - 2)
        videos = [(index, stream.slot) for index, stream in enumerate(streams) if isinstance(stream, VideoStream)]
        matrices = [(index, stream) for index, stream in enumerate(streams) if isinstance(stream, MatrixStream)]
        self._matrix_places = [index for index, _stream in matrices]
        self._matrix_names = [stream.column for _index, stream in matrices]
        self._journal_file = JournalFile(staging, declaration, clock.mono_ns, counters)
        self._heavy_file = HeavyChunks(staging, [stream for _i, stream in matrices], group) if matrices else None
        self._videos: list[tuple[int, VideoWriter]] = []
        for index, slot in videos:
            height, width = frame_sizes[slot]
            settings = plan.of(slot)
            writer = VideoWriter(
                staged_video(staging, slot, settings),
                slot,
                settings,
                declaration.fps,
                height,
                width,
                queue_bound=half,
                blocking=blocking,
                on_error=self._video_failed,
            )
            self._videos.append((index, writer))
        self._journal: RowThread[tuple[Tick, Sequence[Any]]] = RowThread(
            "journal",
            self._journal_file.append,
            bound=max(half, round(JOURNAL_BOUND_S * declaration.fps)),
            interval_s=FLUSH_S,
            on_error=lambda error: self._fail(f"the journal cannot be written: {error}"),
        )
        self._heavy: RowThread[list[NDArray[np.float32] | None]] | None = None
        if self._heavy_file is not None:
            self._heavy = RowThread(
                "matrices",
                self._write_matrices,
                bound=half,
                interval_s=0.0,
                on_error=lambda error: self._fail(f"the force matrices cannot be written: {error}"),
            )
        self._sync = BackgroundSync(
            [writer.path for _index, writer in self._videos] + [staging / JOURNAL_FILE, staging / HEAVY_FILE]
        )

    @property
    def last_row(self) -> int:
        """Index of the newest row that was taken; -1 before the first."""
        return self._last_row

    def write(self, row: Row) -> bool:
        """Take a row, on the tick thread; its values are those of ``declaration.streams``, in order.

        Never blocks unless ``blocking``. False: a queue is full or a file has failed; nothing of the row was taken, and
        the take has to end.

        Raises:
            ContractError: a video slot without a frame, or with one of another size; nothing of the row was taken.
        """
        if not self._has_room():
            return False
        kept = list(row.values)
        frames = []
        for index, writer in self._videos:
            shown = kept[index]
            if not isinstance(shown, TickFrame):
                raise ContractError(f"{writer.slot}: row {row.tick.index} has no frame; every row needs one")
            writer.check(shown.frame)
            frames.append((writer, shown.frame))
            kept[index] = frame_stamps(shown)
        matrices: list[NDArray[np.float32] | None] = []
        for index in self._matrix_places:
            sample: Any = kept[index]
            matrices.append(None if sample is None else sample.value)
            kept[index] = None if sample is None else sample.host_ns
        for writer, frame in frames:
            if not writer.write(frame):
                # It failed just now. The others have one frame more; the commit cuts them to what is whole.
                return False
        if self._heavy is not None:
            self._heavy.put(matrices)
        self._journal.put((row.tick, kept))
        self._last_row = row.tick.index
        return True

    def live(self) -> dict[str, SlotLive]:
        """Every slot's encoder, now."""
        return {writer.slot: SlotLive(writer.load(), writer.waiting, self._bound) for _index, writer in self._videos}

    def close(self) -> None:
        """Work off what waits, and finish all files; then `sinks.commit.commit_staging` can have them. Idempotent."""
        if self._closed:
            return
        self._closed = True
        self._sync.close()
        self._end_threads()
        for _index, writer in self._videos:
            self._results[writer.slot] = writer.close()
        manifest = read_manifest(self._staging)
        if manifest is not None:
            closed = {slot: result.frames for slot, result in self._results.items() if result.error is None}
            text = msgspec.structs.replace(manifest, closed=closed).to_json()
            DISK.replace(self._staging / MANIFEST, text)

    def abort(self) -> None:
        """End at once; the files are of no use. Idempotent."""
        if self._closed:
            return
        self._closed = True
        self._sync.close()
        for _index, writer in self._videos:
            writer.abort()
        self._end_threads()

    def _claim(
        self, declaration: Declaration, plan: EncoderPlan, clock: ClockPair, sizes: Mapping[str, tuple[int, int]]
    ) -> None:
        """Write into the manifest all that a rebuild needs."""
        manifest = read_manifest(self._staging)
        if manifest is None or manifest.state != "recording" or manifest.clock is not None:
            raise EpisodeError(f"{self._staging} is not reserved for a new take; reserve a number first")
        slots = [video.slot for video in declaration.videos]
        missing = [slot for slot in slots if slot not in sizes]
        if missing:
            raise ContractError(f"the picture size of {', '.join(missing)} is not known")
        for slot in slots:
            check_size(slot, plan.of(slot), *sizes[slot])
        claimed = msgspec.structs.replace(
            manifest,
            declaration=declaration,
            clock=clock,
            sizes={slot: sizes[slot] for slot in slots},
            extensions={slot: plan.of(slot).extension for slot in slots},
            video_codec=plan.as_json() if slots else {},
        )
        DISK.make_folder(self._staging / "videos")
        DISK.replace(self._staging / MANIFEST, claimed.to_json())

    def _has_room(self) -> bool:
        if self._failed or self._closed:
            return False
        if self._blocking:
            return self._journal.wait_for_room() and (self._heavy is None or self._heavy.wait_for_room())
        return (
            self._journal.has_room()
            and (self._heavy is None or self._heavy.has_room())
            and all(writer.has_room() for _index, writer in self._videos)
        )

    def _write_matrices(self, rows: list[list[NDArray[np.float32] | None]]) -> None:
        assert self._heavy_file is not None
        assert self._heavy is not None
        for matrices in rows:
            named = dict(zip(self._matrix_names, matrices, strict=True))
            self._heavy_file.append(named, hurry=max(0, self._heavy.waiting - self._spare))

    def _end_threads(self) -> None:
        if self._heavy is not None and self._heavy_file is not None:
            self._heavy.close()
            self._end_file(self._heavy_file.close, "the force matrices")
        self._journal.close()
        self._end_file(self._journal_file.note_counters, "the journal")
        self._end_file(self._journal_file.close, "the journal")

    def _end_file(self, end: Callable[[], None], what: str) -> None:
        try:
            end()
        except (OSError, ValueError) as error:
            self._fail(f"{what} cannot be written: {error}")

    def _video_failed(self, slot: str, error: Exception) -> None:
        self._fail(f"{slot}: its encoder has failed: {error}")

    def _fail(self, message: str) -> None:
        with self._failure_lock:
            if self._failed:
                return
            self._failed = True
        self._on_failure(message)
