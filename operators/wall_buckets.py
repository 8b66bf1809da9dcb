"""wall_buckets: decimation by the host's wall buckets, 50 frames a second down to 30."""

from __future__ import annotations

from collections.abc import Callable

import reactivex as rx
from reactivex import operators as ops

from operators.events import Frame
from operators.tick_sample import NS

__all__ = ["WallBuckets", "wall_buckets"]

BURST_GAP_NS = 10_000_000
"""Frames closer than this on the host were held up together: a burst, told apart by the device's clock."""


class WallBuckets:
    """Say of each frame whether it is kept: the first of every bucket of 1 / fps of receipt time.

    A frame that came within 10 ms of the one before it was held up on its way; it is kept as well when the device's
    clock says that it belongs to a later bucket, so that a stall does not thin out the pictures. Receipt decides, not
    the device's clock alone: after a jump of that clock the stream goes on.

    Attributes:
        kept, skipped: frames so far.
    """

    def __init__(self, fps: float) -> None:
        self._period_ns = NS / fps
        self._bucket: int | None = None
        self._device_bucket: int | None = None
        self._host_ns = 0
        self.kept = 0
        self.skipped = 0

    def keep(self, frame: Frame) -> bool:
        bucket = int(frame.host_ns // self._period_ns)
        device = None if frame.device_ns is None else int(frame.device_ns // self._period_ns)
        keep = self._bucket is None or bucket != self._bucket
        if not keep and frame.host_ns - self._host_ns < BURST_GAP_NS:
            keep = device is not None and self._device_bucket is not None and device > self._device_bucket
        self._host_ns = frame.host_ns
        if keep:
            self._bucket, self._device_bucket = bucket, device
            self.kept += 1
        else:
            self.skipped += 1
        return keep


def wall_buckets(fps: float) -> Callable[[rx.Observable[Frame]], rx.Observable[Frame]]:
    """Thin a stream of frames to ``fps`` by receipt time.

    .. marble::

        source: a-b-c-d-e-f-|      50 a second
        bucket: 0---1---2---|      30 a second
        result: a---c---e---|
    """

    def operator(source: rx.Observable[Frame]) -> rx.Observable[Frame]:
        return rx.defer(lambda _scheduler: source.pipe(ops.filter(WallBuckets(fps).keep)))

    return operator
