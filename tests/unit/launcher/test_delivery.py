from __future__ import annotations

import threading

from flows.session_events import Primed, SessionEvent
from launcher.delivery import BOUND, Delivery

WAIT_S = 10.0


def event(k: int) -> SessionEvent:
    return Primed(at_ns=1, k=k, waited_s=0.1)


def test_events_are_shown_in_order_on_another_thread() -> None:
    shown: list[SessionEvent] = []
    threads: set[threading.Thread] = set()

    def show(item: SessionEvent) -> None:
        shown.append(item)
        threads.add(threading.current_thread())

    with Delivery(show) as delivery:
        for k in range(100):
            delivery.put(event(k))
    assert shown == [event(k) for k in range(100)]
    assert threading.current_thread() not in threads


def test_flush_waits_for_what_was_put() -> None:
    shown: list[SessionEvent] = []
    with Delivery(shown.append) as delivery:
        delivery.put(event(0))
        delivery.flush()
        assert shown == [event(0)]


def test_a_reader_that_stands_still_holds_up_nobody() -> None:
    goes_on = threading.Event()
    begun = threading.Event()

    def show(_item: SessionEvent) -> None:
        begun.set()
        goes_on.wait(WAIT_S)

    with Delivery(show) as delivery:
        delivery.put(event(0))
        assert begun.wait(WAIT_S)
        for k in range(BOUND + 5):
            delivery.put(event(k))
        assert delivery.dropped == 5
        goes_on.set()


def test_a_closed_pipe_ends_the_showing_not_the_recording() -> None:
    calls: list[SessionEvent] = []

    def show(item: SessionEvent) -> None:
        calls.append(item)
        raise BrokenPipeError

    with Delivery(show) as delivery:
        delivery.put(event(0))
        delivery.put(event(1))
        delivery.flush()
    assert calls == [event(0)]


def test_an_event_that_cannot_be_shown_does_not_keep_the_next_from_it() -> None:
    shown: list[SessionEvent] = []

    def show(item: SessionEvent) -> None:
        if item == event(0):
            raise KeyError("state")
        shown.append(item)

    with Delivery(show) as delivery:
        delivery.put(event(0))
        delivery.put(event(1))
    assert shown == [event(1)]
