"""Clock normalisation: device stamps to capture times on the host's monotonic clock."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["ClockFit", "fit_clock"]

MAX_DRIFT = 1e-3
"""A crystal is within 0.1 %: more is no clock rate but a queue that filled up or drained."""

RATE_SPAN_NS = 10e9
"""Below ten seconds the envelope's jitter outweighs any real clock's drift: the clocks count as equally fast."""


@dataclass(frozen=True, slots=True)
class ClockFit:
    """``capture(seq) = anchor + (seq - seq0) · T`` on the host's monotonic clock.

    Attributes:
        seq0: the frame number at the anchor. anchor_ns: capture time of that frame, ns.
        period_ns: T, host ns a frame number.
        residual_max_ns: the largest distance of a device stamp from the fitted line, jumps of the device's clock
            taken out, ns.
        delay_max_ns: the largest receipt delay behind the fitted capture time, ns.
    """

    seq0: int
    anchor_ns: int
    period_ns: float
    residual_max_ns: int
    delay_max_ns: int

    def at(self, seq: ArrayLike) -> NDArray[np.int64]:
        """Capture times of the frame numbers ``seq``; int64 ns, of the same shape."""
        steps = np.asarray(seq, dtype=np.int64) - self.seq0
        times: NDArray[np.int64] = self.anchor_ns + np.rint(steps * self.period_ns).astype(np.int64)
        return times


def fit_clock(seq: ArrayLike, device_ns: ArrayLike, host_ns: ArrayLike) -> ClockFit:
    """Fit capture times over one run of a device; after a restart, which counts anew, another run begins.

    T is the slope of the device stamp over the frame number by least squares, scaled by the device clock's rate against
    the host's. The anchor lies on the lower envelope of the receipt delay, since a frame can arrive late but not early.
    A step of the device's clock of more than half a period away from its frame number is a jump of that clock, and is
    taken out.

    Args:
        seq: [n] frame numbers, strictly increasing, n ≥ 1. device_ns: [n] device stamps, ns. host_ns: [n] receipts, ns.

    Raises:
        ValueError: no frame, arrays of different lengths, or numbers that do not increase.
    """
    s, d, h = _arrays(seq, device_ns, host_ns)
    if s.size == 0:
        raise ValueError("clock fit needs at least one frame")
    if np.any(np.diff(s) <= 0):
        raise ValueError("clock fit needs frame numbers that increase: fit each run of the device by itself")
    s0, h0 = int(s[0]), int(h[0])
    if s.size < 2:
        return ClockFit(s0, h0, 0.0, 0, 0)
    # Differences first, in integers: stamps of years of uptime keep their nanoseconds.
    x = (s - s0).astype(np.float64)
    device = _without_jumps(x, (d - d[0]).astype(np.float64))
    host = (h - h0).astype(np.float64)
    slope, intercept = np.polyfit(x, device, 1)
    residual = device - (slope * x + intercept)
    rate = _rate(device, host)
    period = float(slope * rate)
    delay = host - x * period
    anchor = float(delay.min())
    return ClockFit(
        seq0=s0,
        anchor_ns=h0 + round(anchor),
        period_ns=period,
        residual_max_ns=round(float(np.abs(residual).max()) * rate),
        delay_max_ns=round(float((delay - anchor).max())),
    )


def _arrays(*columns: ArrayLike) -> tuple[NDArray[np.int64], ...]:
    arrays = tuple(np.asarray(column, dtype=np.int64) for column in columns)
    if any(array.ndim != 1 or array.shape != arrays[0].shape for array in arrays):
        raise ValueError(f"clock fit needs arrays of one length, not {', '.join(str(a.shape) for a in arrays)}")
    return arrays


def _without_jumps(x: NDArray[np.float64], device: NDArray[np.float64]) -> NDArray[np.float64]:
    steps, numbers = np.diff(device), np.diff(x)
    period = float(np.median(steps / numbers))
    off = steps - period * numbers
    jumps = np.where(np.abs(off) > abs(period) / 2, off, 0.0)
    smooth: NDArray[np.float64] = device - np.concatenate(([0.0], np.cumsum(jumps)))
    return smooth


def _rate(device: NDArray[np.float64], host: NDArray[np.float64]) -> float:
    """Host ns a device ns, from the lower envelope of the delay in the run's first and last third."""
    span = device[-1] - device[0]
    if span < RATE_SPAN_NS:
        return 1.0
    delay = host - device
    third = span / 3
    early, late = device <= device[0] + third, device >= device[-1] - third
    i = int(np.flatnonzero(early)[np.argmin(delay[early])])
    j = int(np.flatnonzero(late)[np.argmin(delay[late])])
    rate = 1.0 + (delay[j] - delay[i]) / (device[j] - device[i])
    return float(np.clip(rate, 1.0 - MAX_DRIFT, 1.0 + MAX_DRIFT))
