"""Reading stored video: frame-accurate random access, fast sequential access, and a probe without decoding."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

import av
import av.container
import av.error
import av.logging
import av.video
import numpy as np
from numpy.typing import NDArray

from episodes.depth_codec import codes_to_mm, mm_to_codes
from episodes.errors import CorruptFileError

__all__ = ["VideoInfo", "VideoReader", "probe"]

av.logging.set_level(None)

MAX_FRAMES = 10_000_000
MAX_PIXELS = 100_000_000
_DEPTH_FORMATS = ("gray12le", "gray16le")


@dataclass(frozen=True, slots=True)
class VideoInfo:
    """What a file says of itself, from its packets.

    Attributes:
        codec, pix_fmt: FFmpeg's names. width, height: pixels. frames: packets that carry a picture.
        times_s: [frames] presentation times, seconds. keys: [frames] whether a key frame.
    """

    codec: str
    pix_fmt: str
    width: int
    height: int
    frames: int
    times_s: NDArray[np.float64]
    keys: NDArray[np.bool_]

    @property
    def key_distance_max(self) -> int:
        """The greatest number of frames from one key frame to the next, or to the end."""
        at = np.flatnonzero(self.keys)
        if self.frames == 0:
            return 0
        if len(at) == 0:
            return self.frames
        return int(np.diff(np.append(at, self.frames)).max())


def probe(path: Path, kind: Literal["rgb", "depth"] = "rgb") -> VideoInfo:
    """Look a file over without decoding it.

    Raises:
        CorruptFileError: it cannot be opened, has no picture stream of that kind, or breaks off inside.
    """
    with _open(path) as container:
        stream = _stream(path, container, kind)
        times, keys, _ = _index(path, container, stream)
        context = stream.codec_context
        return VideoInfo(
            codec=context.name,
            pix_fmt=context.pix_fmt or "",
            width=context.width,
            height=context.height,
            frames=len(times),
            times_s=np.array(times, np.float64) * float(stream.time_base or 0),
            keys=np.array(keys, np.bool_),
        )


class VideoReader:
    """The frames of one stored slot.

    ``reader[i]`` is frame i, which is row i; iteration is sequential. Colour frames are [height, width, 3] uint8 rgb,
    depth frames [height, width] uint16 mm, 0 = invalid, whichever codec holds them. Not for several threads at once.

    Raises:
        CorruptFileError: damaged, or a depth slot's file without depth. IndexError: no such frame.
    """

    def __init__(self, path: Path, *, kind: Literal["rgb", "depth"] = "rgb") -> None:
        self.path = path
        self._kind = kind
        self._container = _open(path)
        try:
            self._video = _stream(path, self._container, kind)
            times, keys, order = _index(path, self._container, self._video)
        except BaseException:
            self._container.close()
            raise
        self._pts = times
        self._key_at = [i for i, key in enumerate(keys) if key] or [0]
        self._place = order
        self._video.codec_context.thread_count = 1
        self._decoder: Iterator[av.VideoFrame] | None = None
        self._next = 0

    def __len__(self) -> int:
        return len(self._pts)

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
        size = (self._video.codec_context.height, self._video.codec_context.width)
        return size if self._kind == "depth" else (*size, 3)

    def __getitem__(self, i: int) -> NDArray[Any]:
        return self._pixels(self._frame(self._checked(i)))

    def __iter__(self) -> Iterator[NDArray[Any]]:
        return self.frames()

    def frames(self, start: int = 0, stop: int | None = None) -> Iterator[NDArray[Any]]:
        """Frames start to stop, in order, each decoded once."""
        stop = len(self) if stop is None else min(stop, len(self))
        for i in range(start, stop):
            yield self._pixels(self._frame(i))

    def codes(self, i: int) -> NDArray[np.uint16]:
        """The log codes of depth frame i, [height, width] uint16; of an FFV1 file, what they would be."""
        frame = self._frame(self._checked(i))
        stored = _words(frame)
        return stored if frame.format.name == "gray12le" else mm_to_codes(stored)

    def _checked(self, i: int) -> int:
        found = i + len(self) if i < 0 else i
        if not 0 <= found < len(self):
            raise IndexError(f"{self.path}: no frame {i}, it has {len(self)}")
        return found

    def _frame(self, i: int) -> av.VideoFrame:
        key = self._key_at[max(0, bisect_right(self._key_at, i) - 1)]
        try:
            if self._decoder is None or not max(key, self._next) == self._next <= i:
                self._container.seek(self._pts[key], stream=self._video, backward=True)
                self._decoder = self._container.decode(self._video)
                self._next = key
            for frame in self._decoder:
                place = self._place.get(frame.pts if frame.pts is not None else -1)
                if place is None:
                    continue
                self._next = place + 1
                if place == i:
                    return frame
                if place > i:
                    break
        except (av.error.FFmpegError, OSError, ValueError) as error:
            self._decoder = None
            raise CorruptFileError(self.path, f"frame {i} cannot be decoded: {error}") from error
        self._decoder = None
        raise CorruptFileError(self.path, f"frame {i} is declared but does not decode")

    def _pixels(self, frame: av.VideoFrame) -> NDArray[Any]:
        if self._kind == "rgb":
            return frame.to_ndarray(format="rgb24")
        stored = _words(frame)
        return codes_to_mm(stored) if frame.format.name == "gray12le" else stored


def _words(frame: av.VideoFrame) -> NDArray[np.uint16]:
    return np.asarray(frame.to_ndarray(), dtype=np.uint16)


def _open(path: Path) -> av.container.InputContainer:
    try:
        return av.open(str(path), metadata_errors="replace")
    except FileNotFoundError as error:
        raise CorruptFileError(path, "is not there") from error
    except (av.error.FFmpegError, OSError, ValueError) as error:
        raise CorruptFileError(path, f"is no readable video: {error}") from error


def _stream(path: Path, container: av.container.InputContainer, kind: str) -> av.video.VideoStream:
    streams = container.streams.video
    if kind == "depth":
        # A file of the first releases carries a heat map before the depth itself.
        deep = [stream for stream in streams if stream.codec_context.pix_fmt in _DEPTH_FORMATS]
        if not deep:
            raise CorruptFileError(path, "holds no depth, at most a heat map")
        found = deep[0]
    else:
        if not streams:
            raise CorruptFileError(path, "holds no video")
        found = streams[0]
    if not 0 < found.codec_context.width * found.codec_context.height <= MAX_PIXELS:
        raise CorruptFileError(path, f"has {found.codec_context.width}×{found.codec_context.height} pixels")
    return found


def _index(
    path: Path, container: av.container.InputContainer, stream: av.video.VideoStream
) -> tuple[list[int], list[bool], dict[int, int]]:
    """Presentation stamps in order, their key flags, and stamp to place."""
    found: list[tuple[int, bool]] = []
    try:
        for packet in container.demux(stream):
            if packet.pts is None or packet.size == 0:
                continue
            found.append((packet.pts, packet.is_keyframe))
            if len(found) > MAX_FRAMES:
                raise CorruptFileError(path, f"has over {MAX_FRAMES} frames")
        if found:
            container.seek(found[0][0], stream=stream, backward=True)
    except (av.error.FFmpegError, OSError, ValueError) as error:
        raise CorruptFileError(path, f"breaks off after {len(found)} frames: {error}") from error
    found.sort()
    times = [pts for pts, _key in found]
    places = {pts: i for i, pts in enumerate(times)}
    if len(places) != len(times):
        raise CorruptFileError(path, "has two frames at one time")
    return times, [key for _pts, key in found], places
