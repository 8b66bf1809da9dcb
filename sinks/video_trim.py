"""Cutting a video to its first frames, by copying packets."""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import av
import av.error
import av.video

from episodes.errors import CorruptFileError
from episodes.ffv1_slices import slices_are_whole
from episodes.video_file import STRICT, FrameIndex, open_video

__all__ = ["readable_frames", "trim_video"]

TAIL_FRAMES = 60
"""So many frames at the end are decoded, not only counted: what a power cut tears has been written in the last second,
since files are synced every second; twice that at 30 rows a second."""

_DAMAGE = (av.error.FFmpegError, OSError, ValueError, IndexError)


def readable_frames(path: Path, *, closed: bool = False) -> int:
    """How many whole frames a file holds, from its first on, also when its recorder was killed; 0 for none.

    Args:
        closed: its writer has finished it, in this process and without an error: its end need not be decoded.
    """
    try:
        with open_video(path) as container:
            stream = container.streams.video[0]
            found: list[tuple[int, bool]] = []
            with suppress(*_DAMAGE):
                for packet in container.demux(stream):
                    if packet.size == 0:
                        continue
                    if packet.pts is None or packet.is_corrupt:
                        break
                    found.append((packet.pts, packet.is_keyframe))
        if closed or not found:
            return len(found)
        return _decodable(path, FrameIndex.of(found))
    except (*_DAMAGE, CorruptFileError):
        return 0


def trim_video(source: Path, target: Path, frames: int, fps: float | Fraction) -> None:
    """Write the first ``frames`` frames of ``source`` to ``target``, an ordinary file; frame i at i / fps exactly.

    Nothing is encoded, and ``source`` may be what a killed recorder left. There are no B-frames: packets are in order.

    Raises:
        CorruptFileError: ``source`` has fewer whole frames, or is no video; ``target`` is then of no use.
    """
    period = 1 / Fraction(fps).limit_denominator(100_000)
    container_format = "matroska" if target.suffix == ".mkv" else "mp4"
    done = 0
    try:
        with open_video(source) as container, av.open(f"file:{target}", "w", format=container_format) as output:
            video = container.streams.video[0]
            # opaque: only copied; otherwise PyAV looks for an encoder, and AV1 loses its header.
            copy = output.add_stream_from_template(video, opaque=True)
            if source.suffix == target.suffix == ".mp4":
                copy.codec_context.codec_tag = video.codec_context.codec_tag
            copy.time_base = period
            for packet in container.demux(video):
                if done == frames or packet.is_corrupt:
                    break
                if packet.pts is None or packet.size == 0:
                    continue
                packet.stream = copy
                packet.time_base = period
                packet.pts = packet.dts = done
                packet.duration = 1
                output.mux_one(packet)
                done += 1
                if done == frames:
                    break
    except _DAMAGE as error:
        if done < frames:
            raise CorruptFileError(source, f"breaks off after {done} of {frames} frames: {error}") from error
        raise CorruptFileError(target, f"could not be finished: {error}") from error
    if done < frames:
        raise CorruptFileError(source, f"has {done} whole frames, not {frames}")


def _decodable(path: Path, index: FrameIndex) -> int:
    """The number of frames up to the first of the tail that does not decode."""
    frames = len(index.pts)
    start = max((key for key in index.keys if key <= max(0, frames - TAIL_FRAMES)), default=0)
    good = start
    with open_video(path) as container, suppress(*_DAMAGE):
        stream = container.streams.video[0]
        stream.codec_context.thread_count = 1
        stream.codec_context.options = dict(STRICT)
        container.seek(index.pts[start], stream=stream, backward=True)
        packets = (packet for packet in container.demux(stream) if packet.size)
        for _ in range(frames - start):
            packet = next(packets)
            if stream.codec_context.name == "ffv1" and not slices_are_whole(bytes(packet)):
                return good
            for picture in stream.codec_context.decode(packet):
                if picture.pts != index.pts[good] or picture.is_corrupt:
                    return good
                good += 1
                if good == frames:
                    return good
        for picture in stream.codec_context.decode(None):
            if picture.pts != index.pts[good]:
                break
            good += 1
    return good
