"""Pictures that carry a number in their pixels, so that a stored one tells which it is."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from operators.events import Frame

__all__ = ["BITS", "colour_frame", "depth_frame", "depth_of", "picture_of", "read_number"]

BITS = 12
_BLOCK = 8


def _pattern(number: int, height: int, width: int) -> NDArray[np.bool_]:
    """[height, width]: one block a bit along the top, the rest empty."""
    pattern = np.zeros((height, width), np.bool_)
    for bit in range(BITS):
        if number >> bit & 1:
            pattern[:_BLOCK, bit * _BLOCK : (bit + 1) * _BLOCK] = True
    return pattern


def picture_of(number: int, height: int = 64, width: int = 96) -> NDArray[np.uint8]:
    """[height, width, 3] uint8 rgb: a texture that moves, and the number along the top."""
    y, x = np.mgrid[0:height, 0:width]
    texture = np.stack([(x * 3 + number * 5) % 200, (y * 4 + number * 3) % 200, (x + y + number * 7) % 200], axis=-1)
    picture = (20 + texture).astype(np.uint8)
    picture[:_BLOCK] = 0
    picture[_pattern(number, height, width)] = 255
    return picture


def depth_of(number: int, height: int = 64, width: int = 96) -> NDArray[np.uint16]:
    """[height, width] uint16 mm: a plane with noise, holes and things beyond 5 m, and the number along the top."""
    generator = np.random.default_rng(number)
    y, x = np.mgrid[0:height, 0:width]
    plane = 400 + 11 * x + 17 * y + 3 * number + generator.integers(0, 4, (height, width))
    depth: NDArray[np.uint16] = plane.astype(np.uint16)
    depth[-8:, :16] = 0
    depth[-8:, 16:32] = 9000
    depth[:_BLOCK] = 0
    depth[_pattern(number, height, width)] = 2000
    return depth


def colour_frame(number: int, height: int = 64, width: int = 96) -> Frame:
    """The numbered picture as a frame."""
    return Frame(picture_of(number, height, width), "rgb24", number)


def depth_frame(number: int, height: int = 64, width: int = 96) -> Frame:
    """The numbered depth as a frame."""
    return Frame(depth_of(number, height, width), "gray16le", number)


def read_number(image: NDArray[Any]) -> int:
    """The number in a stored picture, colour or depth."""
    grey = image.astype(np.float64) if image.ndim == 2 else image.mean(axis=2)
    lit = 1000 if image.ndim == 2 else 128
    blocks = [grey[2 : _BLOCK - 2, bit * _BLOCK + 2 : (bit + 1) * _BLOCK - 2].mean() for bit in range(BITS)]
    return sum(1 << bit for bit, level in enumerate(blocks) if level > lit)
