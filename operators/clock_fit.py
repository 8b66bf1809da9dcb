"""Clock normalisation: device stamps to capture times on the host's monotonic clock."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["ClockFit", "RunningClock", "fit_clock"]


@dataclass(frozen=True, slots=True)
class ClockFit:
    """``capture(seq) = anchor + (seq - seq0) · T`` on the host's monotonic clock.

    Attributes:
        seq0: the frame number at the anchor. anchor_ns: capture time of that frame, ns.
        period_ns: T, host ns a frame number.
        residual_max_ns: the largest distance of a device stamp from the fitted line, ns.
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
    """Fit capture times over a whole episode.

    T is the slope of the device stamp over the frame number by least squares, scaled by the device clock's rate against
    the host's. The anchor lies on the lower envelope of the receipt delay, since a frame can arrive late but not early.

    Args:
        seq: [n] frame numbers, strictly increasing, n ≥ 1. device_ns: [n] device stamps, ns. host_ns: [n] receipts, ns.

    Raises:
        ValueError: no frame, or arrays of different lengths.
    """
    s = np.asarray(seq, dtype=np.int64)
    d = np.asarray(device_ns, dtype=np.int64)
    h = np.asarray(host_ns, dtype=np.int64)
    if s.size == 0 or s.shape != d.shape or s.shape != h.shape:
        raise ValueError(f"clock fit needs three arrays of one length > 0, not {s.shape}, {d.shape}, {h.shape}")
    s0, d0, h0 = int(s[0]), int(d[0]), int(h[0])
    x = (s - s0).astype(np.float64)
    device = (d - d0).astype(np.float64)
    host = (h - h0).astype(np.float64)
    if s.size < 2 or x[-1] <= 0:
        return ClockFit(s0, h0, 0.0, 0, 0)
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


def _rate(device: NDArray[np.float64], host: NDArray[np.float64]) -> float:
    """Host ns a device ns, from the lower envelope of the delay in the take's first and last third.

    Below ten seconds the envelope's jitter outweighs any real clock's drift, so the clocks count as equally fast.
    """
    span = device[-1] - device[0]
    if span < 10e9:
        return 1.0
    delay = host - device
    third = span / 3
    early, late = device <= device[0] + third, device >= device[-1] - third
    i = int(np.flatnonzero(early)[np.argmin(delay[early])])
    j = int(np.flatnonzero(late)[np.argmin(delay[late])])
    rate = 1.0 + (delay[j] - delay[i]) / (device[j] - device[i])
    # A crystal is within 0.1 %: more is no clock rate but a queue that filled up or drained.
    return float(np.clip(rate, 0.999, 1.001))


class RunningClock:
    """The capture time of the newest frame while recording, for displays; `fit_clock` settles the episode's.

    Keeps the lower envelope of host minus device, which rises by 100 µs a second so that it follows a drift.
    """

    RISE = 1e-4

    def __init__(self) -> None:
        self._offset_ns: float | None = None
        self._last_host_ns = 0

    def put(self, device_ns: int, host_ns: int) -> int:
        """Give the estimated capture time, host monotonic, ns."""
        offset = float(host_ns - device_ns)
        if self._offset_ns is not None:
            grown = self._offset_ns + self.RISE * max(0, host_ns - self._last_host_ns)
            offset = min(offset, grown)
        self._offset_ns, self._last_host_ns = offset, host_ns
        return device_ns + round(offset)
