"""latest_wins: the newest sample of each tick window."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

from operators.cells import at_ticks

__all__ = ["LatestWins", "latest_wins"]

T = TypeVar("T")


class LatestWins(Generic[T]):
    """Give, at every tick, the newest item since the previous tick, or None.

    .. marble::

        source: --a-b--------c--|
        ticks:  -----t----t----t----t-|
        result: -----b----N----c----N-|

    An old item is never passed off as new: after one silent window the value is None, and the row holds the column's
    placeholder.

    Attributes:
        passed_over: items that a newer one of the same window replaced; meant, hence not ``dropped``.
    """

    missing: T | None = None

    def __init__(self) -> None:
        self._newest: T | None = None
        self.passed_over = 0

    def put(self, item: T) -> None:
        if self._newest is not None:
            self.passed_over += 1
        self._newest = item

    def take(self, tick: object, row: Sequence[object]) -> T | None:
        newest, self._newest = self._newest, None
        return newest

    def clear(self) -> None:
        """Forget the waiting item and the counter: a new take."""
        self._newest = None
        self.passed_over = 0


latest_wins = at_ticks(LatestWins)
