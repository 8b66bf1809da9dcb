"""From the pixels of a source to what an encoder takes."""

from __future__ import annotations

from typing import Any

import av
import numpy as np
from numpy.typing import NDArray

from episodes.depth_codec import mm_to_codes
from episodes.errors import ContractError

__all__ = ["PIX_FMTS", "av_frame", "picture_size"]

PIX_FMTS = ("rgb24", "bgr24", "gray", "yuv420p", "yuvj420p", "gray16le")


def av_frame(image: NDArray[Any], pix_fmt: str, stored: str) -> av.VideoFrame:
    """A frame around the pixels, without a copy; depth becomes log codes where ``stored`` is gray12le.

    The pixels must stay as they are until the frame is encoded.
    """
    if pix_fmt == "gray16le":
        if stored == "gray12le":
            return av.VideoFrame.from_numpy_buffer(mm_to_codes(image), format="gray12le")
        return av.VideoFrame.from_numpy_buffer(np.ascontiguousarray(image), format="gray16le")
    return av.VideoFrame.from_numpy_buffer(np.ascontiguousarray(image), format=pix_fmt)


def picture_size(image: NDArray[Any], pix_fmt: str) -> tuple[int, int]:
    """Height and width of a picture.

    Raises:
        ContractError: the array does not fit the format.
    """
    depth = image.dtype == np.uint16 if pix_fmt == "gray16le" else image.dtype == np.uint8
    dimensions = 3 if pix_fmt in ("rgb24", "bgr24") else 2
    if pix_fmt not in PIX_FMTS or not depth or image.ndim != dimensions or 0 in image.shape:
        raise ContractError(f"a picture of format {pix_fmt!r}, {image.dtype}{list(image.shape)} cannot be recorded")
    height, width = int(image.shape[0]), int(image.shape[1])
    if pix_fmt in ("yuv420p", "yuvj420p"):
        height = height * 2 // 3
    return height, width
