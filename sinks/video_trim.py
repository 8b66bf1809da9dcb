"""Cutting a video to its first frames, by copying packets."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import av
import av.error
import av.logging
import av.video

from episodes.errors import CorruptFileError

__all__ = ["readable_frames", "trim_video"]

av.logging.set_level(None)


def readable_frames(path: Path) -> int:
    """How many whole frames a file holds, also when its recorder was killed; 0 for none."""
    found = 0
    try:
        with av.open(str(path), metadata_errors="replace") as container:
            for packet in container.demux(video=0):
                if packet.pts is not None and packet.size and not packet.is_corrupt:
                    found += 1
    except (av.error.FFmpegError, OSError, ValueError, IndexError):
        pass
    return found


def trim_video(source: Path, target: Path, frames: int, fps: float) -> None:
    """Write the first ``frames`` frames of ``source`` to ``target``, an ordinary file; frame i at i / fps exactly.

    Nothing is encoded. There are no B-frames, so packets are in order.

    Raises:
        CorruptFileError: ``source`` has fewer whole frames.
    """
    rate = Fraction(fps).limit_denominator(100_000)
    done = 0
    try:
        with av.open(str(source), metadata_errors="replace") as container, av.open(str(target), "w") as output:
            video = container.streams.video[0]
            copy = output.add_stream_from_template(video, opaque=video.codec_context.name.endswith("av1"))
            if isinstance(copy, av.video.VideoStream):
                copy.time_base = 1 / rate
            for packet in container.demux(video):
                if packet.pts is None or not packet.size or done == frames:
                    continue
                packet.stream = copy
                packet.time_base = 1 / rate
                packet.pts = packet.dts = done
                packet.duration = 1
                output.mux(packet)
                done += 1
                if done == frames:
                    break
    except (av.error.FFmpegError, OSError, ValueError, IndexError) as error:
        if done < frames:
            raise CorruptFileError(source, f"breaks off after {done} of {frames} frames: {error}") from error
    if done < frames:
        raise CorruptFileError(source, f"has {done} frames, not {frames}")
