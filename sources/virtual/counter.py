"""A frame counter and a clock in the pixels, in blocks that survive a lossy codec."""

from __future__ import annotations

import binascii
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["STRIP_HEIGHT", "PictureStamp", "draw_depth_stamp", "draw_stamp", "read_counter", "read_stamp"]

COLUMNS, ROWS = 32, 2
BLOCK_HEIGHT = 16
"""A macroblock of H.264: two rows of blocks, each as flat as the codec can have it."""
STRIP_HEIGHT = ROWS * BLOCK_HEIGHT
COUNTER_BITS, CLOCK_BITS, CHECK_BITS = 24, 32, 8

NEAR_MM, FAR_MM = 400, 1600
"""Depth of a 0 and a 1: far apart in log codes too."""


@dataclass(frozen=True, slots=True)
class PictureStamp:
    """What stands in a picture's strip.

    Attributes:
        counter: the device's frame number, modulo 2^24.
        clock_ms: host monotonic time of the capture, ms, modulo 2^32.
    """

    counter: int
    clock_ms: int


def draw_stamp(image: NDArray[np.uint8], counter: int, clock_ns: int) -> None:
    """Draw the strip into the top 32 rows of an image, in place: black 0, white 1.

    ``image`` is C-contiguous [height ≥ 32, width a multiple of 32, …] uint8.
    """
    _draw(image, _bits(counter, clock_ns).astype(np.uint8) * np.uint8(255))


def draw_depth_stamp(depth: NDArray[np.uint16], counter: int, clock_ns: int) -> None:
    """Draw the strip into a depth picture, mm: 400 for 0, 1600 for 1."""
    _draw(depth, np.where(_bits(counter, clock_ns), FAR_MM, NEAR_MM).astype(np.uint16))


def read_stamp(image: NDArray[Any]) -> PictureStamp | None:
    """Read the strip of a picture.

    ``image`` is colour, [height, width, 3] or [height, width] uint8 (yuv420p planes too), or depth, uint16 mm.

    Only the middle of each block is looked at. None where the check does not hold: no strip, or damaged beyond doubt.
    """
    width = image.shape[1]
    if width % COLUMNS or image.shape[0] < STRIP_HEIGHT:
        return None
    step = width // COLUMNS
    strip = image[:STRIP_HEIGHT].reshape(ROWS, BLOCK_HEIGHT, COLUMNS, step, -1).astype(np.float64)
    edge = max(1, step // 4)
    middle = strip[:, 4:-4, :, edge:-edge] if step > 2 else strip[:, 4:-4]
    levels = middle.mean(axis=(1, 3, 4)).ravel()
    border = (NEAR_MM + FAR_MM) / 2 if image.dtype == np.uint16 else 127.5
    value = int.from_bytes(np.packbits(levels > border).tobytes())
    body, check = value >> CHECK_BITS, value & 0xFF
    if _check(body) != check:
        return None
    return PictureStamp(body >> CLOCK_BITS, body & (2**CLOCK_BITS - 1))


def read_counter(image: NDArray[Any]) -> int | None:
    """The frame counter in a picture, or None; see `read_stamp`."""
    stamp = read_stamp(image)
    return None if stamp is None else stamp.counter


def _bits(counter: int, clock_ns: int) -> NDArray[np.bool_]:
    body = (counter % 2**COUNTER_BITS) << CLOCK_BITS | (clock_ns // 1_000_000) % 2**CLOCK_BITS
    value = body << CHECK_BITS | _check(body)
    return np.unpackbits(np.frombuffer(value.to_bytes(8), np.uint8)).astype(np.bool_)


def _check(body: int) -> int:
    # A seed, so that neither an all-black nor an all-white strip holds.
    return binascii.crc32(body.to_bytes(7), 0x5EED) & 0xFF


def _draw(image: NDArray[Any], values: NDArray[Any]) -> None:
    width = image.shape[1]
    strip = image[:STRIP_HEIGHT].reshape(ROWS, BLOCK_HEIGHT, COLUMNS, width // COLUMNS, -1)
    strip[...] = values.reshape(ROWS, 1, COLUMNS, 1, 1)
