"""rows in virtual time: the cases that the law of channels names one by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
import reactivex as rx
from reactivex import operators as ops
from reactivex.subject import Subject

from operators.cells import Row, Tick, at_ticks
from operators.latest_wins import LatestWins
from operators.rows import Channel, Fault, rows
from operators.window_points import WindowPoints
from tests.marble.pictures import Picture, play


class Broken(LatestWins[Any]):
    """Raises where it is told to."""

    def __init__(self, *, take: bool = False, put: bool = False) -> None:
        super().__init__()
        self.break_take, self.break_put = take, put

    def put(self, item: Any) -> None:
        if self.break_put:
            raise ValueError(f"cannot take in {item}")
        super().put(item)

    def take(self, tick: object, row: Sequence[object]) -> Any:
        if self.break_take:
            raise ValueError("cannot give")
        return super().take(tick, row)


def values(row: object) -> object:
    return row.values if isinstance(row, Row) else row


def result_of(picture: Picture, create: Callable[[], rx.Observable[Row]]) -> list[tuple[float, Any]]:
    return [(second, values(value)) for second, value in picture.result(create)]


def test_one_row_a_tick_with_one_value_of_every_cell() -> None:
    picture = Picture()
    a, b = picture.letters("-a--b-------X"), picture.letters("--1-----2-|")
    ticks = picture.ticks("---t---t---t---t-|")
    faults: list[Fault] = []
    channels = [Channel("a", a, LatestWins()), Channel("b", b, WindowPoints())]
    result = result_of(picture, lambda: rows(ticks, channels, faults.append))
    assert result == play("---t---t---t---t-|", [("a", ["1"]), ("b", []), (None, ["2"]), (None, [])])
    assert [(fault.channel, str(fault.error), fault.tick) for fault in faults] == [("a", "unplugged", None)]


def test_rows_without_a_channel_still_tick() -> None:
    picture = Picture()
    ticks = picture.ticks("-t-t|")
    assert result_of(picture, lambda: rows(ticks, [], lambda _fault: None)) == play("-t-t|", [(), ()])


def test_a_cell_sees_what_earlier_cells_gave() -> None:
    class Copies(LatestWins[Any]):
        def take(self, tick: object, row: Sequence[object]) -> Any:
            return tuple(row)

    picture = Picture()
    a, ticks = picture.letters("-a"), picture.ticks("--t-t|")
    channels = [Channel("a", a, LatestWins()), Channel("copy", rx.never(), Copies())]
    result = result_of(picture, lambda: rows(ticks, channels, lambda _fault: None))
    assert result == play("--t-t|", [("a", ("a",)), (None, (None,))])


def test_a_cell_that_raises_gives_missing_and_shifts_nobody() -> None:
    picture = Picture()
    a, b, ticks = picture.letters("-a-b-c|"), picture.letters("-1-2-3|"), picture.ticks("--t-t-t|")
    broken = Broken()
    broken.missing = "gone"
    channels = [Channel("broken", a, broken), Channel("b", b, LatestWins())]
    faults: list[Fault] = []

    def breaks_on_the_second(row: Row) -> Row:
        broken.break_take = row.tick.index == 0
        return row

    result = result_of(picture, lambda: rows(ticks, channels, faults.append).pipe(ops.map(breaks_on_the_second)))
    assert result == play("--t-t-t|", [("a", "1"), ("gone", "2"), ("c", "3")])
    assert [(fault.channel, fault.tick and fault.tick.index) for fault in faults] == [("broken", 1)]


def test_a_cell_that_refuses_an_item_loses_that_item_only() -> None:
    picture = Picture()
    a, ticks = picture.letters("-a-b|"), picture.ticks("--t-t|")
    broken = Broken(put=True)
    faults: list[Fault] = []

    def mends(row: Row) -> Row:
        broken.break_put = False
        return row

    channels = [Channel("a", a, broken)]
    result = result_of(picture, lambda: rows(ticks, channels, faults.append).pipe(ops.map(mends)))
    assert result == play("--t-t|", [(None,), ("b",)])
    assert [(fault.channel, str(fault.error)) for fault in faults] == [("a", "cannot take in a")]


def test_a_broken_cell_without_missing_gives_none() -> None:
    class Hopeless:
        @property
        def missing(self) -> object:
            raise RuntimeError("nor that")

        def put(self, item: object) -> None: ...

        def take(self, tick: Tick, row: Sequence[object]) -> object:
            raise ValueError("cannot give")

    picture = Picture()
    ticks = picture.ticks("-t|")
    faults: list[Fault] = []
    channels = [Channel("hopeless", rx.never(), Hopeless()), Channel("b", rx.never(), WindowPoints())]
    assert result_of(picture, lambda: rows(ticks, channels, faults.append)) == play("-t|", [(None, [])])
    assert len(faults) == 1


def test_who_listens_to_faults_cannot_cost_a_row() -> None:
    def raises(_fault: Fault) -> None:
        raise RuntimeError("the listener is broken too")

    picture = Picture()
    a, ticks = picture.letters("-X"), picture.ticks("--t-t|")
    channels = [Channel("a", a, Broken(take=True))]
    assert result_of(picture, lambda: rows(ticks, channels, raises)) == play("--t-t|", [(None,), (None,)])


def test_a_source_that_cannot_be_opened_is_a_fault_and_the_rows_go_on() -> None:
    def refuses(_observer: object, _scheduler: object) -> Any:
        raise OSError("no such device")

    picture = Picture()
    ticks = picture.ticks("-t|")
    faults: list[Fault] = []
    channels = [Channel("a", rx.Observable(refuses), LatestWins())]
    assert result_of(picture, lambda: rows(ticks, channels, faults.append)) == play("-t|", [(None,)])
    assert [str(fault.error) for fault in faults] == ["no such device"]


def test_what_a_source_gives_when_it_is_opened_is_in_the_first_row() -> None:
    picture = Picture()
    ticks = picture.ticks("-t-t|")

    def at_once(observer: Any, _scheduler: object) -> Any:
        observer.on_next("hello")
        return lambda: None

    channels = [Channel("a", rx.Observable(at_once), LatestWins())]
    result = result_of(picture, lambda: rows(ticks, channels, lambda _fault: None))
    assert result == play("-t-t|", [("hello",), (None,)])


def test_a_re_entrant_tick_waits_until_the_row_is_out() -> None:
    ticks: Subject[Tick] = Subject()
    items: Subject[int] = Subject()
    log: list[str] = []

    def subscriber(row: Row) -> None:
        log.append(f"in {row.tick.index} {row.values[0]}")
        if row.tick.index < 2:
            items.on_next(row.tick.index)
            ticks.on_next(Tick(row.tick.index + 1, 0, 0))
        log.append(f"out {row.tick.index}")

    rows(ticks, [Channel("a", items, WindowPoints())], lambda _fault: None).subscribe(subscriber)
    ticks.on_next(Tick(0, 0, 0))
    assert log == ["in 0 []", "out 0", "in 1 [0]", "out 1", "in 2 [1]", "out 2"]


@pytest.mark.parametrize("failing", [False, True])
def test_the_end_of_the_ticks_waits_for_re_entrant_ticks(failing: bool) -> None:
    ticks: Subject[Tick] = Subject()
    log: list[object] = []

    def subscriber(row: Row) -> None:
        log.append(row.tick.index)
        if row.tick.index == 0:
            ticks.on_next(Tick(1, 0, 0))
            ticks.on_error(RuntimeError("clock")) if failing else ticks.on_completed()

    rows(ticks, [], lambda _fault: None).subscribe(
        subscriber, lambda error: log.append(str(error)), lambda: log.append("end")
    )
    ticks.on_next(Tick(0, 0, 0))
    assert log == [0, 1, "clock" if failing else "end"]


def test_what_the_subscriber_raises_goes_to_the_clock_and_the_next_rows_come() -> None:
    ticks: Subject[Tick] = Subject()
    seen: list[int] = []

    def subscriber(row: Row) -> None:
        seen.append(row.tick.index)
        if row.tick.index == 0:
            ticks.on_next(Tick(1, 0, 0))
            raise OSError("disk full")

    rows(ticks, [], lambda _fault: None).subscribe(subscriber)
    with pytest.raises(OSError, match="disk full"):
        ticks.on_next(Tick(0, 0, 0))
    ticks.on_next(Tick(2, 0, 0))
    assert seen == [0, 1, 2]


def test_disposing_lets_go_of_every_source_and_of_the_clock() -> None:
    ticks: Subject[Tick] = Subject()
    items: Subject[int] = Subject()
    seen: list[Row] = []
    subscription = rows(ticks, [Channel("a", items, LatestWins())], lambda _fault: None).subscribe(seen.append)
    ticks.on_next(Tick(0, 0, 0))
    subscription.dispose()
    ticks.on_next(Tick(1, 0, 0))
    assert len(seen) == 1
    assert ticks.observers == []
    assert items.observers == []


def test_a_lifted_cell_that_raises_ends_its_own_result_with_the_error() -> None:
    for broken in (at_ticks(lambda: Broken(take=True)), at_ticks(lambda: Broken(put=True))):
        picture = Picture()
        source, ticks = picture.letters("--a"), picture.ticks("--t-t|")
        operator = broken
        assert picture.result(lambda: source.pipe(operator(ticks))) == play("--X", [])  # noqa: B023
