"""tick_sample and its grid in virtual time."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reactivex import operators as ops
from reactivex.testing import TestScheduler

from operators.cells import Tick
from operators.tick_sample import NS, TickGrid, tick_sample

RATES = st.one_of(
    st.integers(1, 240).map(Fraction),
    st.sampled_from([Fraction(30_000, 1001), Fraction(2997, 100), Fraction(3084, 100), Fraction(1, 3)]),
)


def test_ticks_stand_on_the_grid_and_are_numbered_without_holes() -> None:
    scheduler = TestScheduler()
    observer = scheduler.start(lambda: tick_sample(0.1, first_s=10.0).pipe(ops.take(4)))
    ticks = [message.value.value for message in observer.messages[:-1]]  # type: ignore[union-attr]
    assert [message.time for message in observer.messages] == [210, 220, 230, 240, 240]
    assert ticks == [Tick(n, (210 + 10 * n) * NS, (210 + 10 * n) * NS) for n in range(4)]


def test_a_subscriber_that_is_late_by_less_than_a_period_costs_no_tick() -> None:
    assert late_ticks({1: 14}) == [(0, 200, 200, 0), (1, 210, 210, 0), (2, 220, 224, 0), (3, 230, 230, 0)]


def test_a_late_tick_takes_the_newest_deadline_and_counts_the_skipped() -> None:
    assert late_ticks({1: 33}) == [(0, 200, 200, 0), (1, 210, 210, 0), (2, 240, 243, 2), (3, 250, 250, 0)]


def test_exactly_one_period_late_is_late_and_nothing_is_skipped() -> None:
    assert late_ticks({1: 20}) == [(0, 200, 200, 0), (1, 210, 210, 0), (2, 220, 230, 0), (3, 230, 230, 0)]


def late_ticks(busy_s: dict[int, float]) -> list[tuple[int, int, int, int]]:
    """Four ticks of a grid of 10 s whose subscriber takes so many seconds for some: index, due, at, skipped."""
    scheduler = TestScheduler()
    seen: list[Tick] = []

    def work(tick: Tick) -> None:
        seen.append(tick)
        if tick.index in busy_s:
            scheduler.sleep(busy_s[tick.index])

    scheduler.start(lambda: tick_sample(0.1).pipe(ops.take(4), ops.do_action(work)))
    return [(tick.index, tick.due_ns // NS, tick.at_ns // NS, tick.skipped) for tick in seen]


def test_disposing_ends_the_ticks() -> None:
    scheduler = TestScheduler()
    observer = scheduler.start(lambda: tick_sample(0.1), disposed=235.0)
    assert [message.time for message in observer.messages] == [200, 210, 220, 230]


@settings(deadline=None)
@given(rate=RATES, start=st.integers(0, 2**62), n=st.integers(2, 10_000_000))
def test_deadlines_do_not_drift(rate: Fraction, start: int, n: int) -> None:
    """After any number of periods the deadline is the exact one, rounded down to the nanosecond."""
    grid = TickGrid(start, rate)
    exact = start + n * NS * rate.denominator // rate.numerator
    tick = grid.tick(exact)
    assert (tick.due_ns, tick.skipped, tick.late_ns) == (exact, n, 0)
    assert grid.due_ns == start + (n + 1) * NS * rate.denominator // rate.numerator


@settings(deadline=None)
@given(rate=RATES, start=st.integers(0, 2**62), waits=st.lists(st.floats(0, 4), min_size=1, max_size=60))
def test_every_deadline_is_ticked_once_or_counted_once(rate: Fraction, start: int, waits: list[float]) -> None:
    grid = TickGrid(start, rate)
    now, ticks = start, []
    for wait in waits:
        now = max(now + round(wait * grid.period_ns), grid.due_ns)
        ticks.append(grid.tick(now))
    assert [tick.index for tick in ticks] == list(range(len(ticks)))
    passed = 0
    for tick in ticks:
        passed += tick.skipped
        assert abs(tick.due_ns - start - passed * NS / rate) <= 1
        assert 0 <= tick.late_ns <= grid.period_ns + 1
        passed += 1


@pytest.mark.parametrize("fps", [0, -1.0, 1e-9])
def test_a_rate_that_never_ticks_is_refused(fps: float) -> None:
    with pytest.raises(ValueError, match="fps"):
        TickGrid(0, fps)
