"""running_clock: the capture time of the newest frame while recording, for displays."""

from __future__ import annotations

__all__ = ["RunningClock"]

RISE = 1e-4
"""The envelope rises by 100 µs a second, so that it follows a drift; any crystal drifts less."""

RESTART_NS = 1_000_000_000
"""A delay that grows by more at once is a device that set its clock back."""


class RunningClock:
    """Keeps the lower envelope of host minus device; `operators.clock_fit` settles the episode's times at commit."""

    def __init__(self) -> None:
        self._offset_ns: int | None = None
        self._last_host_ns = 0

    def put(self, device_ns: int, host_ns: int) -> int:
        """Take a frame's stamps; give its estimated capture time, host monotonic, ns, never after its receipt."""
        offset = host_ns - device_ns
        if self._offset_ns is not None:
            grown = self._offset_ns + round(RISE * max(0, host_ns - self._last_host_ns))
            if offset - grown <= RESTART_NS:
                offset = min(offset, grown)
        self._offset_ns, self._last_host_ns = offset, host_ns
        return device_ns + offset
