"""The tick thread on a made-up clock: no test waits for real time."""

from __future__ import annotations

import threading
from fractions import Fraction

import pytest

from operators import tick_thread
from operators.cells import Tick
from operators.tick_thread import TickThread

MS = 1_000_000


class MadeUpTime:
    """Stands in for the module ``time``: sleeping moves the clock on."""

    def __init__(self, now_ns: int = 5_000 * MS, oversleep_ns: int = 0) -> None:
        self.now_ns = now_ns
        self.oversleep_ns = oversleep_ns
        self.sleeps: list[float] = []

    def monotonic_ns(self) -> int:
        return self.now_ns

    def sleep(self, seconds: float) -> None:
        assert seconds > 0
        self.sleeps.append(seconds)
        self.now_ns += round(seconds * 1e9) + self.oversleep_ns


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> MadeUpTime:
    made_up = MadeUpTime()
    monkeypatch.setattr(tick_thread, "time", made_up)
    return made_up


def run(
    fps: float | Fraction,
    count: int,
    clock: MadeUpTime,
    *,
    first_due_ns: int | None = None,
    work_ns: dict[int, int] | None = None,
) -> list[Tick]:
    """The first ``count`` ticks; the work of tick n takes ``work_ns[n]``."""
    ticks: list[Tick] = []

    def on_tick(tick: Tick) -> None:
        ticks.append(tick)
        clock.now_ns += (work_ns or {}).get(tick.index, 0)
        if len(ticks) == count:
            thread.stop()

    thread = TickThread(fps, on_tick, first_due_ns=first_due_ns)
    thread.start()
    assert thread.join(10)
    assert thread.error is None
    assert not thread.alive
    return ticks


def test_the_first_tick_is_one_period_after_the_start(clock: MadeUpTime) -> None:
    ticks = run(25, 3, clock)
    assert [tick.due_ns // MS for tick in ticks] == [5040, 5080, 5120]
    assert [tick.index for tick in ticks] == [0, 1, 2]


def test_the_first_deadline_can_be_named(clock: MadeUpTime) -> None:
    assert [tick.due_ns // MS for tick in run(25, 2, clock, first_due_ns=7_000 * MS)] == [7000, 7040]


def test_oversleeping_does_not_accumulate(clock: MadeUpTime) -> None:
    clock.oversleep_ns = 3 * MS
    ticks = run(Fraction(30_000, 1001), 300, clock, first_due_ns=6_000 * MS)
    assert {tick.skipped for tick in ticks} == {0}
    assert ticks[299].due_ns == 6_000 * MS + 299 * 1001 * 10**9 // 30_000
    assert all(0 <= tick.late_ns <= 3 * MS for tick in ticks)


def test_a_slow_tick_is_caught_up_and_a_very_slow_one_skips_counted(clock: MadeUpTime) -> None:
    ticks = run(100, 6, clock, first_due_ns=6_000 * MS, work_ns={0: 15 * MS, 2: 47 * MS})
    assert [(t.due_ns // MS, t.at_ns // MS, t.skipped) for t in ticks] == [
        (6000, 6000, 0),
        (6010, 6015, 0),
        (6020, 6020, 0),
        (6060, 6067, 3),
        (6070, 6070, 0),
        (6080, 6080, 0),
    ]


def test_stopping_from_another_thread_ends_a_long_sleep_without_a_tick(monkeypatch: pytest.MonkeyPatch) -> None:
    sleeping, stopped = threading.Event(), threading.Event()

    class Waits(MadeUpTime):
        def sleep(self, seconds: float) -> None:
            assert seconds <= 0.1
            sleeping.set()
            assert stopped.wait(10)
            super().sleep(seconds)

    monkeypatch.setattr(tick_thread, "time", Waits())
    ticks: list[Tick] = []
    thread = TickThread(0.001, ticks.append)
    thread.start()
    assert sleeping.wait(10)
    assert thread.alive
    thread.stop()
    stopped.set()
    assert thread.join(10)
    assert ticks == []


@pytest.mark.parametrize("error", [OSError("disk full"), SystemExit(3)])
def test_what_a_tick_raises_ends_the_thread_and_is_kept(clock: MadeUpTime, error: BaseException) -> None:
    def raises(tick: Tick) -> None:
        raise error

    thread = TickThread(30, raises)
    thread.start()
    assert thread.join(10)
    assert thread.error is error


def test_a_thread_stopped_before_its_start_never_ticks(clock: MadeUpTime) -> None:
    ticks: list[Tick] = []
    thread = TickThread(30, ticks.append)
    thread.stop()
    thread.start()
    assert thread.join(10)
    assert ticks == []


def test_a_rate_that_never_ticks_is_refused_when_the_thread_is_made() -> None:
    with pytest.raises(ValueError, match="fps"):
        TickThread(0, lambda _tick: None)


def test_the_thread_has_the_given_name(clock: MadeUpTime) -> None:
    names: list[str] = []

    def on_tick(_tick: Tick) -> None:
        names.append(threading.current_thread().name)
        made.stop()

    made = TickThread(30, on_tick, name="ticks of the take")
    made.start()
    assert made.join(10)
    assert names == ["ticks of the take"]
