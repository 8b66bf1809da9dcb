"""window_points in virtual time."""

from __future__ import annotations

import pytest

from operators.window_points import WindowPoints, window_points
from tests.marble.pictures import Picture, play


def test_every_item_of_the_window_in_order() -> None:
    picture = Picture()
    source = picture.letters("-a-bc-----d---|")
    ticks = picture.ticks("---t----t----t-|")
    result = picture.result(lambda: source.pipe(window_points(ticks)))
    assert result == play("---t----t----t-|", [["a", "b"], ["c"], ["d"]])


def test_an_item_at_the_border_stands_on_one_row_only() -> None:
    picture = Picture()
    source = picture.letters("--abcdefgh|")
    ticks = picture.ticks("---t-t--t--t|")
    result = picture.result(lambda: source.pipe(window_points(ticks)))
    assert result == play("---t-t--t--t|", [["a", "b"], ["c", "d"], ["e", "f", "g"], ["h"]])


def test_a_silent_window_gives_an_empty_list() -> None:
    picture = Picture()
    source = picture.letters("|")
    ticks = picture.ticks("--t--t|")
    assert picture.result(lambda: source.pipe(window_points(ticks))) == play("--t--t|", [[], []])


def test_a_flooded_window_loses_its_oldest_counted() -> None:
    cell: WindowPoints[int] = WindowPoints(bound=3)
    for item in range(5):
        cell.put(item)
    assert cell.waiting == 3
    assert cell.take(None, ()) == [2, 3, 4]
    assert cell.dropped == 2


def test_no_row_sees_the_list_of_another_change() -> None:
    cell: WindowPoints[int] = WindowPoints()
    cell.put(1)
    first = cell.take(None, ())
    cell.put(2)
    assert first == [1]
    assert cell.missing is not cell.missing


def test_a_window_without_room_is_refused() -> None:
    with pytest.raises(ValueError, match="bound"):
        WindowPoints(bound=0)
