"""wall_buckets: decimation by the host's wall buckets, 50 frames a second down to 30."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from fractions import Fraction

import reactivex as rx
from reactivex import operators as ops

from operators.events import Frame
from operators.tick_sample import NS

__all__ = ["WallBuckets", "wall_buckets"]

BURST_GAP_NS = 10_000_000
"""Frames closer than this on the host were held up together: a burst, told apart by the device's clock."""

ALERT_AFTER, ALERT_PERCENT = 90, 10
"""From 90 buckets on, a tenth of them empty is a source that does not keep up."""


class WallBuckets:
    """Say of each frame whether it is kept: the first of every bucket of 1 / fps of receipt time.

    A frame that came within 10 ms of the one before it was held up on its way; it is kept as well when the device's
    clock says that it belongs to a later bucket, so that a stall does not thin out the pictures. Receipt decides, not
    the device's clock alone: after a jump of that clock the stream goes on. A frame without a device stamp is kept.

    The other eye of a stereo pair, told by the same device stamp, gets the same answer: both ask one object.

    Args:
        fps: frames to keep a second, > 0.

    Attributes:
        kept, skipped: decisions so far. buckets: that have passed; empty: of them, without a frame.
    """

    def __init__(self, fps: float | Fraction) -> None:
        self._rate = Fraction(fps).limit_denominator(1_000_000)
        if self._rate <= 0:
            raise ValueError(f"fps must be greater than 0, not {fps}")
        self._bucket: int | None = None
        self._device_bucket: int | None = None
        self._host_ns = 0
        self._answers: deque[tuple[int, bool]] = deque(maxlen=8)
        self.kept = 0
        self.skipped = 0
        self.buckets = 0
        self.empty = 0

    @property
    def starving(self) -> bool:
        """Whether a tenth or more of the buckets had no frame."""
        return self.buckets >= ALERT_AFTER and self.empty * 100 >= self.buckets * ALERT_PERCENT

    def keep(self, frame: Frame) -> bool:
        device_ns = frame.device_ns
        for stamp, answer in self._answers:
            if stamp == device_ns:
                return answer
        keep = self._decide(frame)
        if device_ns is not None:
            self._answers.append((device_ns, keep))
        self.kept += keep
        self.skipped += not keep
        return keep

    def _decide(self, frame: Frame) -> bool:
        bucket = self._bucket_of(frame.host_ns)
        last, self._bucket = self._bucket, bucket
        gap_ns, self._host_ns = frame.host_ns - self._host_ns, frame.host_ns
        if last is not None and bucket > last:
            self.buckets += bucket - last
            self.empty += bucket - last - 1
        if frame.device_ns is None:
            return True
        device = self._bucket_of(frame.device_ns)
        late = gap_ns < BURST_GAP_NS and self._device_bucket is not None and device > self._device_bucket
        if bucket == last and not late:
            return False
        self._device_bucket = device
        return True

    def _bucket_of(self, ns: int) -> int:
        return ns * self._rate.numerator // (NS * self._rate.denominator)


def wall_buckets(fps: float | Fraction) -> Callable[[rx.Observable[Frame]], rx.Observable[Frame]]:
    """Thin a stream of frames to ``fps`` by receipt time.

    .. marble::

        buckets: 0----1----2----3----
        source:  a--b--c--d--e--f--g-|      50 a second
        result:  a-----c-----e--f----|      the first of each bucket
    """

    def operator(source: rx.Observable[Frame]) -> rx.Observable[Frame]:
        return rx.defer(lambda _scheduler: source.pipe(ops.filter(WallBuckets(fps).keep)))

    return operator
