"""The depth codec's values: millimetres to 12-bit logarithmic codes and back."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

__all__ = ["CODE_MAX", "MAX_MM", "MIN_MM", "codes_to_mm", "mm_to_codes"]

MIN_MM = 100.0
MAX_MM = 5000.0
CODE_MAX = 4095


@cache
def _encode_table() -> NDArray[np.uint16]:
    mm = np.arange(65536, dtype=np.float64)
    mm[0] = MIN_MM
    scale = CODE_MAX / (np.log(MAX_MM) - np.log(MIN_MM))
    codes: NDArray[np.uint16] = np.clip(np.rint((np.log(mm) - np.log(MIN_MM)) * scale), 0, CODE_MAX).astype(np.uint16)
    codes[0] = 0
    codes.flags.writeable = False
    return codes


@cache
def _decode_table() -> NDArray[np.uint16]:
    codes = np.arange(65536, dtype=np.float64).clip(0, CODE_MAX)
    scale = CODE_MAX / (np.log(MAX_MM) - np.log(MIN_MM))
    mm: NDArray[np.uint16] = np.rint(np.exp(np.log(MIN_MM) + codes / scale)).astype(np.uint16)
    mm[0] = 0
    mm.flags.writeable = False
    return mm


def mm_to_codes(mm: NDArray[np.uint16], out: NDArray[np.uint16] | None = None) -> NDArray[np.uint16]:
    """Depth in mm, uint16 of any shape, to log codes 0 to 4095, uint16.

    0 is invalid and stays 0; 1 to 100 mm become 0 too, and everything beyond 5 m becomes 4095. One code is 0.096 %.
    """
    codes: NDArray[np.uint16] = np.take(_encode_table(), mm, out=out, mode="clip")
    return codes


def codes_to_mm(codes: NDArray[np.uint16]) -> NDArray[np.uint16]:
    """Log codes, uint16 of any shape, to mm, uint16; code 0 is 0, invalid."""
    mm: NDArray[np.uint16] = np.take(_decode_table(), codes, mode="clip")
    return mm
