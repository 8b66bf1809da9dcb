"""device_thread: a blocking read loop as an observable, on a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeAlias

import reactivex as rx
import structlog
from reactivex import abc
from reactivex.disposable import Disposable

from operators.errors import DeviceError
from operators.events import Event

__all__ = ["CLOSE_S", "Emit", "ReadLoop", "device_thread"]

CLOSE_S = 2.0
"""How long disposing waits for the device's thread. One that a driver holds longer is left to end by itself: it is a
daemon, and what it still sends goes nowhere."""

Emit: TypeAlias = Callable[[Event], None]
ReadLoop: TypeAlias = Callable[[Emit, threading.Event], None]
"""``read(emit, stop)``: opens the device, emits until ``stop`` is set or the device has come to its end, closes it."""

_log = structlog.get_logger(__name__)


def device_thread(key: str, read: ReadLoop) -> rx.Observable[Event]:
    """Run ``read`` on a thread of its own while somebody is subscribed.

    .. marble::

        read returns: -a-b-c-|
        read raises:  -a-b-X        a `DeviceError` as it is, anything else as one that names the device

    ``read`` must see ``stop`` within about a second, and must wait with ``stop.wait`` only. Every subscription runs it
    anew. Disposing sets ``stop`` and waits up to `CLOSE_S` seconds for the thread.
    """

    def subscribe(observer: abc.ObserverBase[Event], _scheduler: abc.SchedulerBase | None = None) -> abc.DisposableBase:
        stop = threading.Event()

        def run() -> None:
            try:
                read(observer.on_next, stop)
            except DeviceError as error:
                if not stop.is_set():
                    observer.on_error(error)
            except Exception as error:  # noqa: BLE001 - whatever a driver raises is a failure of its device
                if not stop.is_set():
                    _log.exception("device read loop failed", device=key)
                    observer.on_error(DeviceError(key, f"{type(error).__name__}: {error}"))
            else:
                if not stop.is_set():
                    observer.on_completed()

        thread = threading.Thread(target=run, name=key, daemon=True)

        def close() -> None:
            stop.set()
            if threading.current_thread() is thread:
                return
            thread.join(CLOSE_S)
            if thread.is_alive():
                _log.warning("device did not close in time; it is left to its own time-out", device=key)

        thread.start()
        return Disposable(close)

    return rx.Observable(subscribe)
