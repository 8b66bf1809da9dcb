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
    """

    missing: T | None = None

    def __init__(self) -> None:
        self._newest: T | None = None

    def put(self, item: T) -> None:
        self._newest = item

    def take(self, tick: object, row: Sequence[object]) -> T | None:
        newest, self._newest = self._newest, None
        return newest

    def clear(self) -> None:
        """Forget the waiting item: a new take."""
        self._newest = None


latest_wins = at_ticks(LatestWins)
