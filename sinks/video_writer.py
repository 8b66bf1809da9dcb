"""One slot's video: a thread, a bounded queue, an encoder, a file that survives a kill."""

from __future__ import annotations

import errno
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import av
import av.container
import av.logging
import av.video

from episodes.errors import ContractError, EpisodeError
from operators.events import Frame
from sinks.pictures import av_frame, picture_size
from sinks.video_settings import VideoSettings, check_size

__all__ = ["VideoResult", "VideoWriteError", "VideoWriter"]

av.logging.set_level(None)

CLOSE_S = 30.0
"""How long a close waits for the encoder to work its queue off; a file is never cut off for being late."""


class VideoWriteError(EpisodeError):
    """A slot's encoder or file failed. The text names the slot, the file and the cause."""

    def __init__(self, slot: str, path: Path, encoder: str, frame: int, cause: BaseException) -> None:
        what = str(cause) or type(cause).__name__
        if isinstance(cause, OSError) and cause.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            what = f"the disk is full ({what}); free space and record again"
        super().__init__(f"{slot}: {encoder} failed at frame {frame} of {path}: {what}")
        self.slot = slot
        self.path = path


@dataclass(frozen=True, slots=True)
class VideoResult:
    """How a file ended: frames that went into it, and what went wrong."""

    frames: int
    error: str | None


class VideoWriter:
    """Encodes one slot on its own thread.

    ``write`` hands a frame over, whose pixels must then stay as they are. It never blocks unless ``blocking``, and
    gives False when the queue is full or the encoder has failed. Frame i gets the presentation time i / fps exactly. A
    failure is told once to ``on_error``, on the writer's thread.

    Args:
        path: the file; its folder exists. settings: of the encoder. fps: rows a second.
        height, width: of every frame, pixels. queue_bound: frames that may wait.
        blocking: wait for a place instead of giving False; for input from memory, never for a live take.

    Attributes:
        frames_written: frames that the encoder took. packets_written: those that it gave to the file. The difference
            is what it holds back, which a kill would lose.

    Raises:
        ContractError: the encoder cannot store pictures of that size; from `write`: a picture of another size or
        layout, which is not taken and leaves the writer as it was.
    """

    def __init__(
        self,
        path: Path,
        slot: str,
        settings: VideoSettings,
        fps: float | Fraction,
        height: int,
        width: int,
        *,
        queue_bound: int,
        blocking: bool = False,
        on_error: Callable[[str, Exception], None] | None = None,
    ) -> None:
        check_size(slot, settings, height, width)
        self.path = path
        self.slot = slot
        self._settings = settings
        self._rate = Fraction(fps).limit_denominator(100_000)
        self._size = (height, width)
        self._bound = queue_bound
        self._blocking = blocking
        self._on_error = on_error
        self._queue: deque[Frame] = deque()
        self._lock = threading.Lock()
        self._filled = threading.Condition(self._lock)
        self._taken = threading.Condition(self._lock)
        self._closing = False
        self._aborting = False
        self._busy_ns = 0
        self._load_mark = (time.monotonic_ns(), 0)
        self.frames_written = 0
        self.packets_written = 0
        self.error: Exception | None = None
        self._thread = threading.Thread(target=self._run, name=f"video-{slot}", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """Frames in the queue."""
        return len(self._queue)

    @property
    def busy_ns(self) -> int:
        """Time spent encoding so far, ns of wall clock."""
        return self._busy_ns

    def has_room(self) -> bool:
        """Whether `write` would take a frame now."""
        return self.error is None and len(self._queue) < self._bound

    def load(self) -> float:
        """Share of the time since the last call that the encoder was busy, 0 to 1."""
        now, busy = time.monotonic_ns(), self._busy_ns
        then, before = self._load_mark
        self._load_mark = (now, busy)
        return min(1.0, (busy - before) / max(1, now - then))

    def check(self, frame: Frame) -> None:
        """Refuse a picture that is not of this video; `write` does it, too.

        Raises:
            ContractError: another size or layout.
        """
        size = picture_size(frame.image, frame.pix_fmt)
        if size != self._size:
            raise ContractError(
                f"{self.slot}: a picture of {size[1]}×{size[0]} in a video of {self._size[1]}×{self._size[0]}; "
                f"a slot keeps its size for a whole take"
            )
        if (frame.pix_fmt == "gray16le") != self._settings.pix_fmt.startswith("gray"):
            raise ContractError(f"{self.slot}: a picture of {frame.pix_fmt} cannot go into {self._settings.pix_fmt}")

    def write(self, frame: Frame) -> bool:
        self.check(frame)
        with self._lock:
            while self._blocking and len(self._queue) >= self._bound and self.error is None and not self._closing:
                self._taken.wait()
            if self.error is not None or self._closing or len(self._queue) >= self._bound:
                return False
            self._queue.append(frame)
            self._filled.notify()
        return True

    def close(self) -> VideoResult:
        """Work the queue off, finish the file, and say how it ended. A second call says the same again."""
        with self._lock:
            self._closing = True
            self._filled.notify()
            self._taken.notify_all()
        self._thread.join(CLOSE_S)
        if self._thread.is_alive():
            late = f"{self.slot}: {self._settings.encoder} did not finish within {CLOSE_S:.0f} s"
            return VideoResult(self.frames_written, late)
        return VideoResult(self.frames_written, None if self.error is None else str(self.error))

    def abort(self) -> None:
        """End without working the queue off; the file is of no use."""
        with self._lock:
            self._aborting = True
            self._queue.clear()
        self.close()

    def _next(self) -> Frame | None:
        with self._lock:
            while not self._queue and not self._closing:
                self._filled.wait()
            if not self._queue:
                return None
            frame = self._queue.popleft()
            # A writer that waits is woken for half a queue, not for every place: switching threads costs more.
            if len(self._queue) <= self._bound // 2:
                self._taken.notify()
            return frame

    def _run(self) -> None:
        try:
            with av.open(f"file:{self.path}", "w", format=self._format, options=dict(self._settings.container)) as file:
                self._encode_all(file)
            if self.packets_written != self.frames_written and not self._aborting:
                raise RuntimeError(f"{self.packets_written} of {self.frames_written} frames came out of the encoder")
        except Exception as cause:  # noqa: BLE001 - whatever the codec raises ends this slot, and is told
            error = VideoWriteError(self.slot, self.path, self._settings.encoder, self.frames_written, cause)
            error.__cause__ = cause
            with self._lock:
                self.error = error
                self._queue.clear()
                self._taken.notify_all()
            if self._on_error is not None:
                self._on_error(self.slot, error)

    @property
    def _format(self) -> str:
        return "matroska" if self._settings.extension == "mkv" else "mp4"

    def _encode_all(self, file: av.container.OutputContainer) -> None:
        stream = self._add_stream(file)
        period = 1 / self._rate
        while (frame := self._next()) is not None:
            start = time.monotonic_ns()
            picture = av_frame(frame.image, frame.pix_fmt, self._settings.pix_fmt)
            picture.pts, picture.time_base = self.frames_written, period
            self._mux(file, stream.encode(picture))
            self.frames_written += 1
            self._busy_ns += time.monotonic_ns() - start
        if not self._aborting and self.frames_written:
            self._mux(file, stream.encode(None))

    def _mux(self, file: av.container.OutputContainer, packets: list[av.Packet[av.video.VideoStream]]) -> None:
        for packet in packets:
            file.mux_one(packet)
            self.packets_written += 1

    def _add_stream(self, file: av.container.OutputContainer) -> av.video.VideoStream:
        settings = self._settings
        stream = file.add_stream(settings.encoder, rate=self._rate, options=dict(settings.options))
        if not isinstance(stream, av.video.VideoStream):
            raise TypeError(f"{settings.encoder} is no video encoder")
        context = stream.codec_context
        stream.height, stream.width = self._size
        stream.pix_fmt = settings.pix_fmt
        context.thread_count = 1
        context.time_base = 1 / self._rate
        if settings.tag:
            context.codec_tag = settings.tag
        return stream
