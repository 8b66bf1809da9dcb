"""Holes between the fresh frames of one slot, told apart from repeats and from a clock that jumps back."""

from __future__ import annotations

from operators.events import Frame

__all__ = ["GapWatch"]

NS_PER_MS = 1_000_000


class GapWatch:
    """Measures the intervals between adjacent fresh frames of a slot.

    A gap is an interval beyond the device's period, counted when the interval is at least ``min_ms``. The first frame
    fixes the clock, the device's own where it stamps, else capture or receipt on the host; frames without that stamp
    are passed over. Time that goes back is no gap: counted in ``resyncs``, and measured anew from there.

    Attributes:
        count, total_ns, max_ns: the gaps. max_at_ns: stamp before the largest one.
    """

    def __init__(self, period_ns: int, min_ms: float = 100.0) -> None:
        self._period_ns = period_ns
        self._min_ns = round(min_ms * NS_PER_MS)
        self._last_ns: int | None = None
        self._on_device: bool | None = None
        self.count = 0
        self.total_ns = 0
        self.max_ns = 0
        self.max_at_ns: int | None = None
        self.resyncs = 0

    def put(self, frame: Frame) -> None:
        if self._on_device is None:
            self._on_device = frame.device_ns is not None
        stamp = frame.device_ns if self._on_device else frame.best_ns
        if stamp is None:
            return
        last, self._last_ns = self._last_ns, stamp
        if last is None:
            return
        interval = stamp - last
        if interval < 0:
            self.resyncs += 1
        elif interval >= self._min_ns:
            gap = max(0, interval - self._period_ns)
            self.count += 1
            self.total_ns += gap
            if gap > self.max_ns:
                self.max_ns, self.max_at_ns = gap, last
