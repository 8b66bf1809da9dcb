"""device_status: connected or disconnected, from events and from silence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from operators.cells import Tick, at_ticks
from operators.events import Frame, Sample, Status

__all__ = ["Connection", "DeviceStatus", "device_status"]

Connection: TypeAlias = Literal["connected", "disconnected"]


class DeviceStatus:
    """Give, at every tick, whether the device is there.

    .. marble::

        source: --x--x---------------x--D---|     x any item, D a disconnected status
        ticks:  t--t--t--t--t--t--t--t--t--t-|
        result: d--c--c--c--d--d--d--c--d--d-|     silence of more than five frames of time

    Any item is a sign of life. Nothing heard yet, nothing heard for longer than ``silence_ns``, or a disconnected
    status that no item has followed: disconnected. So a device is never "connected" because nothing was heard.

    Heard is when the host received it. Items that carry no receipt stamp, or a tracker's own time as points do, count
    as heard at the tick; no stamp counts as later than the tick.

    Args:
        silence_ns: the longest silence of a connected device, ns.
    """

    missing: Connection = "disconnected"

    def __init__(self, silence_ns: int) -> None:
        self._silence_ns = silence_ns
        self._alive = False
        self._heard_ns: int | None = None
        self._fresh = False

    def put(self, item: object) -> None:
        self._alive = item.state == "connected" if isinstance(item, Status) else True
        if isinstance(item, Frame | Sample | Status):
            self._heard_ns = item.host_ns if self._heard_ns is None else max(self._heard_ns, item.host_ns)
        else:
            self._fresh = True

    def take(self, tick: Tick, row: Sequence[object]) -> Connection:
        if self._fresh or (self._heard_ns is not None and self._heard_ns > tick.at_ns):
            self._heard_ns, self._fresh = tick.at_ns, False
        if not self._alive or self._heard_ns is None or tick.at_ns - self._heard_ns > self._silence_ns:
            return "disconnected"
        return "connected"


device_status = at_ticks(DeviceStatus)
