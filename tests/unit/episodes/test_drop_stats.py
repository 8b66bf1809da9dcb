from __future__ import annotations

import pytest

from episodes.drop_stats import is_frame_key, merge_drop_stats, tidy, total_lost

KEYS = {
    "ext:d435_rgb": True,
    "uvc:head_left_rgb": True,
    "sensor_queue": True,
    "imu_overflow": False,
    "head_gap_ms": False,
    "head_gap_max_ms": False,
    "head_gap_count": False,
    "gripper_overwrite_count": False,
    "head_repeat_count": False,
    "tick_skip_count": False,
    "recovered_count": False,
    "head_late_max_ms": False,
    "head_clock_residual_max_ns": False,
}


@pytest.mark.parametrize(("key", "frames"), KEYS.items())
def test_only_keys_without_a_unit_count_lost_frames(key: str, frames: bool) -> None:
    assert is_frame_key(key) == frames


def test_the_total_is_the_lost_frames_over_a_whole_snapshot() -> None:
    assert total_lost(dict.fromkeys(KEYS, 7)) == 21
    assert total_lost({}) == 0


def test_the_total_passes_over_what_is_no_number() -> None:
    assert total_lost({"ext:a": "many", "ext:b": 2, "ext:c": None, "ext:d": 1.5, "ext:e": True}) == 2


def test_maxima_stay_maxima_and_everything_else_adds_up() -> None:
    first = {"ext:a": 2, "a_late_max_ms": 9, "a_clock_residual_max_ns": 5, "a_gap_ms": 3}
    second = {"ext:a": 3, "a_late_max_ms": 4, "a_clock_residual_max_ns": 8, "a_gap_ms": 3, "uvc:b": 1}

    assert merge_drop_stats(first, second) == {
        "ext:a": 5,
        "a_late_max_ms": 9,
        "a_clock_residual_max_ns": 8,
        "a_gap_ms": 6,
        "uvc:b": 1,
    }
    assert first["ext:a"] == 2


def test_zeros_are_left_out_and_imu_overflow_always_stands() -> None:
    assert tidy({"ext:a": 0, "uvc:b": 3}) == {"imu_overflow": 0, "uvc:b": 3}
    assert tidy({"imu_overflow": 4}) == {"imu_overflow": 4}
