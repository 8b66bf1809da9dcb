"""Opening a stored video: which stream, which frames at which times, without decoding."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Literal

import av
import av.container
import av.error
import av.logging
import av.video
import numpy as np
from numpy.typing import NDArray

from episodes.errors import CorruptFileError

__all__ = [
    "STRICT",
    "FrameIndex",
    "VideoInfo",
    "Wanted",
    "open_video",
    "picture_stream",
    "probe",
    "quick_index",
    "scan_index",
]

# FFmpeg's log callback takes the GIL from every codec thread.
av.logging.set_level(None)

Wanted = Literal["rgb", "depth"]

# A damaged slice is an error. By default a decoder paints something plausible over it and says nothing.
STRICT = {"err_detect": "crccheck+explode"}

MAX_FRAMES = 10_000_000
MAX_PIXELS = 100_000_000
_DEPTH_FORMATS = ("gray12le", "gray16le")
# FFmpeg judges a file by its bytes: a playlist called .mp4 would send it to other files, and to the net.
_OPEN_OPTIONS = {
    "format_whitelist": "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm",
    "protocol_whitelist": "file",
}


@dataclass(frozen=True, slots=True)
class VideoInfo:
    """What a file says of itself, from its packets.

    Attributes:
        codec, pix_fmt: FFmpeg's names. width, height: pixels. frames: packets that carry a picture.
        pts: [frames] int64 presentation times in units of ``time_base``, which is in seconds.
        times_s: [frames] the same in seconds. keys: [frames] whether a key frame.
    """

    codec: str
    pix_fmt: str
    width: int
    height: int
    frames: int
    pts: NDArray[np.int64]
    time_base: Fraction
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

    def first_off_grid(self, fps: float | Fraction) -> int | None:
        """The first frame i that does not stand at i / fps, to half a unit of the file's own clock; None: all do.

        In MP4 the unit divides the frame's period, so half of it means exactly; in Matroska it is a millisecond.
        """
        rate = Fraction(fps).limit_denominator(100_000)
        period = 1 / rate / self.time_base  # units a frame
        place = np.arange(self.frames, dtype=np.int64)
        # |pts - i * p / q| <= 1/2, in integers: no float of i / fps is exact.
        off = np.abs(2 * (self.pts * period.denominator - place * period.numerator)) > period.denominator
        if period.denominator == 1:
            off = self.pts != place * period.numerator
        found = np.flatnonzero(off)
        return int(found[0]) if len(found) else None


@dataclass(frozen=True, slots=True)
class FrameIndex:
    """The frames in order of presentation.

    Attributes:
        pts: presentation stamps, ascending. keys: places of the key frames, ascending.
        places: stamp to place.
    """

    pts: list[int]
    keys: list[int]
    places: dict[int, int]

    @classmethod
    def of(cls, packets: list[tuple[int, bool]]) -> FrameIndex:
        """From presentation stamp and key flag of every packet, in any order."""
        entries = sorted(packets)
        return cls(
            pts=[pts for pts, _key in entries],
            keys=[i for i, (_pts, key) in enumerate(entries) if key],
            places={pts: i for i, (pts, _key) in enumerate(entries)},
        )


def probe(path: Path, kind: Wanted = "rgb") -> VideoInfo:
    """Look a file over, every packet of it, without decoding it.

    Raises:
        CorruptFileError: it cannot be opened, has no picture stream of that kind, or breaks off inside.
    """
    with open_video(path) as container:
        stream = picture_stream(path, container, kind)
        context = stream.codec_context
        found = scan_index(path, container, stream)
        pts = np.array(found.pts, np.int64)
        keys = np.zeros(len(pts), np.bool_)
        keys[found.keys] = True
        unit = stream.time_base or Fraction(1, 1000)
        return VideoInfo(
            codec=context.name,
            pix_fmt=context.pix_fmt or "",
            width=context.width,
            height=context.height,
            frames=len(pts),
            pts=pts,
            time_base=unit,
            times_s=pts.astype(np.float64) * float(unit),
            keys=keys,
        )


def open_video(path: Path) -> av.container.InputContainer:
    """Open an MP4 or Matroska file, and nothing that only claims to be one.

    Raises:
        CorruptFileError: it is not there, or neither.
    """
    try:
        return av.open(f"file:{path}", metadata_errors="replace", options=dict(_OPEN_OPTIONS))
    except FileNotFoundError as error:
        raise CorruptFileError(path, "is not there") from error
    except (av.error.FFmpegError, OSError, ValueError) as error:
        raise CorruptFileError(path, f"is no readable video: {error}") from error


def picture_stream(path: Path, container: av.container.InputContainer, kind: Wanted) -> av.video.VideoStream:
    """The stream that holds the pictures; of a depth file the one that holds depth.

    Raises:
        CorruptFileError: there is none, or its pictures are of an impossible size.
    """
    # A stream of a codec that FFmpeg does not know has no context at all.
    streams = [s for s in container.streams.video if getattr(s, "codec_context", None) is not None]
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


def quick_index(container: av.container.InputContainer, stream: av.video.VideoStream) -> FrameIndex | None:
    """The index that a finished MP4 file carries itself; None where only reading all packets tells.

    The file's own index has decoding times, which are presentation times only where no frame is reordered.
    """
    if "mp4" not in container.format.name or stream.codec_context.has_b_frames:
        return None
    if not 0 < stream.frames <= MAX_FRAMES or len(stream.index_entries) != stream.frames:
        return None
    entries = [(entry.timestamp, entry.is_keyframe) for entry in stream.index_entries]
    if any(entry.is_discard for entry in stream.index_entries) or not entries[0][1]:
        return None
    index = FrameIndex.of(entries)
    return index if len(index.places) == len(entries) else None


def scan_index(path: Path, container: av.container.InputContainer, stream: av.video.VideoStream) -> FrameIndex:
    """The index from all packets, which are read and not decoded; the container is at its start again afterwards.

    Raises:
        CorruptFileError: it breaks off, two frames have one time, or there are absurdly many.
    """
    found: list[tuple[int, bool]] = []
    try:
        container.seek(0)
        for packet in container.demux(stream):
            if packet.size == 0:
                continue
            if packet.pts is None or packet.is_corrupt:
                raise CorruptFileError(path, f"breaks off after {len(found)} frames")
            found.append((packet.pts, packet.is_keyframe))
            if len(found) > MAX_FRAMES:
                raise CorruptFileError(path, f"has over {MAX_FRAMES} frames")
        if found:
            container.seek(found[0][0], stream=stream, backward=True)
    except (av.error.FFmpegError, OSError, ValueError) as error:
        raise CorruptFileError(path, f"breaks off after {len(found)} frames: {error}") from error
    index = FrameIndex.of(found)
    if len(index.places) != len(found):
        raise CorruptFileError(path, "has two frames at one time")
    return index
