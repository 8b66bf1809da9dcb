"""Take after take: what the keys, the signals and the clock ask of a session."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from flows.session_events import EndReason
from flows.summary import TakeSummary
from launcher.interrupts import Interrupts
from launcher.keys import Key, Keys

__all__ = ["TakeLoop", "Takes"]

POLL_S = 0.05


class Takes(Protocol):
    """What the loop needs of `flows.session.Session`."""

    def start(self, seconds: float | None = None) -> int: ...
    def wait(self, timeout_s: float | None = None) -> EndReason | None: ...
    def stop(self) -> TakeSummary: ...
    def discard(self) -> None: ...


@dataclass(frozen=True, slots=True)
class _Wish:
    """What becomes of a take, and whether there is a next one."""

    save: bool
    go_on: bool


class TakeLoop:
    """Records takes until there are enough, the operator quits, or one fails.

    The first take starts at once; with a keyboard the later ones wait for the space bar, since somebody has to put
    the scene in order. A take thrown away is not counted. A take that ended by a failure (disk, encoder) is saved as
    far as it is good, and is the last.

    Args:
        session: already open. episodes: how many takes. seconds: length of a take, None: until stopped.
        keys, interrupts: entered. saved: is given each summary.
    """

    def __init__(
        self,
        session: Takes,
        *,
        episodes: int,
        seconds: float | None,
        keys: Keys,
        interrupts: Interrupts,
        saved: Callable[[TakeSummary], None],
    ) -> None:
        self._session = session
        self._episodes = episodes
        self._seconds = seconds
        self._keys = keys
        self._interrupts = interrupts
        self._saved = saved
        self.summaries: list[TakeSummary] = []

    @property
    def failed(self) -> bool:
        """Whether the last take ended by a failure."""
        return bool(self.summaries) and EndReason(self.summaries[-1].reason).is_failure

    def run(self) -> None:
        """Record; returns when nothing is being recorded any more.

        Raises:
            RigflowError: from the session; nothing is recorded then.
        """
        first = True
        while len(self.summaries) < self._episodes:
            if not first and not self._next_wished():
                return
            first = False
            self._session.start(self._seconds)
            wish = self._decide()
            if wish.save:
                summary = self._session.stop()
                self.summaries.append(summary)
                self._saved(summary)
            else:
                self._session.discard()
            if not wish.go_on or self.failed:
                return

    def _decide(self) -> _Wish:
        # Whoever wanted to leave before there was anything to keep gets no episode of three rows.
        if self._interrupts.wished() or self._keys.poll() is Key.QUIT:
            return _Wish(save=False, go_on=False)
        while True:
            reason = self._session.wait(POLL_S)
            if self._interrupts.wished():
                return _Wish(save=True, go_on=False)
            if reason is not None:
                return _Wish(save=True, go_on=True)
            match self._keys.poll():
                case Key.STOP:
                    return _Wish(save=True, go_on=True)
                case Key.REDO:
                    return _Wish(save=False, go_on=True)
                case Key.QUIT:
                    return _Wish(save=True, go_on=False)

    def _next_wished(self) -> bool:
        if not self._keys.present():
            return not self._interrupts.wished()
        self._keys.clear()
        while not self._interrupts.wished():
            match self._keys.poll(POLL_S):
                case Key.STOP:
                    return True
                case Key.QUIT:
                    return False
            if not self._keys.present():
                return False  # the terminal is gone, and with it whoever could start the next take
        return False
