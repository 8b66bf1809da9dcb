"""window_points: every item of each tick window, in order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

from operators.cells import at_ticks

__all__ = ["WindowPoints", "window_points"]

T = TypeVar("T")


class WindowPoints(Generic[T]):
    """Give, at every tick, all items since the previous tick, in order, each once.

    .. marble::

        source: -a-bc-----d---|
        ticks:  ---t----t----t-|
        result: ---A----B----C-|      A=[a,b] B=[c] C=[d]

    An item at the tick's own time counts before the tick. More than ``bound`` items in one window lose the oldest,
    counted in ``dropped``.

    Args:
        bound: items that one window may hold, ≥ 1.
    """

    def __init__(self, bound: int = 4096) -> None:
        if bound < 1:
            raise ValueError(f"bound must be at least 1, not {bound}")
        self._items: list[T] = []
        self._bound = bound
        self.dropped = 0

    @property
    def missing(self) -> list[T]:
        """No item."""
        return []

    @property
    def waiting(self) -> int:
        """Items since the previous tick."""
        return len(self._items)

    def put(self, item: T) -> None:
        if len(self._items) >= self._bound:
            del self._items[0]
            self.dropped += 1
        self._items.append(item)

    def take(self, tick: object, row: Sequence[object]) -> list[T]:
        items, self._items = self._items, []
        return items

    def clear(self) -> None:
        """Forget the waiting items and the counter: a new take."""
        self._items = []
        self.dropped = 0


window_points = at_ticks(WindowPoints)
