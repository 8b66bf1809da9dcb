"""reconnect in virtual time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import reactivex as rx
from reactivex.testing import ReactiveTest, TestScheduler

from operators.events import Status
from operators.reconnect import reconnect
from tests.marble.pictures import S

Moments = Sequence[tuple[int, str]]


class Attempts:
    """A source that plays another script at each subscription; ``X`` fails, ``|`` completes."""

    def __init__(self, scheduler: TestScheduler, *scripts: Moments) -> None:
        self.opened: list[Any] = []
        self.closed: list[Any] = []
        self._scheduler = scheduler
        self._scripts = list(scripts)

    def source(self) -> rx.Observable[str]:
        def subscribe(observer: Any, _scheduler: object) -> Any:
            self.opened.append(self._scheduler.clock)
            script = self._scripts.pop(0) if len(self._scripts) > 1 else self._scripts[0]
            if script and script[0] == (0, "X"):
                observer.on_error(OSError("no such device"))
                return lambda: None
            cold = self._scheduler.create_cold_observable(
                [
                    ReactiveTest.on_error(at, OSError("unplugged"))
                    if what == "X"
                    else ReactiveTest.on_completed(at)
                    if what == "|"
                    else ReactiveTest.on_next(at, what)
                    for at, what in script
                ]
            )
            subscription = cold.subscribe(observer, scheduler=self._scheduler)

            def close() -> None:
                self.closed.append(self._scheduler.clock)
                subscription.dispose()

            return close

        return rx.Observable(subscribe)


def run(
    *scripts: Moments, back_off_s: Sequence[float] = (1.0, 4.0), disposed: float = 300.0
) -> tuple[list[tuple[int, Any]], list[tuple[float, str]], Attempts]:
    """What comes out, the status changes, and the attempts; the subscription is at 200 s."""
    scheduler = TestScheduler()
    attempts = Attempts(scheduler, *scripts)
    told: list[tuple[float, str]] = []

    def status(change: Status) -> None:
        assert change.host_ns == round(scheduler.clock * S)
        told.append((scheduler.clock, change.state[0] + (f" {change.reason}" if change.reason else "")))

    operator: Any = reconnect(status, back_off_s=back_off_s, now_ns=lambda: round(scheduler.clock * S))
    observer = scheduler.start(lambda: attempts.source().pipe(operator), disposed=disposed)
    found: list[tuple[int, Any]] = [(m.time, getattr(m.value, "value", m.value.kind)) for m in observer.messages]  # type: ignore[union-attr]
    return found, told, attempts


def test_a_source_that_fails_is_opened_again_and_its_error_is_a_status() -> None:
    found, told, attempts = run([(1, "a"), (3, "b"), (5, "X")], [(2, "c"), (4, "|")])
    assert found == [(201, "a"), (203, "b"), (208, "c"), (210, "C")]
    assert told == [(201, "c"), (205, "d unplugged"), (208, "c")]
    assert attempts.opened == [200, 206]


def test_the_back_off_grows_and_keeps_its_last_wait() -> None:
    _found, told, attempts = run([(0, "X")], back_off_s=(1.0, 4.0), disposed=214.5)
    assert attempts.opened == [200, 201, 205, 209, 213]
    assert [state for _at, state in told] == ["d no such device"] * 5


def test_an_item_lets_the_back_off_start_anew() -> None:
    script = [(1, "a"), (2, "X")]
    _found, _told, attempts = run([(0, "X")], [(0, "X")], script, script, [], back_off_s=(1.0, 4.0))
    assert attempts.opened == [200, 201, 205, 208, 211]


def test_a_source_without_items_is_never_called_connected() -> None:
    _found, told, _attempts = run([])
    assert told == []


def test_disposing_closes_the_device_and_ends_the_attempts() -> None:
    found, _told, attempts = run([(1, "a"), (50, "b")], disposed=210.0)
    assert found == [(201, "a")]
    assert attempts.closed == [210]
    _found, _told, waiting = run([(1, "X")], back_off_s=(30.0,), disposed=210.0)
    assert waiting.opened == [200]


def test_a_failed_attempt_is_closed() -> None:
    _found, _told, attempts = run([(1, "X")], [(9, "a")], disposed=205.0)
    assert attempts.closed == [201, 205]


def test_who_listens_to_the_status_cannot_stop_the_reconnect() -> None:
    scheduler = TestScheduler()
    attempts = Attempts(scheduler, [(1, "X")], [(1, "a")])

    def raises(_status: Status) -> None:
        raise RuntimeError("broken listener")

    operator: Any = reconnect(raises, back_off_s=(1.0,), now_ns=lambda: 0)
    observer = scheduler.start(lambda: attempts.source().pipe(operator), disposed=210.0)
    assert [(m.time, m.value.value) for m in observer.messages] == [(203, "a")]  # type: ignore[union-attr]


def test_no_wait_at_all_is_refused() -> None:
    with pytest.raises(ValueError, match="back_off_s"):
        reconnect(lambda _status: None, back_off_s=())
