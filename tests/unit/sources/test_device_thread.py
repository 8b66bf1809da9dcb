"""A read loop on its own thread: how it ends, fails and is closed."""

from __future__ import annotations

import threading

from operators.errors import DeviceError
from operators.events import Event, Status
from sources.device_thread import Emit, device_thread
from tests.source_events import Listener

EVENT = Event("status", Status("connected", 1))


def test_returning_completes() -> None:
    def read(emit: Emit, _stop: threading.Event) -> None:
        emit(EVENT)

    with Listener(device_thread("a:1", read)) as heard:
        heard.until_end()
    assert (heard.events, heard.completed, heard.error) == ([EVENT], True, None)


def test_a_device_error_comes_as_it_is() -> None:
    failure = DeviceError("a:1", "unplugged")

    def read(_emit: Emit, _stop: threading.Event) -> None:
        raise failure

    with Listener(device_thread("a:1", read)) as heard:
        heard.until_end()
    assert heard.error is failure


def test_any_other_error_names_the_device() -> None:
    def read(_emit: Emit, _stop: threading.Event) -> None:
        raise KeyError("x")

    with Listener(device_thread("a:1", read)) as heard:
        heard.until_end()
    assert isinstance(heard.error, DeviceError)
    assert str(heard.error) == "a:1: KeyError: 'x'"


def test_disposing_stops_the_loop_and_waits_for_it() -> None:
    closed = []

    def read(emit: Emit, stop: threading.Event) -> None:
        emit(EVENT)
        stop.wait()
        closed.append(True)

    with Listener(device_thread("a:1", read)) as heard:
        heard.until_count(1)
    assert closed == [True]
    assert not heard.ended


def test_disposing_on_the_devices_own_thread_does_not_wait_for_itself() -> None:
    threads: list[threading.Thread] = []
    ended = threading.Event()

    def read(emit: Emit, stop: threading.Event) -> None:
        threads.append(threading.current_thread())
        emit(EVENT)
        stop.wait()
        ended.set()

    ready = threading.Event()

    def on_next(_event: Event) -> None:
        ready.wait()
        subscription.dispose()

    subscription = device_thread("a:1", read).subscribe(on_next)
    ready.set()
    assert ended.wait(10)


def test_every_subscription_runs_anew() -> None:
    runs = []

    def read(_emit: Emit, _stop: threading.Event) -> None:
        runs.append(threading.current_thread())

    source = device_thread("a:1", read)
    for _ in range(2):
        with Listener(source) as heard:
            heard.until_end()
    assert len(set(runs)) == 2
