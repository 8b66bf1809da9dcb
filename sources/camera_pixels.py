"""From a decoded picture to the pixels of a `Frame`, with as little conversion as can be."""

from __future__ import annotations

from typing import Any

import av
import numpy as np
from av.video.reformatter import ColorRange
from numpy.typing import NDArray

__all__ = ["pixels_of"]

# A frame carries no colour matrix and no range: yuv420p planes mean BT.601 in the limited range, as encoders and
# readers take them where nothing is said.
_BT601 = (2, 5, 6)
"""What FFmpeg numbers unspecified, BT.470BG and SMPTE 170M."""
_FULL_RANGE = ("yuvj420p", "yuvj422p", "yuvj444p")
_YUV = ("yuv420p", "yuv422p", "yuyv422", "uyvy422", "nv12", "nv21", *_FULL_RANGE)


def pixels_of(picture: av.VideoFrame) -> tuple[NDArray[Any], str]:
    """The pixels, C-contiguous, and their layout.

    ``yuv420p`` in the limited range and BT.601: the planes as they are. Other YUV of BT.601 (the full range of MJPEG,
    the 4:2:2 of webcams): yuv420p, without the way through RGB, since every colour encoder stores 4:2:0. ``rgb24`` and
    ``bgr24``: as they are. The rest, and sizes that 4:2:0 cannot hold: rgb24.
    """
    name = picture.format.name
    if name in ("rgb24", "bgr24"):
        return np.ascontiguousarray(picture.to_ndarray()), name
    full = name in _FULL_RANGE or picture.color_range == ColorRange.JPEG
    if name in _YUV and int(picture.colorspace) in _BT601 and picture.width % 2 == 0 and picture.height % 2 == 0:
        if name != "yuv420p" or full:
            picture = picture.reformat(
                format="yuv420p",
                src_color_range=ColorRange.JPEG if full else ColorRange.MPEG,
                dst_color_range=ColorRange.MPEG,
                threads=1,
            )
        return np.ascontiguousarray(picture.to_ndarray()), "yuv420p"
    rgb = picture.reformat(
        format="rgb24",
        src_color_range=ColorRange.JPEG if full else ColorRange.MPEG,
        dst_color_range=ColorRange.JPEG,
        threads=1,
    )
    return np.ascontiguousarray(rgb.to_ndarray()), "rgb24"
