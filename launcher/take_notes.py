"""What was warned of during a take and stands in none of its numbers."""

from __future__ import annotations

from flows.session_events import Armed, SessionEvent, Warned
from flows.summary import TakeSummary

__all__ = ["COUNTED", "TakeNotes"]

COUNTED = frozenset({"tick_skip", "lost", "gap", "wrong_size"})
"""Codes of warnings that say how far a counter is: live table and summary show the counter itself."""


class TakeNotes:
    """Collects the warnings of the running take, the last one of each kind and thing."""

    def __init__(self) -> None:
        self._told: set[str] = set()
        self._last: dict[tuple[str, str], str] = {}

    def put(self, event: SessionEvent) -> None:
        """Take an event of the session; from any thread."""
        if isinstance(event, Armed):
            self._told.clear()
            self._last.clear()
        elif isinstance(event, Warned):
            self._told.add(event.message)
            if event.code not in COUNTED:
                self._last[event.code, event.about] = event.message

    def of(self, summary: TakeSummary) -> list[str]:
        """The notes of a take that was saved: those of its events, and those that came with the commit."""
        return [*self._last.values(), *(text for text in summary.warnings if text not in self._told)]
