from __future__ import annotations

import numpy as np

from flows.gap_watch import GapWatch
from operators.events import Frame

PERIOD = 33_333_333
IMAGE = np.zeros((2, 2, 3), np.uint8)


def seen(*host_ns: int, device: bool = False, min_ms: float = 100.0) -> GapWatch:
    watch = GapWatch(PERIOD, min_ms)
    for stamp in host_ns:
        watch.put(Frame(IMAGE, "rgb24", host_ns=0 if device else stamp, device_ns=stamp if device else None))
    return watch


def test_normal_intervals_are_no_gap() -> None:
    watch = seen(*(1 + i * PERIOD for i in range(10)))
    assert (watch.count, watch.total_ns, watch.max_ns) == (0, 0, 0)


def test_a_gap_is_the_interval_beyond_the_period_and_names_its_start() -> None:
    watch = seen(0, PERIOD, PERIOD + 500_000_000, 2 * PERIOD + 500_000_000, 2 * PERIOD + 700_000_000)
    assert watch.count == 2
    assert watch.max_ns == 500_000_000 - PERIOD
    assert watch.max_at_ns == PERIOD
    assert watch.total_ns == 700_000_000 - 2 * PERIOD


def test_an_interval_of_just_the_minimum_counts_and_one_below_does_not() -> None:
    assert seen(0, 100_000_000).count == 1
    assert seen(0, 99_999_999).count == 0


def test_time_that_goes_back_is_a_resync_and_no_gap() -> None:
    watch = seen(10_000_000_000, 1_000_000_000, 1_000_000_000 + PERIOD)
    assert (watch.resyncs, watch.count) == (1, 0)


def test_the_first_frame_fixes_the_clock_and_frames_without_it_are_passed_over() -> None:
    watch = GapWatch(PERIOD)
    watch.put(Frame(IMAGE, "rgb24", host_ns=10**15, device_ns=1))
    watch.put(Frame(IMAGE, "rgb24", host_ns=2 * 10**15))
    watch.put(Frame(IMAGE, "rgb24", host_ns=3 * 10**15, device_ns=1 + PERIOD))
    assert (watch.count, watch.resyncs) == (0, 0)


def test_a_stamp_beyond_32_bits_keeps_its_value() -> None:
    assert seen(2**40, 2**40 + 4_680_000_000, device=True).max_ns == 4_680_000_000 - PERIOD
