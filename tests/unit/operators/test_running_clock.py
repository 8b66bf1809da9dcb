"""The running estimate of a device's clock."""

from __future__ import annotations

from operators.running_clock import RunningClock

MS = 1_000_000


def test_the_shortest_delay_so_far_is_the_offset() -> None:
    clock = RunningClock()
    assert clock.put(0, 50 * MS) == 50 * MS
    assert clock.put(33 * MS, 63 * MS) == 63 * MS
    late = clock.put(66 * MS, 500 * MS)
    assert 96 * MS <= late <= 97 * MS


def test_no_estimate_is_later_than_the_receipt() -> None:
    clock = RunningClock()
    for n in range(2000):
        host = n * 33 * MS + (n * 7919 % 13) * MS
        assert clock.put(n * 33 * MS, host) <= host


def test_it_follows_a_slow_device_clock() -> None:
    clock = RunningClock()
    for n in range(20_000):
        host = n * 33 * MS
        estimate = clock.put(round(host * (1 - 5e-5)), host)
    assert host - estimate < MS


def test_a_device_that_sets_its_clock_back_is_followed_at_once() -> None:
    clock = RunningClock()
    clock.put(10**12, 10**12 + 5 * MS)
    assert clock.put(0, 10**12 + 38 * MS) == 10**12 + 38 * MS
    assert clock.put(33 * MS, 10**12 + 71 * MS) == 10**12 + 71 * MS


def test_stamps_beyond_53_bits_keep_their_nanoseconds() -> None:
    clock = RunningClock()
    assert clock.put(2**60, 2**62 + 1) == 2**62 + 1
