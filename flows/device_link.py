"""One device over a whole session: opened, kept open, reconnected, routed into the running take."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, TypeAlias

import reactivex as rx
from reactivex import abc

from flows.device import DeviceFlow
from operators.events import Event, Frame, Item, Status
from operators.reconnect import BACK_OFF_S, reconnect

__all__ = ["DeviceLink", "LinkState", "PortMeter", "Routes"]

LinkState: TypeAlias = Literal["opening", "connected", "disconnected", "ended"]
Routes: TypeAlias = Mapping[str, tuple[Callable[[Item], None], ...]]
"""For every port of a device, where its items go."""


class PortMeter:
    """What is known of one port without a take: how much came, when the newest came, the newest picture.

    Attributes:
        count: items since the session was opened. heard_ns: receipt of the newest, host monotonic; None before it.
        frame: the newest picture, for arming and previews.
    """

    __slots__ = ("count", "frame", "heard_ns")

    def __init__(self) -> None:
        self.count = 0
        self.heard_ns: int | None = None
        self.frame: Frame | None = None


class DeviceLink:
    """Keeps one device open and hands what it sends to the running take.

    Everything here happens on the device's own thread, but for `open`, `restart`, `close`, `attach` and `detach`. An
    item that comes while no take is attached is metered and dropped. A source that fails is opened again with
    back-off; the change is told to ``changed``, on the thread on which it happened.

    Attributes:
        state, reason: where the device is, and why. failures: how often it was lost since the session was opened.
        faults: items that could not be routed, a sign of a source that sends what it should not.
        meters: one a port name.
    """

    def __init__(
        self,
        flow: DeviceFlow,
        changed: Callable[[DeviceLink], None],
        *,
        back_off_s: Sequence[float] = BACK_OFF_S,
    ) -> None:
        self.flow = flow
        self.state: LinkState = "opening"
        self.reason = ""
        self.failures = 0
        self.faults = 0
        self.meters = {port.name: PortMeter() for port in flow.ports}
        self._changed = changed
        self._back_off_s = back_off_s
        self._routes: Routes = {}
        self._status_routes: tuple[Callable[[Item], None], ...] = ()
        self._run = 0
        self._subscription: abc.DisposableBase | None = None
        self._lock = threading.Lock()

    @property
    def starts_with_take(self) -> bool:
        """Whether the device plays something that a take wants from its beginning."""
        return self.flow.ends_take or self.flow.replays

    @property
    def heard_ns(self) -> int | None:
        """Receipt of the newest item of any port; None before the first."""
        return max((m.heard_ns for m in self.meters.values() if m.heard_ns is not None), default=None)

    def open(self) -> None:
        """Subscribe to the source, which opens the device on its own thread."""
        with self._lock:
            self._run += 1
            run = self._run
            self.state, self.reason = "opening", ""

        def current(action: Callable[[], None]) -> None:
            # What an earlier run of a restarted device still sends is not of this one.
            if self._run == run:
                action()

        # Made anew for every attempt: what a failed device left half open is never used again.
        source: rx.Observable[Event] = rx.defer(lambda _scheduler: self.flow.source())
        self._subscription = source.pipe(
            reconnect(lambda status: current(lambda: self._on_status(status)), back_off_s=self._back_off_s)
        ).subscribe(
            lambda event: self._on_event(event) if self._run == run else None,
            lambda error: current(lambda: self._on_status(Status("disconnected", time.monotonic_ns(), str(error)))),
            lambda: current(self._on_end),
        )

    def close(self) -> None:
        """Close the device; what it still sends goes nowhere. Idempotent."""
        with self._lock:
            self._run += 1
            subscription, self._subscription = self._subscription, None
        if subscription is not None:
            subscription.dispose()

    def restart(self) -> None:
        """Close and open: a file plays from its beginning again."""
        self.close()
        self.open()

    def attach(self, routes: Routes, status_routes: Sequence[Callable[[Item], None]]) -> None:
        """From now on items go into a take; ``status_routes`` are told the device's `Status`, this moment's first."""
        for route in status_routes:
            if self.state in ("connected", "disconnected"):
                heard = self.heard_ns
                route(Status(self.state, time.monotonic_ns() if heard is None else heard, self.reason))
        self._status_routes = tuple(status_routes)
        self._routes = routes

    def detach(self) -> None:
        """From now on items are dropped."""
        self._routes, self._status_routes = {}, ()

    def _on_event(self, event: Event) -> None:
        item = event.item
        if isinstance(item, Status):
            self._on_status(item)
            return
        meter = self.meters.get(event.port)
        if meter is None:
            return
        meter.count += 1
        stamp = getattr(item, "host_ns", None)
        meter.heard_ns = stamp if isinstance(stamp, int) else time.monotonic_ns()
        if isinstance(item, Frame):
            meter.frame = item
        if self.state != "connected":
            self._become("connected", "")
        for route in self._routes.get(event.port, ()):
            self._send(route, item)

    def _on_status(self, status: Status) -> None:
        if status.state == "disconnected":
            self.failures += 1
        self._become(status.state, status.reason)
        for route in self._status_routes:
            self._send(route, status)

    def _on_end(self) -> None:
        self._become("ended", "it came to its end")

    def _become(self, state: LinkState, reason: str) -> None:
        if (state, reason) == (self.state, self.reason):
            return
        # A lost device that is still lost, for another reason, is no news: only the reason is kept.
        news = state != self.state
        self.state, self.reason = state, reason
        if news:
            self._changed(self)

    def _send(self, route: Callable[[Item], None], item: Item) -> None:
        try:
            route(item)
        except Exception:  # noqa: BLE001 - garbage of a source is counted, and must not end the source
            self.faults += 1
