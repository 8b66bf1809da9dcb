from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from episodes.matching import nearest

INT64 = st.integers(-(2**63), 2**63 - 1)


def test_the_nearest_in_time_is_found_whatever_the_order() -> None:
    assert nearest([100, 149, 151, 900], [200, 100, 300]).tolist() == [1, 1, 0, 2]


def test_zero_is_no_stamp_on_either_side() -> None:
    assert nearest([0, 1, -1], [0, 50, 0]).tolist() == [-1, 1, 1]


def test_nothing_is_found_among_no_stamps() -> None:
    assert nearest([5, 6], [0, 0]).tolist() == [-1, -1]
    assert nearest([5], []).tolist() == [-1]
    assert nearest([], [5]).tolist() == []


def test_a_stamp_as_far_as_the_gap_is_found_and_one_further_is_not() -> None:
    assert nearest([10, 10, 10], [20], max_gap_ns=10).tolist() == [0, 0, 0]
    assert nearest([10], [21], max_gap_ns=10).tolist() == [-1]


def test_of_two_equally_near_the_earlier_and_of_equal_stamps_the_first() -> None:
    assert nearest([15], [20, 10]).tolist() == [1]
    assert nearest([15], [10, 10, 40]).tolist() == [0]
    assert nearest([1000], [999, 999, 3]).tolist() == [0]


def test_negative_stamps_are_stamps() -> None:
    assert nearest([-5], [-6, 7]).tolist() == [0]


def test_distances_beyond_63_bits_do_not_overflow() -> None:
    low, high = -(2**63), 2**63 - 1
    assert nearest([high], [low, high - 1]).tolist() == [1]
    assert nearest([low], [high, 1]).tolist() == [1]
    assert nearest([low], [high], max_gap_ns=2**63).tolist() == [-1]


def test_floats_are_refused_since_they_cannot_hold_nanoseconds() -> None:
    with pytest.raises(TypeError, match="not integers"):
        nearest(np.array([1.0]), [1])


def test_a_negative_gap_is_refused() -> None:
    with pytest.raises(ValueError, match="negative"):
        nearest([1], [1], max_gap_ns=-1)


@given(st.lists(INT64, max_size=20), st.lists(INT64, max_size=20), st.none() | st.integers(0, 2**63))
def test_it_agrees_with_looking_at_every_pair(query: list[int], stamps: list[int], gap: int | None) -> None:
    found = nearest(np.array(query, np.int64), np.array(stamps, np.int64), gap)
    for asked, index in zip(query, found.tolist(), strict=True):
        known = [] if asked == 0 else [abs(asked - stamp) for stamp in stamps if stamp != 0]
        near = [distance for distance in known if gap is None or distance <= gap]
        if not near:
            assert index == -1
        else:
            assert stamps[index] != 0
            assert abs(asked - stamps[index]) == min(near)
