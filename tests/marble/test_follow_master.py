"""follow_master in virtual time."""

from __future__ import annotations

from typing import Any

import pytest
import reactivex as rx

from operators.cells import Row, Tick
from operators.events import Frame
from operators.follow_master import FollowMaster, follow_master
from operators.oldest_frame import OldestFrame, TickFrame
from operators.rows import Channel, rows
from tests.marble.pictures import START_S, Picture, S, frame_of, name_of, play


def shown(frame: Frame, *, repeated: bool = False) -> tuple[TickFrame]:
    return (TickFrame(frame, repeated=repeated),)


def tick() -> Tick:
    return Tick(0, 0, 10 * S)


def set_frame(frameset: int | None, seq: int | None = None) -> Frame:
    number = frameset if seq is None else seq
    assert number is not None
    return frame_of(number, 1.0, frameset=frameset)


def partner(cell: FollowMaster, master: Frame, *, repeated: bool = False) -> tuple[int | None, bool] | None:
    value = cell.take(tick(), shown(master, repeated=repeated))
    return None if value is None else (value.frame.seq, value.repeated)


def follow(picture: Picture, master: str, depth: str, beats: str) -> list[tuple[float, Any]]:
    """The lifted operator behind the master's rows; digits are frame numbers and, as capture times, seconds."""

    def numbered(marbles: str) -> rx.Observable[Any]:
        return picture.hot(
            marbles,
            lambda letter, second: frame_of(ord(letter), START_S + second, capture_ns=int(letter) * S),
        )

    colour, follower, ticks = numbered(master), numbered(depth), picture.ticks(beats)
    faults: list[object] = []
    masters = rows(ticks, [Channel("colour", colour, OldestFrame(5 * S))], faults.append)
    result = picture.result(lambda: follower.pipe(follow_master(masters, 0)))
    assert faults == []
    return result


def test_the_partner_that_comes_late_has_its_row_while_the_master_is_shown_again() -> None:
    result = follow(
        Picture(),
        "--1----2---------3|",
        "--1---------2------|",
        "---t----t----t----t-|",
    )
    assert result == play("---t----t----t----t-|", ["1", "1*", "2", "2*"])


def test_depth_newer_than_the_masters_frame_waits() -> None:
    result = follow(Picture(), "-1---2---|", "-12------|", "--t---t--t|")
    assert result == play("--t---t--t|", ["1", "2", "2*"])


def test_the_newest_not_newer_belongs_and_those_passed_are_counted() -> None:
    cell = FollowMaster(0)
    for seq in range(4):
        cell.put(frame_of(seq, seq, capture_ns=seq * 10))
    assert partner(cell, frame_of(0, 9, capture_ns=25)) == (2, False)
    assert (cell.dropped, cell.waiting) == (2, 1)


def test_the_same_frameset_belongs_whatever_the_stamps() -> None:
    cell = FollowMaster(0)
    cell.put(frame_of(7, 1, frameset=7, capture_ns=99 * S))
    assert partner(cell, frame_of(0, 1, frameset=7, capture_ns=1)) == (7, False)


def test_a_lost_partner_repeats_the_last_flagged_and_never_takes_another_set() -> None:
    cell = FollowMaster(0)
    cell.put(set_frame(1))
    cell.put(set_frame(3))
    assert partner(cell, set_frame(1)) == (1, False)
    assert partner(cell, set_frame(2)) == (1, True)
    assert partner(cell, set_frame(3)) == (3, False)
    assert (cell.dropped, cell.repeated) == (0, 1)


def test_a_master_frame_that_was_dropped_takes_its_partner_with_it_counted() -> None:
    cell = FollowMaster(0)
    for number in (1, 2, 3):
        cell.put(set_frame(number))
    assert partner(cell, set_frame(3)) == (3, False)
    assert cell.dropped == 2


def test_framesets_that_start_anew_after_a_restart_are_found_at_once() -> None:
    cell = FollowMaster(0)
    for number in (1000, 1001, 0):
        cell.put(set_frame(number))
    assert partner(cell, set_frame(0)) == (0, False)
    assert (cell.dropped, cell.waiting) == (2, 0)


def test_a_stamp_far_in_the_future_holds_up_nobody() -> None:
    cell = FollowMaster(0)
    cell.put(frame_of(1, 1, capture_ns=10**15))
    cell.put(frame_of(2, 1, capture_ns=20))
    assert partner(cell, frame_of(0, 1, capture_ns=25)) == (2, False)
    assert cell.dropped == 1


def test_a_frame_without_frameset_is_matched_by_time() -> None:
    cell = FollowMaster(0)
    cell.put(frame_of(5, 0.5))
    assert partner(cell, frame_of(9, 1.0, frameset=4)) == (5, False)


def test_a_row_without_master_repeats() -> None:
    cell = FollowMaster(0)
    assert cell.take(tick(), (None,)) is None
    cell.put(set_frame(1))
    assert partner(cell, set_frame(1)) == (1, False)
    assert name_of(cell.take(tick(), (None,))) == "\x01*"


def test_a_master_shown_again_shows_its_partner_again() -> None:
    cell = FollowMaster(0)
    cell.put(set_frame(1))
    assert partner(cell, set_frame(1)) == (1, False)
    assert partner(cell, set_frame(1), repeated=True) == (1, True)


def test_nothing_that_the_master_does_not_show_is_waited_for_but_it_is_counted() -> None:
    cell = FollowMaster(0)
    cell.put(frame_of(1, 1.0))
    assert not cell.has_before(2 * S)
    assert cell.left_before(2 * S) == 1


def test_a_full_queue_loses_its_oldest_counted() -> None:
    cell = FollowMaster(0, bound=2)
    for number in range(5):
        cell.put(set_frame(number))
    assert (cell.waiting, cell.dropped) == (2, 3)
    with pytest.raises(ValueError, match="bound"):
        FollowMaster(0, bound=0)


def test_the_lifted_operator_needs_the_masters_row() -> None:
    picture = Picture()
    depth, ticks = picture.frames("-a-|"), picture.ticks("--t|")
    assert picture.result(lambda: depth.pipe(follow_master(ticks, 0))) == play("--X", [])


def test_a_row_is_a_tick_with_what_stands_before() -> None:
    row = Row(tick(), shown(set_frame(1)))
    cell = FollowMaster(0)
    cell.put(set_frame(1))
    assert cell.take(row.tick, row.values) is not None
