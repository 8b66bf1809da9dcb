"""The law of channels: exactly one row a tick, in order, no item doubled, none lost uncounted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from hypothesis import event, given, settings
from hypothesis import strategies as st
from reactivex.subject import Subject
from reactivex.testing import ReactiveTest, Recorded, TestScheduler

from operators.attach_imu import AHEAD_NS, AttachImu
from operators.cells import Cell, Row, Tick
from operators.device_status import DeviceStatus
from operators.events import Frame, ImuSample
from operators.follow_master import FollowMaster
from operators.latest_wins import LatestWins
from operators.oldest_frame import OldestFrame, TickFrame
from operators.rows import Channel, Fault, rows
from operators.window_points import WindowPoints
from tests.marble.pictures import S, frame_of

COLOUR, DEPTH, NEWEST, WINDOW, IMU, STATUS = range(6)
NAMES = ("colour", "depth", "newest", "window", "imu", "status")
PERIOD_S = 2
SILENCE_S = 4
LAST_S = 60
OPEN_S = 100
"""Virtual time of second 0 of a plan."""


@dataclass
class Plan:
    """What one source does: its items' seconds, how it ends, at which items and at which takes its cell raises."""

    seconds: list[int]
    end: tuple[int, Literal["C", "E"]] | None
    bad_puts: frozenset[int]
    bad_takes: frozenset[int]
    skips: list[int]

    @property
    def emitted(self) -> list[int]:
        return [s for s in self.seconds if self.end is None or s <= self.end[0]]


@dataclass
class Watched:
    """A cell that keeps a log of what went in and out, and raises where the plan says so."""

    cell: Cell[Any, Any]
    plan: Plan
    offered: int = 0
    accepted: list[Any] = field(default_factory=list)
    takes: list[tuple[Tick, Any]] = field(default_factory=list)

    @property
    def missing(self) -> Any:
        return self.cell.missing

    def put(self, item: Any) -> None:
        self.offered += 1
        if self.offered - 1 in self.plan.bad_puts:
            raise ValueError(f"bad item {self.offered - 1}")
        self.cell.put(item)
        self.accepted.append(item)

    def take(self, tick: Tick, row: Sequence[object]) -> Any:
        number = len(self.takes)
        if number in self.plan.bad_takes:
            self.takes.append((tick, self.missing))
            raise ValueError(f"bad take {number}")
        value = self.cell.take(tick, row)
        self.takes.append((tick, value))
        return value


def plans() -> st.SearchStrategy[Plan]:
    moments = st.lists(st.integers(0, LAST_S), max_size=25)
    bursts = st.lists(st.tuples(st.integers(0, LAST_S), st.integers(1, 8)), max_size=4).map(
        lambda found: [second for second, count in found for _ in range(count)]
    )
    return st.builds(
        Plan,
        seconds=st.tuples(moments, bursts).map(lambda both: sorted(both[0] + both[1])),
        end=st.none() | st.tuples(st.integers(0, LAST_S), st.sampled_from(["C", "E"])),
        bad_puts=st.frozensets(st.integers(0, 30), max_size=3),
        bad_takes=st.frozensets(st.integers(0, 20), max_size=3),
        skips=st.lists(st.integers(0, 3), min_size=4, max_size=4),
    )


def items_of(channel: int, plan: Plan, *, framesets: bool) -> list[tuple[int, Any]]:
    """(second, item) of a source; numbers skip as a lossy device's do."""
    found: list[tuple[int, Any]] = []
    number = 0
    for count, second in enumerate(plan.emitted):
        number += 1 + plan.skips[count % len(plan.skips)]
        if channel in (COLOUR, DEPTH):
            lag = plan.skips[(count + 1) % len(plan.skips)]
            stamps = {"capture_ns": (OPEN_S + second - lag) * S, "device_ns": (second - lag) * S if lag < 3 else None}
            item: Any = frame_of(count, OPEN_S + second, frameset=number if framesets else None, **stamps)
        elif channel == IMU:
            item = ImuSample(second * S + count, (0.0,) * 6)
        else:
            item = (NAMES[channel], count)
        found.append((second, item))
    return found


@settings(max_examples=300, deadline=None)
@given(
    sources=st.tuples(*(plans() for _ in NAMES)),
    beats=st.lists(st.integers(0, LAST_S), max_size=25).map(sorted),
    echoes=st.dictionaries(st.integers(0, 20), st.integers(1, 3), max_size=3),
    late_s=st.sampled_from([-0.5, -0.5, 10.5, 40.5]),
    framesets=st.booleans(),
    bounds=st.tuples(st.integers(1, 4), st.integers(1, 4), st.integers(1, 6), st.integers(1, 6)),
)
def test_law_of_channels(
    sources: tuple[Plan, ...],
    beats: list[int],
    echoes: dict[int, int],
    late_s: float,
    framesets: bool,
    bounds: tuple[int, int, int, int],
) -> None:
    scheduler = TestScheduler()
    colour, depth = OldestFrame(PERIOD_S * S, bounds[0]), FollowMaster(COLOUR, bounds[1])
    newest: LatestWins[Any] = LatestWins()
    window: WindowPoints[Any] = WindowPoints(bounds[2])
    imu, status = AttachImu(COLOUR, bounds[3]), DeviceStatus(SILENCE_S * S)
    made: tuple[Cell[Any, Any], ...] = (colour, depth, newest, window, imu, status)
    cells = [Watched(cell, plan) for cell, plan in zip(made, sources, strict=True)]
    plan_items = [items_of(number, plan, framesets=framesets) for number, plan in enumerate(sources)]
    hot = [
        scheduler.create_hot_observable(messages(plan, items)) for plan, items in zip(sources, plan_items, strict=True)
    ]

    ticks: Subject[Tick] = Subject()
    sent: list[Tick] = []
    got: list[Row] = []
    faults: list[Fault] = []
    ends: list[str] = []

    def tick() -> None:
        at_ns = round(scheduler.clock * S)
        beat = Tick(len(sent), at_ns, at_ns)
        if scheduler.clock > OPEN_S + late_s:
            sent.append(beat)
        ticks.on_next(beat)

    inside: list[Row] = []

    def on_row(row: Row) -> None:
        # A re-entrant tick waits until this row is out.
        assert not inside
        inside.append(row)
        got.append(row)
        for _ in range(echoes.get(len(got), 0)):
            tick()
        inside.clear()

    def open_rows(*_: Any) -> None:
        channels = [Channel(name, source, cell) for name, source, cell in zip(NAMES, hot, cells, strict=True)]
        rows(ticks, channels, faults.append).subscribe(
            on_row, lambda _error: ends.append("X"), lambda: ends.append("|"), scheduler=scheduler
        )

    scheduler.schedule_absolute(OPEN_S + late_s, open_rows)
    for second in beats:
        scheduler.schedule_absolute(float(OPEN_S + second), lambda *_: tick())
    scheduler.schedule_absolute(float(OPEN_S + LAST_S + 1), lambda *_: ticks.on_completed())
    scheduler.start()

    event(f"rows: {min(len(got), 30) // 10 * 10}+, late: {late_s > 0}, re-entrant: {len(sent) > len(beats)}")

    # Exactly one row a tick, in tick order, then the end.
    assert [row.tick for row in got] == sent
    assert ends == ["|"]
    # Each value is the one that its own cell gave for that very tick: nobody is shifted.
    for number, cell in enumerate(cells):
        assert [moment for moment, _value in cell.takes] == sent
        assert [row.values[number] for row in got] == [value for _moment, value in cell.takes]
    # Every failure is told once, under its own name.
    for number, (name, cell, plan) in enumerate(zip(NAMES, cells, sources, strict=True)):
        bad = sum(n < cell.offered for n in plan.bad_puts) + sum(n < len(got) for n in plan.bad_takes)
        errored = plan.end is not None and plan.end[1] == "E" and plan.end[0] > late_s
        assert sum(fault.channel == name for fault in faults) == bad + errored
        assert cell.offered == sum(second > late_s for second, _item in plan_items[number])

    check_frames(cells[COLOUR], colour, got, COLOUR)
    check_frames(cells[DEPTH], depth, got, DEPTH)
    check_partners(got)
    samples = [sample for row in got for sample in listed(row.values[IMU])]
    check_once(cells[IMU], samples)
    assert len(samples) + imu.dropped + imu.waiting == len(cells[IMU].accepted)
    check_samples(got)
    check_newest(cells[NEWEST], newest, plan_items[NEWEST])
    check_window(cells[WINDOW], window, plan_items[WINDOW], bounds[2])
    check_status(cells[STATUS], plan_items[STATUS])


def messages(plan: Plan, items: list[tuple[int, Any]]) -> list[Recorded[Any]]:
    found: list[Recorded[Any]] = [ReactiveTest.on_next(OPEN_S + second, item) for second, item in items]
    if plan.end is not None:
        second, kind = plan.end
        at = OPEN_S + second
        found.append(ReactiveTest.on_completed(at) if kind == "C" else ReactiveTest.on_error(at, RuntimeError("gone")))
    return found


def listed(value: object) -> list[Any]:
    assert isinstance(value, list)
    return value


def check_once(cell: Watched, shown: list[Any]) -> None:
    """Shown items are a subsequence of those accepted: in order, none twice, none from elsewhere."""
    rest = iter(cell.accepted)
    assert all(any(item is one for one in rest) for item in shown)


def check_frames(cell: Watched, inner: OldestFrame | FollowMaster, got: list[Row], place: int) -> None:
    new: list[Frame] = []
    for row in got:
        value = row.values[place]
        if value is None:
            continue
        assert isinstance(value, TickFrame)
        if value.repeated:
            # A repeat is the last new frame again, and never a first one.
            assert value.frame is new[-1]
        else:
            new.append(value.frame)
    check_once(cell, new)
    assert len(new) + inner.dropped + inner.waiting == len(cell.accepted)
    assert inner.waiting <= 4


def check_partners(got: list[Row]) -> None:
    """A depth frame that counts as new belongs to the colour frame beside it."""
    for row in got:
        master, depth = row.values[COLOUR], row.values[DEPTH]
        if isinstance(depth, TickFrame) and not depth.repeated:
            assert isinstance(master, TickFrame)
            if depth.frame.frameset is None:
                assert depth.frame.best_ns <= master.frame.best_ns
            else:
                assert depth.frame.frameset == master.frame.frameset


def check_samples(got: list[Row]) -> None:
    """A sample stands on the row of a new frame that it does not come after."""
    for row in got:
        master = row.values[COLOUR]
        samples = listed(row.values[IMU])
        if not isinstance(master, TickFrame) or master.repeated:
            assert samples == []
        elif master.frame.device_ns is not None:
            ahead = [sample.device_ns - master.frame.device_ns for sample in samples]
            assert all(ns <= 0 or ns > AHEAD_NS for ns in ahead)


def check_newest(cell: Watched, inner: LatestWins[Any], items: list[tuple[int, Any]]) -> None:
    passed_over = 0
    for fresh, value in windows(cell, items):
        assert value is (fresh[-1] if fresh else None)
        passed_over += max(0, len(fresh) - 1)
    after = len(cell.accepted) - sum(len(fresh) for fresh, _value in windows(cell, items))
    assert inner.passed_over == passed_over + max(0, after - 1)


def check_window(cell: Watched, inner: WindowPoints[Any], items: list[tuple[int, Any]], bound: int) -> None:
    dropped = 0
    for fresh, value in windows(cell, items):
        assert value == fresh[-bound:]
        dropped += max(0, len(fresh) - bound)
    after = len(cell.accepted) - sum(len(fresh) for fresh, _value in windows(cell, items))
    assert (inner.dropped, inner.waiting) == (dropped + max(0, after - bound), min(after, bound))


def check_status(cell: Watched, items: list[tuple[int, Any]]) -> None:
    heard_s: float | None = None
    moments = [beat.at_ns / S for number, (beat, _value) in enumerate(cell.takes) if number not in cell.plan.bad_takes]
    for at_s, (fresh, value) in zip(moments, windows(cell, items), strict=True):
        heard_s = at_s if fresh else heard_s
        there = heard_s is not None and at_s - heard_s <= SILENCE_S
        assert value == ("connected" if there else "disconnected")


def windows(cell: Watched, items: list[tuple[int, Any]]) -> list[tuple[list[Any], Any]]:
    """For each take that did not raise: the items that its window must hold, and the value that it gave.

    An item at a tick's own second counts before the tick; what a raising take left is the next one's.
    """
    second_of = {id(item): second for second, item in items}
    found: list[tuple[list[Any], Any]] = []
    rest = list(cell.accepted)
    for number, (beat, value) in enumerate(cell.takes):
        if number in cell.plan.bad_takes:
            continue
        fresh = [item for item in rest if OPEN_S + second_of[id(item)] <= beat.at_ns / S]
        rest = rest[len(fresh) :]
        found.append((fresh, value))
    return found
