"""tick_sample: the clock of an episode; absolute deadlines, late ones skipped and counted."""

from __future__ import annotations

import math
from fractions import Fraction

import reactivex as rx
from reactivex import abc
from reactivex.disposable import SerialDisposable
from reactivex.scheduler import TimeoutScheduler

from operators.cells import Tick

__all__ = ["NS", "TickGrid", "tick_sample"]

NS = 1_000_000_000


class TickGrid:
    """The deadlines ``start + n · 1 s / fps``, exact for every n: nothing accumulates.

    Args:
        start_ns: the first deadline, host monotonic clock, ns.
        fps: rows a second, > 0; any fraction.
    """

    def __init__(self, start_ns: int, fps: float | Fraction) -> None:
        rate = Fraction(fps).limit_denominator(1_000_000)
        if rate <= 0:
            raise ValueError(f"fps must be greater than 0, not {fps}")
        self._start_ns = start_ns
        self._rate = rate
        self._next = 0
        self._index = 0

    @property
    def period_ns(self) -> int:
        """The period, rounded to the nanosecond; deadlines do not accumulate its rounding."""
        return round(NS / self._rate)

    @property
    def due_ns(self) -> int:
        """The deadline of the next tick."""
        return self._deadline(self._next)

    def _deadline(self, n: int) -> int:
        return self._start_ns + (n * NS * self._rate.denominator) // self._rate.numerator

    def tick(self, now_ns: int) -> Tick:
        """Tick now: for the next deadline, or, when more than a period late, for the last one that has passed.

        The skipped deadlines are counted in the tick; no deadline ever gives two ticks.
        """
        n = self._next
        if now_ns - self._deadline(n) > self.period_ns:
            passed = math.floor(Fraction(now_ns - self._start_ns, NS) * self._rate)
            while self._deadline(passed + 1) <= now_ns:
                passed += 1
            while self._deadline(passed) > now_ns:
                passed -= 1
            n = max(n, passed)
        tick = Tick(index=self._index, due_ns=self._deadline(n), at_ns=now_ns, skipped=n - self._next)
        self._next = n + 1
        self._index += 1
        return tick


def tick_sample(fps: float, *, first_s: float = 0.0) -> rx.Observable[Tick]:
    """Give an observable of ticks at the absolute deadlines of a grid; the first ``first_s`` after subscription.

    .. marble::

        deadlines: ---0--1--2--3--4--5-
        result:    ---0--1--------4--5-     4 came when 2 and 3 were past: skipped = 2, and the grid is kept

    A tick that is late by a period or less comes late; one that is later takes the newest deadline that has passed,
    and counts those before it.

    On a virtual scheduler it is exact. A take's own clock is `operators.tick_thread.TickThread`, on the same grid.
    """

    def subscribe(observer: abc.ObserverBase[Tick], scheduler: abc.SchedulerBase | None = None) -> abc.DisposableBase:
        clock = scheduler or TimeoutScheduler.singleton()

        def now_ns() -> int:
            return round(clock.to_seconds(clock.now) * NS)

        grid = TickGrid(now_ns() + round(first_s * NS), fps)
        timer = SerialDisposable()

        def plan() -> None:
            due_s = max(0.0, (grid.due_ns - now_ns()) / NS)
            timer.disposable = clock.schedule_relative(due_s, beat)

        def beat(_scheduler: abc.SchedulerBase, _state: object | None = None) -> None:
            observer.on_next(grid.tick(max(now_ns(), grid.due_ns)))
            plan()

        plan()
        return timer

    return rx.Observable(subscribe)
