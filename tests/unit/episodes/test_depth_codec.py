from __future__ import annotations

import numpy as np
import pytest

from episodes.depth_codec import CODE_MAX, codes_to_mm, mm_to_codes

VECTORS = [
    (0, 0, 0), (1, 0, 0), (99, 0, 0), (100, 0, 0), (101, 10, 101), (102, 21, 102), (150, 424, 150), (200, 726, 200),
    (300, 1150, 300), (333, 1259, 333), (500, 1685, 500), (600, 1876, 600), (800, 2177, 800), (1000, 2410, 1000),
    (1500, 2835, 1500), (2000, 3136, 2000), (3000, 3560, 2999), (4000, 3861, 3998), (4999, 4095, 5000),
    (5000, 4095, 5000), (65535, 4095, 5000),
]  # fmt: skip


@pytest.mark.parametrize(("mm", "code", "back"), VECTORS)
def test_known_depths_have_their_codes(mm: int, code: int, back: int) -> None:
    codes = mm_to_codes(np.array([[mm]], np.uint16))
    assert codes.dtype == np.uint16
    assert codes.tolist() == [[code]]
    assert codes_to_mm(codes).tolist() == [[back]]


def test_codes_never_fall_as_depth_grows() -> None:
    codes = mm_to_codes(np.arange(1, 65536, dtype=np.uint16)).astype(np.int64)
    assert (np.diff(codes) >= 0).all()
    assert codes.max() == CODE_MAX


def test_codes_of_over_1100_mm_come_back_through_millimetres() -> None:
    # Nearer, one mm spans several codes; from 1047 mm on a code is at least a mm wide.
    codes = np.arange(2511, 4096, dtype=np.uint16)
    assert (mm_to_codes(codes_to_mm(codes)) == codes).all()


def test_error_is_one_millimetre_to_3201_mm_and_two_to_5_m() -> None:
    mm = np.arange(101, 5001, dtype=np.uint16)
    error = np.abs(codes_to_mm(mm_to_codes(mm)).astype(np.int64) - mm)
    assert error[: 3201 - 101 + 1].max() <= 1
    assert error.max() == 2


def test_code_zero_is_invalid_and_not_a_tenth_of_a_metre() -> None:
    assert codes_to_mm(np.zeros((2, 2), np.uint16)).tolist() == [[0, 0], [0, 0]]


def test_codes_beyond_twelve_bits_are_the_farthest_depth() -> None:
    assert codes_to_mm(np.array([4095, 4096, 65535], np.uint16)).tolist() == [5000, 5000, 5000]


def test_a_given_buffer_is_filled_and_returned() -> None:
    out = np.empty((4, 5), np.uint16)
    assert mm_to_codes(np.full((4, 5), 1000, np.uint16), out) is out
    assert (out == 2410).all()
