"""One slot's video: a thread, a bounded queue, an encoder, a file that survives a kill."""

from __future__ import annotations

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

from operators.events import Frame
from sinks.encoders import VideoSettings
from sinks.pictures import av_frame

__all__ = ["VideoResult", "VideoWriter"]

av.logging.set_level(None)

CLOSE_S = 30.0
"""How long a close waits for the encoder to work its queue off; a file is never cut off for being late."""


@dataclass(frozen=True, slots=True)
class VideoResult:
    """How a file ended: frames that went into it, and what went wrong."""

    frames: int
    error: str | None


class VideoWriter:
    """Encodes one slot on its own thread.

    ``write`` hands a frame over; it never blocks unless ``blocking``, and gives False when the queue is full or the
    encoder has failed. Frame i gets the presentation time i / fps exactly. A failure is told once to ``on_error``, on
    the writer's thread.

    Args:
        path: the file; its folder exists. settings: of the encoder. fps: rows a second.
        height, width: of every frame, pixels. queue_bound: frames that may wait.
        blocking: wait for a place instead of giving False; for input from memory, never for a live take.
    """

    def __init__(
        self,
        path: Path,
        slot: str,
        settings: VideoSettings,
        fps: float,
        height: int,
        width: int,
        *,
        queue_bound: int,
        blocking: bool = False,
        on_error: Callable[[str, Exception], None] | None = None,
    ) -> None:
        self.path = path
        self.slot = slot
        self._settings = settings
        self._rate = Fraction(fps).limit_denominator(100_000)
        self._height, self._width = height, width
        self._bound = queue_bound
        self._blocking = blocking
        self._on_error = on_error
        self._queue: deque[Frame] = deque()
        self._wake = threading.Condition()
        self._closing = False
        self._aborting = False
        self._busy_ns = 0
        self._load_mark = (time.monotonic_ns(), 0)
        self.frames_written = 0
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

    def write(self, frame: Frame) -> bool:
        with self._wake:
            while self._blocking and len(self._queue) >= self._bound and self.error is None:
                self._wake.wait(1.0)
            if self.error is not None or len(self._queue) >= self._bound:
                return False
            self._queue.append(frame)
            self._wake.notify_all()
        return True

    def close(self) -> VideoResult:
        """Work the queue off, finish the file, and say how it ended."""
        with self._wake:
            self._closing = True
            self._wake.notify_all()
        self._thread.join(CLOSE_S)
        if self._thread.is_alive():
            return VideoResult(self.frames_written, f"the encoder did not finish within {CLOSE_S:.0f} s")
        return VideoResult(self.frames_written, None if self.error is None else str(self.error))

    def abort(self) -> None:
        """End without finishing; the file is of no use."""
        with self._wake:
            self._aborting = self._closing = True
            self._queue.clear()
            self._wake.notify_all()
        self._thread.join(CLOSE_S)

    def _next(self) -> Frame | None:
        with self._wake:
            while not self._queue and not self._closing:
                self._wake.wait()
            if not self._queue or self._aborting:
                return None
            frame = self._queue.popleft()
            if self._blocking:
                self._wake.notify_all()
            return frame

    def _run(self) -> None:
        try:
            container = av.open(str(self.path), "w", options=dict(self._settings.container))
            try:
                stream = self._add_stream(container)
                while (frame := self._next()) is not None:
                    start = time.monotonic_ns()
                    picture = av_frame(frame.image, frame.pix_fmt, self._settings.pix_fmt)
                    picture.pts, picture.time_base = self.frames_written, 1 / self._rate
                    container.mux(stream.encode(picture))
                    self.frames_written += 1
                    self._busy_ns += time.monotonic_ns() - start
                if not self._aborting:
                    container.mux(stream.encode(None))
            finally:
                container.close()
        except Exception as error:  # noqa: BLE001 - whatever the codec raises ends this slot, and is told
            with self._wake:
                self.error = error
                self._queue.clear()
                self._wake.notify_all()
            if self._on_error is not None:
                self._on_error(self.slot, error)

    def _add_stream(self, container: av.container.OutputContainer) -> av.video.VideoStream:
        settings = self._settings
        stream = container.add_stream(settings.encoder, rate=self._rate, options=dict(settings.options))
        if not isinstance(stream, av.video.VideoStream):
            raise TypeError(f"{settings.encoder} is no video encoder")
        context = stream.codec_context
        stream.width, stream.height, stream.pix_fmt = self._width, self._height, settings.pix_fmt
        context.thread_count = 1
        context.time_base = 1 / self._rate
        if settings.tag:
            context.codec_tag = settings.tag
        return stream
