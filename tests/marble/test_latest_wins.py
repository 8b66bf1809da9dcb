"""latest_wins in virtual time."""

from __future__ import annotations

from operators.latest_wins import LatestWins, latest_wins
from tests.marble.pictures import Picture, play


def test_newest_of_the_window_wins_and_a_silent_window_gives_none() -> None:
    picture = Picture()
    source = picture.letters("--a-b--------c--|")
    ticks = picture.ticks("-----t----t----t----t-|")
    result = picture.result(lambda: source.pipe(latest_wins(ticks)))
    assert result == play("     t----t----t----t-|".replace(" ", "-"), ["b", None, "c", None])


def test_an_item_at_the_ticks_own_time_counts_before_the_tick() -> None:
    picture = Picture()
    source = picture.letters("---a--|")
    ticks = picture.ticks("---t--t|")
    assert picture.result(lambda: source.pipe(latest_wins(ticks))) == play("---t--t|", ["a", None])


def test_the_ticks_go_on_when_the_source_fails() -> None:
    picture = Picture()
    source = picture.letters("-a-X")
    ticks = picture.ticks("--t--t-t|")
    assert picture.result(lambda: source.pipe(latest_wins(ticks))) == play("--t--t-t|", ["a", None, None])


def test_the_ticks_go_on_when_the_source_completes() -> None:
    picture = Picture()
    source = picture.letters("-a|")
    ticks = picture.ticks("--t--t-t|")
    assert picture.result(lambda: source.pipe(latest_wins(ticks))) == play("--t--t-t|", ["a", None, None])


def test_a_failing_clock_ends_the_result_with_its_error() -> None:
    picture = Picture()
    source = picture.letters("-a-b-c-d")
    ticks = picture.ticks("--t-X")
    assert picture.result(lambda: source.pipe(latest_wins(ticks))) == play("--t-X", ["a"])


def test_items_that_a_newer_one_replaced_are_counted() -> None:
    cell: LatestWins[str] = LatestWins()
    for item in "abc":
        cell.put(item)
    assert cell.passed_over == 2
    cell.clear()
    assert cell.passed_over == 0
