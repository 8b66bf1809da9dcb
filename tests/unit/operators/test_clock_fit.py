"""The clock fit on made-up devices whose true capture times are known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from operators.clock_fit import ClockFit, fit_clock

Ints = NDArray[np.int64]
T = 33_333_333


def device(
    n: int,
    *,
    seed: int = 0,
    drift: float = 0.0,
    device0: int = 5_000_000_000,
    host0: int = 10**15,
    delay_ns: float = 2e6,
    lost: float = 0.0,
    stall: slice | None = None,
) -> tuple[Ints, Ints, Ints, Ints]:
    """Frame numbers, device stamps, receipts and true capture times (host) of n frames."""
    rng = np.random.default_rng(seed)
    seq = np.flatnonzero(rng.random(n) >= lost).astype(np.int64)
    true = host0 + np.rint(seq * (T * (1 + drift))).astype(np.int64)
    stamps = device0 + seq * T + rng.integers(-2_000, 2_000, len(seq))
    delay = rng.exponential(delay_ns, len(seq)) + 1e6
    if stall is not None:
        delay[stall] += 300e6
    host: Ints = true + delay.astype(np.int64)
    return seq + 7, stamps, host, true


def worst_ms(fit: ClockFit, seq: Ints, true: Ints) -> float:
    # The shortest delay on the way, 1 ms here, cannot be seen from the host.
    return float(np.abs(fit.at(seq) - true - 1_000_000).max()) / 1e6


def test_jitter_of_the_receipt_does_not_reach_the_capture_times() -> None:
    seq, stamps, host, true = device(1800)
    fit = fit_clock(seq, stamps, host)
    assert worst_ms(fit, seq, true) < 0.3
    assert fit.residual_max_ns < 3_000
    assert abs(fit.period_ns - T) < 50


@pytest.mark.parametrize("drift", [-8e-5, 5e-5, 2e-4])
def test_a_drifting_device_clock_is_followed_over_ten_minutes(drift: float) -> None:
    seq, stamps, host, true = device(18_000, drift=drift)
    assert worst_ms(fit_clock(seq, stamps, host), seq, true) < 0.5


def test_lost_frames_and_a_stall_of_the_host_change_nothing() -> None:
    seq, stamps, host, true = device(1800, lost=0.3, stall=slice(100, 160))
    assert worst_ms(fit_clock(seq, stamps, host), seq, true) < 0.3


def test_a_slow_start_leaves_no_transient() -> None:
    seq, stamps, host, true = device(600, stall=slice(0, 60))
    fit = fit_clock(seq, stamps, host)
    assert worst_ms(fit, seq, true) < 0.3
    assert fit.delay_max_ns >= 299_000_000


@pytest.mark.parametrize("jump_ns", [-400_000_000, 400_000_000, 5_000_000_000])
def test_a_jump_of_the_devices_clock_is_taken_out(jump_ns: int) -> None:
    seq, stamps, host, true = device(900)
    stamps[450:] += jump_ns
    fit = fit_clock(seq, stamps, host)
    assert worst_ms(fit, seq, true) < 0.5
    assert fit.residual_max_ns < 100_000


def test_no_capture_is_later_than_its_receipt() -> None:
    seq, stamps, host, _true = device(900, drift=1e-4, lost=0.1)
    assert np.all(fit_clock(seq, stamps, host).at(seq) <= host)


def test_stamps_beyond_53_bits_keep_their_nanoseconds() -> None:
    base = 2**62
    seq = np.arange(10, dtype=np.int64)
    fit = fit_clock(seq, base + seq * T, base + 1 + seq * T)
    assert fit.at(seq).tolist() == [base + 1 + n * T for n in range(10)]
    assert fit.at(seq).dtype == np.int64


def test_one_frame_is_its_own_receipt() -> None:
    fit = fit_clock([3], [100], [250])
    assert fit.at([3]).tolist() == [250]


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 400), lost=st.floats(0, 0.8))
def test_the_series_is_uniform_and_increases(seed: int, n: int, lost: float) -> None:
    seq, stamps, host, _true = device(n, seed=seed, lost=lost)
    if len(seq) < 2:
        return
    fit = fit_clock(seq, stamps, host)
    steps = np.diff(fit.at(seq)) - np.diff(seq) * fit.period_ns
    assert np.abs(steps).max() <= 1.0
    assert np.all(np.diff(fit.at(seq)) > 0)


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        (([], [], []), "at least one"),
        (([1, 2], [1, 2], [1]), "one length"),
        (([[1]], [[1]], [[1]]), "one length"),
        (([1, 1], [1, 2], [1, 2]), "increase"),
        (([2, 1], [1, 2], [1, 2]), "increase"),
    ],
)
def test_what_cannot_be_fitted_is_refused(columns: tuple[Any, Any, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        fit_clock(*columns)
