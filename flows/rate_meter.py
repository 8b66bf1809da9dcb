"""Rates over about the last second, from counters that are looked at now and then."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

__all__ = ["RateMeter"]

WINDOW_NS = 1_000_000_000
NS = 1_000_000_000


class RateMeter:
    """Items a second of named counters. `look` by one thread; `rate` by any."""

    def __init__(self) -> None:
        self._looks: deque[tuple[int, Mapping[str, int]]] = deque()
        self._rates: dict[str, float] = {}

    def look(self, now_ns: int, counts: Mapping[str, int]) -> None:
        """Note the counters; ``now_ns`` is any clock that does not go back."""
        looks = self._looks
        looks.append((now_ns, counts))
        while len(looks) > 2 and now_ns - looks[1][0] >= WINDOW_NS:
            looks.popleft()
        then_ns, before = looks[0]
        if now_ns > then_ns:
            span = now_ns - then_ns
            self._rates = {name: max(0, count - before.get(name, 0)) * NS / span for name, count in counts.items()}

    def rate(self, name: str) -> float:
        """Items a second; 0 before the second look."""
        return self._rates.get(name, 0.0)
