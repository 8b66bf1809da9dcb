"""reconnect: a source that fails is opened again, with back-off, for as long as somebody listens."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

import reactivex as rx
from reactivex import abc
from reactivex.disposable import CompositeDisposable, SerialDisposable, SingleAssignmentDisposable
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
    to its end, and so does the result. Timers run on the scheduler of the subscription, else on a thread a wait.

    Args:
        status: told of every change, on the thread where it happens; what it raises stops nothing.
        back_off_s: waits, seconds, at least one. now_ns: the clock of the status stamps, host monotonic, ns.
    """
    if not back_off_s:
        raise ValueError("back_off_s must name at least one wait")

    def operator(source: rx.Observable[T]) -> rx.Observable[T]:
        def subscribe(observer: abc.ObserverBase[T], scheduler: abc.SchedulerBase | None = None) -> abc.DisposableBase:
            clock = scheduler or TimeoutScheduler.singleton()
            attempt = SerialDisposable()
            timer = SerialDisposable()
            failures = 0
            connected = False

            def tell(told: Status) -> None:
                with contextlib.suppress(Exception):
                    status(told)

            def on_next(item: T) -> None:
                nonlocal connected, failures
                if not connected:
                    connected, failures = True, 0
                    tell(Status("connected", now_ns()))
                observer.on_next(item)

            def on_error(error: Exception) -> None:
                nonlocal connected, failures
                connected = False
                tell(Status("disconnected", now_ns(), str(error) or type(error).__name__))
                wait_s = back_off_s[min(failures, len(back_off_s) - 1)]
                failures += 1
                timer.disposable = clock.schedule_relative(wait_s, connect)

            def connect(_scheduler: abc.SchedulerBase | None = None, _state: object | None = None) -> None:
                # Held before it is subscribed: a source that fails at once has planned its next attempt by then.
                subscription = SingleAssignmentDisposable()
                attempt.disposable = subscription
                if not attempt.is_disposed:
                    subscription.disposable = source.subscribe(
                        on_next, on_error, observer.on_completed, scheduler=scheduler
                    )

            connect()
            return CompositeDisposable(attempt, timer)

        return rx.Observable(subscribe)

    return operator
