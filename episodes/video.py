"""Reading stored video: frame-accurate random access and fast sequential access."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

import av
import av.error
import numpy as np
from numpy.typing import NDArray

from episodes.depth_codec import codes_to_mm, mm_to_codes
from episodes.errors import CorruptFileError
from episodes.ffv1_slices import slices_are_whole
from episodes.video_file import (
    STRICT,
    FrameIndex,
    VideoInfo,
    Wanted,
    open_video,
    picture_stream,
    probe,
    quick_index,
    scan_index,
)

__all__ = ["VideoInfo", "VideoReader", "probe"]


class VideoReader:
    """The frames of one stored slot.

    ``reader[i]`` is frame i, which is row i; iteration is sequential. Colour frames are [height, width, 3] uint8 rgb,
    depth frames [height, width] uint16 mm, 0 = invalid, whichever codec holds them. Not for several threads at once.

    Raises:
        CorruptFileError: damaged, or a depth slot's file without depth. IndexError: no such frame.
    """

    def __init__(self, path: Path, *, kind: Wanted = "rgb") -> None:
        self.path = path
        self._kind = kind
        self._container = open_video(path)
        try:
            self._stream = picture_stream(path, self._container, kind)
            quick = quick_index(self._container, self._stream)
            self._index: FrameIndex = quick or scan_index(path, self._container, self._stream)
        except BaseException:
            self._container.close()
            raise
        self._scanned = quick is None
        context = self._stream.codec_context
        self._size = (context.height, context.width)
        context.thread_count = 1  # frame threads would hold back as many frames at every seek
        context.options = dict(STRICT)
        self._decoder: Iterator[av.VideoFrame] | None = None
        self._next = 0

    def __len__(self) -> int:
        return len(self._index.pts)

    def __enter__(self) -> VideoReader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give the file back."""
        self._decoder = None
        self._container.close()

    @property
    def shape(self) -> tuple[int, ...]:
        """Of one frame."""
        return self._size if self._kind == "depth" else (*self._size, 3)

    def __getitem__(self, i: int) -> NDArray[Any]:
        return self._pixels(self._frame(self._checked(i)))

    def __iter__(self) -> Iterator[NDArray[Any]]:
        return self.frames()

    def frames(self, start: int = 0, stop: int | None = None) -> Iterator[NDArray[Any]]:
        """Frames start to stop, in order, each decoded once."""
        stop = len(self) if stop is None else min(stop, len(self))
        for i in range(max(0, start), stop):
            yield self._pixels(self._frame(i))

    def codes(self, i: int) -> NDArray[np.uint16]:
        """The log codes of depth frame i, [height, width] uint16; of an FFV1 file, what they would be.

        Raises:
            ValueError: this is a colour slot.
        """
        if self._kind != "depth":
            raise ValueError(f"{self.path}: only depth has log codes; open it with kind='depth'")
        frame = self._frame(self._checked(i))
        stored = _words(frame)
        return stored if frame.format.name == "gray12le" else mm_to_codes(stored)

    def _checked(self, i: int) -> int:
        found = i + len(self) if i < 0 else i
        if not 0 <= found < len(self):
            raise IndexError(f"{self.path}: no frame {i}, it has {len(self)}")
        return found

    def _frame(self, i: int) -> av.VideoFrame:
        try:
            frame = self._onwards(i)
            if frame is None and not self._scanned:
                # The index that the file carries does not agree with its packets: count them.
                counted = scan_index(self.path, self._container, self._stream)
                if len(counted.pts) != len(self):
                    raise CorruptFileError(self.path, f"declares {len(self)} frames and holds {len(counted.pts)}")
                self._index, self._scanned = counted, True
                frame = self._onwards(i)
            if frame is None:
                # With reordered frames a seek may land one key frame late.
                frame = self._onwards(i, earlier=1)
        except (av.error.FFmpegError, OSError, ValueError) as error:
            self._decoder = None
            raise CorruptFileError(self.path, f"frame {i} cannot be decoded: {error}") from error
        if frame is None or (frame.height, frame.width) != self._size:
            self._decoder = None
            problem = "is declared but does not decode" if frame is None else f"is {frame.width}×{frame.height}"
            raise CorruptFileError(self.path, f"frame {i} {problem}; the video is {self._size[1]}×{self._size[0]}")
        return frame

    def _onwards(self, i: int, earlier: int = 0) -> av.VideoFrame | None:
        """Decode up to frame i, from where the decoder stands if that is nearer than a key frame; None: not met."""
        at = max(0, bisect_right(self._index.keys, i) - 1 - earlier)
        key = self._index.keys[at] if self._index.keys else 0
        if self._decoder is None or earlier or not key <= self._next <= i:
            self._container.seek(self._index.pts[key], stream=self._stream, backward=True)
            self._decoder = self._decoded()
        for frame in self._decoder:
            place = -1 if frame.pts is None else self._index.places.get(frame.pts, -1)
            if place == i and not frame.is_corrupt:
                self._next = i + 1
                return frame
            if place >= i:
                break
        self._decoder = None
        return None

    def _decoded(self) -> Iterator[av.VideoFrame]:
        ffv1 = self._stream.codec_context.name == "ffv1"
        for packet in self._container.demux(self._stream):
            if packet.is_corrupt or (ffv1 and packet.size and not slices_are_whole(bytes(packet))):
                raise ValueError("its bytes are damaged")
            yield from packet.decode()

    def _pixels(self, frame: av.VideoFrame) -> NDArray[Any]:
        if self._kind == "rgb":
            return frame.to_ndarray(format="rgb24")
        stored = _words(frame)
        return codes_to_mm(stored) if frame.format.name == "gray12le" else stored


def _words(frame: av.VideoFrame) -> NDArray[np.uint16]:
    return np.asarray(frame.to_ndarray(), dtype=np.uint16)
