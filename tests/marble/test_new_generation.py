"""new_generation in virtual time."""

from __future__ import annotations

from operators.new_generation import new_generation
from tests.marble.pictures import Picture, play


def generation(item: str) -> str | None:
    return None if item == "N" else item


def test_a_generation_passes_once_and_items_without_one_always() -> None:
    picture = Picture()
    source = picture.letters("-1-1-2-2-N-N-2-3-|")
    result = picture.result(lambda: source.pipe(new_generation(generation)))
    assert result == play("-1---2---N-N---3-|", list("12NN3"))


def test_a_generation_that_comes_back_is_new() -> None:
    picture = Picture()
    source = picture.letters("-1-2-1-|")
    assert picture.result(lambda: source.pipe(new_generation(generation))) == play("-1-2-1-|", list("121"))


def test_every_subscription_remembers_for_itself() -> None:
    picture = Picture()
    source = picture.letters("-1-1-|")
    once = source.pipe(new_generation(generation))
    seen: list[str] = []
    once.subscribe(seen.append)
    assert picture.result(lambda: once) == play("-1---|", ["1"])
    assert seen == ["1"]


def test_an_error_passes() -> None:
    picture = Picture()
    source = picture.letters("-1-X")
    assert picture.result(lambda: source.pipe(new_generation(generation))) == play("-1-X", ["1"])
