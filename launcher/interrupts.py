"""Ctrl-C, SIGTERM and a closed terminal: wishes to stop and save, not sudden death."""

from __future__ import annotations

import signal
from types import FrameType, TracebackType
from typing import Any

__all__ = ["Interrupts"]

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PATIENCE = 3
"""The third Ctrl-C leaves at once: the first may have been held too long, the second is impatience."""


class Interrupts:
    """While entered, SIGINT, SIGTERM and SIGHUP only make `wished` true, so that the running take is saved.

    The third SIGINT raises KeyboardInterrupt: an operator can always leave, also when a disk hangs. What was recorded
    stays in staging then.
    """

    def __init__(self) -> None:
        self._count = 0
        self._name = ""
        self._before: dict[signal.Signals, Any] = {}

    def wished(self) -> bool:
        """Whether somebody wants the recording to end."""
        return self._name != ""

    @property
    def name(self) -> str:
        """Of the first signal that came, e.g. ``SIGTERM``; "" before."""
        return self._name

    def __enter__(self) -> Interrupts:
        for number in _SIGNALS:
            self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before.clear()

    def _note(self, number: int, _frame: FrameType | None) -> None:
        self._name = self._name or signal.Signals(number).name
        if number == signal.SIGINT:
            self._count += 1
            if self._count >= PATIENCE:
                raise KeyboardInterrupt
