"""oldest_frame in virtual time."""

from __future__ import annotations

import pytest

from operators.cells import Tick
from operators.oldest_frame import OldestFrame, TickFrame, oldest_frame
from tests.marble.pictures import Picture, S, frame_of, play

PERIOD_S = 5


def tick_at(second: float) -> Tick:
    return Tick(0, round(second * S), round(second * S))


def taken(cell: OldestFrame, second: float) -> int | None:
    value = cell.take(tick_at(second), ())
    return None if value is None else value.frame.seq


def test_the_head_a_tick_and_the_last_again_flagged() -> None:
    picture = Picture()
    source = picture.frames("-a-bc-----------d-|")
    ticks = picture.ticks("--t----t----t----t----t-|")
    result = picture.result(lambda: source.pipe(oldest_frame(ticks, PERIOD_S * S)))
    assert result == play("--t----t----t----t----t-|", ["a", "b", "c", "d", "d*"])


def test_before_the_first_frame_there_is_none() -> None:
    picture = Picture()
    source = picture.frames("-------a--|")
    ticks = picture.ticks("--t----t----t|")
    result = picture.result(lambda: source.pipe(oldest_frame(ticks, PERIOD_S * S)))
    assert result == play("--t----t----t|", [None, "a", "a*"])


def test_a_dead_camera_goes_on_as_repeats() -> None:
    picture = Picture()
    source = picture.frames("-a-X")
    ticks = picture.ticks("--t--t--t|")
    result = picture.result(lambda: source.pipe(oldest_frame(ticks, 3 * S)))
    assert result == play("--t--t--t|", ["a", "a*", "a*"])


def test_a_head_older_than_three_periods_goes_counted_and_the_newest_never() -> None:
    cell = OldestFrame(period_ns=S)
    for seq, at in enumerate((0.0, 1.0, 2.0, 3.0)):
        cell.put(frame_of(seq, at))
    assert taken(cell, 5.5) == 3
    assert cell.dropped == 3
    cell.put(frame_of(4, 6.0))
    assert taken(cell, 60.0) == 4
    assert cell.dropped == 3
    assert cell.late_max_ns == 54 * S


def test_a_head_of_exactly_three_periods_is_shown() -> None:
    cell = OldestFrame(period_ns=S)
    cell.put(frame_of(0, 0.0))
    cell.put(frame_of(1, 1.0))
    assert taken(cell, 3.0) == 0
    assert cell.dropped == 0


def test_a_full_queue_loses_its_oldest_counted() -> None:
    cell = OldestFrame(period_ns=S, bound=2)
    for seq in range(5):
        cell.put(frame_of(seq, 0.0))
    assert cell.waiting == 2
    assert cell.dropped == 3
    assert taken(cell, 0.1) == 3


@pytest.mark.parametrize("fps", [25.0, 29.97, 30.0, 30.84, 60.0])
def test_lag_stays_within_three_periods_for_every_source_rate(fps: float) -> None:
    period = 1 / 30
    cell = OldestFrame(period_ns=round(period * S))
    put = shown = 0
    for n in range(1, 3000):
        while put / fps <= n * period:
            cell.put(frame_of(put, put / fps))
            put += 1
        value = cell.take(tick_at(n * period), ())
        assert value is not None
        shown += not value.repeated
    assert cell.late_max_ns <= 3 * period * S + 1
    assert put == shown + cell.dropped + cell.waiting
    assert shown == 2999 - cell.repeated


def test_the_end_waits_only_for_frames_captured_before_the_stop() -> None:
    cell = OldestFrame(period_ns=S)
    cell.put(frame_of(0, 1.0))
    cell.put(frame_of(1, 3.0, capture_ns=round(2.5 * S)))
    assert cell.has_before(2 * S)
    assert (cell.left_before(2 * S), cell.left_before(3 * S)) == (1, 2)
    assert taken(cell, 3.0) == 0
    assert not cell.has_before(2 * S)
    assert cell.has_before(3 * S)


def test_clear_forgets_frames_and_counters() -> None:
    cell = OldestFrame(period_ns=S, bound=1)
    cell.put(frame_of(0, 0.0))
    cell.put(frame_of(1, 1.0))
    cell.take(tick_at(2.0), ())
    cell.take(tick_at(3.0), ())
    cell.clear()
    assert cell.take(tick_at(4.0), ()) is None
    assert (cell.dropped, cell.repeated, cell.late_max_ns, cell.waiting, cell.last_host_ns) == (0, 0, 0, 0, None)


def test_a_queue_without_room_is_refused() -> None:
    with pytest.raises(ValueError, match="bound"):
        OldestFrame(S, bound=0)


def test_a_repeat_is_the_same_frame_object() -> None:
    cell = OldestFrame(period_ns=S)
    frame = frame_of(0, 0.0)
    cell.put(frame)
    first, second = cell.take(tick_at(1), ()), cell.take(tick_at(2), ())
    assert isinstance(first, TickFrame)
    assert isinstance(second, TickFrame)
    assert first.frame is second.frame is frame
    assert (first.repeated, second.repeated) == (False, True)
