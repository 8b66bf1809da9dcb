"""reconnect: a source that fails is opened again, with back-off, for as long as somebody listens."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TypeVar

import reactivex as rx
from reactivex import abc
from reactivex.disposable import CompositeDisposable, SerialDisposable
from reactivex.scheduler import TimeoutScheduler

from operators.events import Status

__all__ = ["BACK_OFF_S", "reconnect"]

T = TypeVar("T")

BACK_OFF_S = (0.2, 0.5, 1.0, 2.0)
"""Waits between attempts; the last one is kept. A replugged device is back within three seconds."""


def reconnect(
    status: Callable[[Status], None],
    *,
    back_off_s: Sequence[float] = BACK_OFF_S,
    now_ns: Callable[[], int] = time.monotonic_ns,
) -> Callable[[rx.Observable[T]], rx.Observable[T]]:
    """Subscribe to the source again after it failed; the error goes to ``status``, never downstream.

    .. marble::

        source: -a-b-X   -c-d-|        subscribed again after the back-off
        result: -a-b------c-d-|
        status: -C---D----C----        connected with the first item, disconnected with the error

    The back-off grows with every failure in a row and starts anew after an item. A source that completes has come
    to its end, and so does the result.
    """

    def operator(source: rx.Observable[T]) -> rx.Observable[T]:
        def subscribe(observer: abc.ObserverBase[T], scheduler: abc.SchedulerBase | None = None) -> abc.DisposableBase:
            clock = scheduler or TimeoutScheduler.singleton()
            inner = SerialDisposable()
            timer = SerialDisposable()
            state = {"failures": 0, "connected": False, "disposed": False}

            def on_next(item: T) -> None:
                if not state["connected"]:
                    state["connected"], state["failures"] = True, 0
                    status(Status("connected", now_ns()))
                observer.on_next(item)

            def on_error(error: Exception) -> None:
                state["connected"] = False
                status(Status("disconnected", now_ns(), str(error) or type(error).__name__))
                wait_s = back_off_s[min(state["failures"], len(back_off_s) - 1)]
                state["failures"] += 1
                timer.disposable = clock.schedule_relative(wait_s, again)

            def again(_scheduler: abc.SchedulerBase, _state: object | None = None) -> None:
                if not state["disposed"]:
                    inner.disposable = source.subscribe(on_next, on_error, observer.on_completed, scheduler=scheduler)

            def end() -> None:
                state["disposed"] = True

            from_start = source.subscribe(on_next, on_error, observer.on_completed, scheduler=scheduler)
            if state["failures"] == 0 and not state["disposed"]:
                inner.disposable = from_start
            return CompositeDisposable(inner, timer, _OnDispose(end))

        return rx.Observable(subscribe)

    return operator


class _OnDispose(abc.DisposableBase):
    def __init__(self, action: Callable[[], None]) -> None:
        self._action = action

    def dispose(self) -> None:
        self._action()
