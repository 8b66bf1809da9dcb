"""Marble pictures of ticks, frames and rows, for tests in virtual time: one character is one second."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import reactivex as rx
from reactivex import Notification
from reactivex.testing import ReactiveTest, Recorded, TestScheduler

from operators.cells import Tick
from operators.events import Frame
from operators.oldest_frame import TickFrame

__all__ = ["START_S", "Picture", "S", "frame_of", "name_of", "play"]

S = 1_000_000_000
START_S = 200
"""When the test scheduler subscribes."""

_PIXEL = np.zeros((1, 1), dtype=np.uint8)


def frame_of(seq: int, at_s: float, **stamps: Any) -> Frame:
    """A frame that is told by its number."""
    return Frame(_PIXEL, "gray", host_ns=round(at_s * S), seq=seq, **stamps)


def name_of(value: object) -> object:
    """How a picture writes a value: a frame by its letter, a repeated one with a star."""
    if isinstance(value, TickFrame):
        assert value.frame.seq is not None
        return chr(value.frame.seq) + ("*" if value.repeated else "")
    return value


class Picture:
    """Parses marble strings on one test scheduler; the first character is the moment of subscription.

    ``-`` is a second, ``|`` completes, ``X`` errors, every other character is an item at its second.
    """

    def __init__(self) -> None:
        self.scheduler = TestScheduler()

    def hot(self, marbles: str, make: Callable[[str, int], Any]) -> rx.Observable[Any]:
        """A hot observable; ``make(character, second)`` gives the items. Draw sources before ticks."""
        return self.scheduler.create_hot_observable(self._messages(marbles, make))

    def letters(self, marbles: str, values: Mapping[str, Any] | None = None) -> rx.Observable[Any]:
        """Items are the letters, or what ``values`` has for them."""
        return self.hot(marbles, lambda letter, _second: letter if values is None else values.get(letter, letter))

    def frames(self, marbles: str) -> rx.Observable[Frame]:
        """Each letter a frame of that name, received at its second."""
        return self.hot(marbles, lambda letter, second: frame_of(ord(letter), START_S + second))

    def ticks(self, marbles: str) -> rx.Observable[Tick]:
        """Every letter a tick at its second, numbered from 0."""
        count = iter(range(len(marbles)))
        return self.hot(marbles, lambda _letter, second: _tick(next(count), second))

    def result(self, create: Callable[[], rx.Observable[Any]]) -> list[tuple[float, Any]]:
        """What comes out: (second, value), the end as "|", an error as "X"."""
        observer = self.scheduler.start(create=create, disposed=1000.0)
        return [(record.time - START_S, _value(record.value)) for record in observer.messages]

    @staticmethod
    def _messages(marbles: str, make: Callable[[str, int], Any]) -> list[Recorded[Any]]:
        messages: list[Recorded[Any]] = []
        for second, letter in enumerate(marbles):
            at = START_S + second
            if letter == "|":
                messages.append(ReactiveTest.on_completed(at))
            elif letter == "X":
                messages.append(ReactiveTest.on_error(at, RuntimeError("unplugged")))
            elif letter != "-":
                messages.append(ReactiveTest.on_next(at, make(letter, second)))
        return messages


def play(marbles: str, values: Sequence[Any]) -> list[tuple[float, Any]]:
    """What a picture expects: ``marbles`` places the values, one a letter in order, and the end."""
    rest = iter(values)
    expected = [
        (float(second), letter if letter in "|X" else next(rest))
        for second, letter in enumerate(marbles)
        if letter != "-"
    ]
    assert next(rest, None) is None, "more values than letters"
    return expected


def _tick(index: int, second: int) -> Tick:
    at_ns = (START_S + second) * S
    return Tick(index=index, due_ns=at_ns, at_ns=at_ns)


def _value(notification: object) -> Any:
    assert isinstance(notification, Notification)
    if notification.kind == "N":
        value = notification.value
        return [name_of(item) for item in value] if isinstance(value, list) else name_of(value)
    return "|" if notification.kind == "C" else "X"
