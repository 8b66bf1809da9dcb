"""One take: from attached devices through the prime and the rows to the last row."""

from __future__ import annotations

import threading
import time
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np
from reactivex import abc
from reactivex.subject import Subject

from flows.device import CellContext
from flows.device_link import DeviceLink
from flows.gap_watch import GapWatch
from flows.prime import PrimeGate
from flows.rig import Rig, stream_key
from flows.session_events import EndReason
from flows.take_counters import take_counters
from flows.take_port import PictureShape, TakePort, VideoPort, attach_ports, take_port
from operators.cells import Tick
from operators.oldest_frame import TickFrame
from operators.rows import Fault, Row, rows
from operators.tick_sample import NS
from operators.tick_thread import TickThread
from sinks.take_writer import SlotLive

__all__ = ["RowSink", "Take"]


class RowSink(Protocol):
    """Where rows go. ``write`` never blocks; False: the row cannot be taken, and the take has to end."""

    def write(self, row: Row) -> bool: ...
    def live(self) -> Mapping[str, SlotLive]: ...


class Take:
    """The rows of one take, on a tick thread of its own.

    `prime` on the caller's thread, then `record`; `request_end` from any thread; ``ended`` is set after the last row.
    The devices' observables go through hand-overs, drained on the tick thread, into `operators.rows.rows`; the sink is
    the rows' observer.

    Attributes:
        ports: in row order. rows: written so far. skipped: deadlines without a row. faults: by channel.
        reason, message: why it ended. wished_ns, last_row_ns: the wish to end and the last row, host monotonic, ns.
        ended: set when no row will come any more.
    """

    def __init__(
        self,
        rig: Rig,
        links: Sequence[DeviceLink],
        shapes: Mapping[str, PictureShape],
        *,
        drain_s: float = 1.0,
        gap_min_ms: float = 100.0,
    ) -> None:
        self._rig = rig
        self._links = tuple(links)
        self._drain_ns = round(drain_s * NS)
        self._gate = PrimeGate()
        period_ns = round(NS / rig.fps)
        context = CellContext(period_ns=period_ns, index_of=rig.index_of)
        self.period_ns = period_ns
        self.ports: tuple[TakePort, ...] = tuple(
            take_port(stream_key(port.stream), link, port, context, shapes, self._gate.condition)
            for link in self._links
            for port in link.flow.ports
        )
        self.videos = tuple(port for port in self.ports if isinstance(port, VideoPort))
        self._gate.watch(self.videos)
        self._gap_places = [
            (index, GapWatch(_period_ns(port, period_ns), gap_min_ms), port)
            for index, port in enumerate(self.ports)
            if isinstance(port, VideoPort)
        ]
        self.gaps = {port.key: gap for _index, gap, port in self._gap_places}
        self._before = {link.flow.key: (link.failures, link.faults) for link in self._links}
        self._ticks: Subject[Tick] = Subject()
        self._rows_subscription: abc.DisposableBase | None = None
        self._thread: TickThread | None = None
        self._sink: RowSink | None = None
        self._limit_ns: int | None = None
        self._opened = False
        self._offset = 0
        self._last: tuple[object, ...] = ()
        self._end_lock = threading.Lock()
        self.lateness = array("q")
        self.late_max_ns = 0
        self.rows = 0
        self.skipped = 0
        self.faults: Counter[str] = Counter()
        self.first_due_ns: int | None = None
        self.first_row_ns = 0
        self.last_row_ns = 0
        self.reason: EndReason | None = None
        self.message = ""
        self.wished_ns = 0
        self.ended = threading.Event()

    def prime(self, timeout_s: float) -> None:
        """Attach the devices, start those that start with the take, and wait until every slot has its frame.

        Raises:
            DeviceError: a slot had none in time; the devices are detached again.
        """
        start_ns = time.monotonic_ns()
        for port in self.videos:
            port.start_ns = start_ns
        live = [link for link in self._links if not link.starts_with_take]
        try:
            for link in live:
                attach_ports(link, self.ports)
            self._gate.wait(started=False, timeout_s=timeout_s)
            for link in self._links:
                if link.starts_with_take:
                    link.close()
                    attach_ports(link, self.ports)
                    _open_sensors(port for port in self.ports if port.link is link)
                    link.open()
            self._gate.wait(started=True, timeout_s=timeout_s)
        except BaseException:
            self._detach()
            raise

    def record(self, sink: RowSink, seconds: float | None = None) -> int:
        """Start the ticks; gives the deadline of the first one, host monotonic, ns.

        Args:
            sink: the rows' observer. seconds: the take ends by itself after so many.
        """
        self._sink = sink
        _open_sensors(self.ports)
        self._rows_subscription = rows(self._ticks, [port.channel for port in self.ports], self._on_fault).subscribe(
            self._on_row
        )
        first_due_ns = time.monotonic_ns() + self.period_ns
        self.first_due_ns = first_due_ns
        # The row at the limit itself is the next second's.
        self._limit_ns = None if seconds is None else first_due_ns + round(seconds * NS) - self.period_ns // 2
        self._thread = TickThread(self._rig.fps, self._on_tick, name="ticks", first_due_ns=first_due_ns)
        self._thread.start()
        return first_due_ns

    def request_end(self, reason: EndReason, message: str = "") -> None:
        """Let the take end: at once for a failure, else when no queue holds a frame captured before now."""
        with self._end_lock:
            # A failed file is why its queue was full.
            told = self.reason is not None and self.reason is not EndReason.ENCODER_TOO_SLOW
            if self.reason is not None and ((told and self.reason.is_failure) or not reason.is_failure):
                return
            if self.reason is None:
                self.wished_ns = time.monotonic_ns()
            self.message = message
            self.reason = reason

    def join(self) -> None:
        """Wait until the tick thread is gone; it ends within one period after ``ended``."""
        if self._thread is not None:
            self._thread.join()

    def abandon(self) -> None:
        """End without another row, from the caller's thread."""
        if self._thread is not None:
            self._thread.stop()
            self._thread.join()
        self._finish()

    def counters(self) -> dict[str, int]:
        """The running counters, as keys of ``drop_stats``; from any thread."""
        return take_counters(
            self.ports,
            self.gaps,
            skipped_ticks=self.skipped,
            faults=dict(self.faults),
            before=self._before,
            links=self._links,
        )

    def late_ms(self) -> tuple[float, float]:
        """The ticks' lateness: 99th percentile and maximum, ms."""
        if not self.lateness:
            return 0.0, 0.0
        late = np.frombuffer(self.lateness.tobytes(), dtype=np.int64) / 1e6
        return float(np.percentile(late, 99)), float(late.max())

    def _detach(self) -> None:
        for link in self._links:
            link.detach()

    def _on_tick(self, tick: Tick) -> None:
        try:
            self._beat(tick)
        except BaseException as error:  # noqa: BLE001 - a take must never end without a reason
            self.request_end(EndReason.WRITER_FAILED, f"{type(error).__name__}: {error}")
            self._finish()

    def _beat(self, tick: Tick) -> None:
        if self.reason is not None and self.reason.is_failure:
            self._finish()
            return
        if not self._opened:
            self._opened = self._gate.open()
            if not self._opened:
                self._offset += 1
                return
            tick = replace(tick, index=0, skipped=0)
        elif self._offset:
            tick = replace(tick, index=tick.index - self._offset)
        drained = {port.key: port.hand_over.drain() for port in self.ports}
        if self._played_out(drained):
            self.request_end(EndReason.SOURCE_ENDED)
            self._finish()
            return
        self.skipped += tick.skipped
        self._ticks.on_next(tick)
        if self._limit_ns is not None and tick.due_ns + self.period_ns >= self._limit_ns:
            self.request_end(EndReason.SECONDS)
        if self._is_over():
            self._finish()

    def _played_out(self, drained: Mapping[str, int]) -> bool:
        """Whether a device that ends the take has ended, and nothing of it waits any more."""
        for link in self._links:
            if not (link.flow.ends_take and link.state == "ended"):
                continue
            mine = [port for port in self.ports if port.link is link and not port.is_status]
            if not any(drained[port.key] or port.hand_over.waiting or _waits(port) for port in mine):
                return True
        return False

    def _is_over(self) -> bool:
        if self.reason is None:
            return False
        if self.reason.is_failure:
            return True
        if self.rows == 0:
            return False
        if time.monotonic_ns() - self.wished_ns >= self._drain_ns:
            return True
        return not any(_has_before(port, self.wished_ns) for port in self.videos)

    def _on_row(self, row: Row) -> None:
        assert self._sink is not None
        row = self._whole(row)
        for index, gap, _port in self._gap_places:
            value = row.values[index]
            if isinstance(value, TickFrame) and not value.repeated:
                gap.put(value.frame)
        if not self._sink.write(row):
            for index, _gap, port in self._gap_places:
                value = row.values[index]
                port.left += isinstance(value, TickFrame) and not value.repeated
            full = [slot for slot, live in self._sink.live().items() if live.waiting >= live.bound]
            self.request_end(
                EndReason.ENCODER_TOO_SLOW,
                f"{', '.join(full) or 'the writer'}: cannot keep up, its queue is full; the take is ended and saved; "
                "use a faster codec, fewer slots or a lower rate",
            )
            return
        self._last = row.values
        self.rows += 1
        self.last_row_ns = row.tick.at_ns
        if self.rows == 1:
            self.first_row_ns = row.tick.at_ns
        self.lateness.append(row.tick.late_ns)
        self.late_max_ns = max(self.late_max_ns, row.tick.late_ns)

    def _whole(self, row: Row) -> Row:
        """The row, with the frame before in place of one that a failing cell did not give."""
        if all(row.values[index] is not None for index, _gap, _port in self._gap_places):
            return row
        values = list(row.values)
        for index, _gap, port in self._gap_places:
            if values[index] is None:
                last = self._last[index] if self._last else None
                if not isinstance(last, TickFrame):
                    raise RuntimeError(f"{port.key}: no frame for the first row")
                values[index] = TickFrame(last.frame, repeated=True)
        return Row(row.tick, tuple(values))

    def _on_fault(self, fault: Fault) -> None:
        self.faults[fault.channel] += 1

    def _finish(self) -> None:
        """No row any more: on the tick thread, or after it."""
        if self.ended.is_set():
            return
        try:
            if self._thread is not None:
                self._thread.stop()
            self._detach()
            for port in self.videos:
                port.count_left(self.wished_ns)
            if self._rows_subscription is not None:
                self._rows_subscription.dispose()
        finally:
            self.ended.set()


def _open_sensors(ports: Iterable[TakePort]) -> None:
    for port in ports:
        if not isinstance(port, VideoPort):
            port.open()


def _period_ns(port: VideoPort, period_ns: int) -> int:
    rate = port.video.source_fps
    return period_ns if rate is None or rate <= 0 else round(NS / rate)


def _has_before(port: VideoPort, stop_ns: int) -> bool:
    has_before = getattr(port.cell, "has_before", None)
    return has_before is not None and bool(has_before(stop_ns))


def _waits(port: TakePort) -> bool:
    """Whether frames of a slot wait for a row of their own; a follower's never do."""
    if not isinstance(port, VideoPort) or port.video.master is not None:
        return False
    return bool(getattr(port.cell, "waiting", 0))
