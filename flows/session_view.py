"""Puts the live view together: from the links, the watch and the running take, all read as they are."""

from __future__ import annotations

import time
from collections.abc import Sequence

from episodes.streams import StatusStream, VideoStream
from flows.device_link import DeviceLink
from flows.live_view import ColumnView, DeviceView, LiveView, SessionState, SlotView
from flows.recording import RunningTake
from flows.rig import stream_key
from flows.take_port import TakePort, VideoPort
from flows.watch import SessionWatch

__all__ = ["live_view"]


def live_view(
    state: SessionState,
    task: str,
    links: Sequence[DeviceLink],
    watch: SessionWatch,
    running: RunningTake | None,
) -> LiveView:
    """The session, now; from any thread."""
    now = time.monotonic_ns()
    ports = {} if running is None else {port.key: port for port in running.take.ports}
    slots: list[SlotView] = []
    columns: list[ColumnView] = []
    for link in links:
        for port in link.flow.ports:
            key = stream_key(port.stream)
            heard = link.meters[port.name].heard_ns
            age_s = None if heard is None else max(0.0, (now - heard) / 1e9)
            rate = watch.rates.rate(f"{link.flow.key} {port.name}")
            if isinstance(port.stream, VideoStream):
                slots.append(_slot(port.stream, link, rate, age_s, ports.get(key), watch, running))
            elif not isinstance(port.stream, StatusStream):
                taken = ports.get(key)
                columns.append(
                    ColumnView(
                        column=key, device=link.flow.key, rate=rate, age_s=age_s, dropped=taken.lost if taken else 0
                    )
                )
    return LiveView(
        state=state,
        task=task,
        k=None if running is None else running.k,
        rows=0 if running is None else running.take.rows,
        seconds=_seconds(running, now),
        skipped_ticks=0 if running is None else running.take.skipped,
        late_max_ms=0.0 if running is None else running.take.late_max_ns / 1e6,
        disk_free=watch.free,
        disk_minutes=_minutes(watch, _seconds(running, now)),
        slots=tuple(slots),
        columns=tuple(columns),
        devices=tuple(_device(link, watch) for link in links),
    )


def _slot(
    stream: VideoStream,
    link: DeviceLink,
    fps: float,
    age_s: float | None,
    port: TakePort | None,
    watch: SessionWatch,
    running: RunningTake | None,
) -> SlotView:
    taken = port if isinstance(port, VideoPort) else None
    load = watch.loads.get(stream.slot)
    return SlotView(
        slot=stream.slot,
        kind=stream.kind,
        device=link.flow.key,
        fps=fps,
        waiting=0 if taken is None else taken.hand_over.waiting + int(getattr(taken.cell, "waiting", 0)),
        age_s=age_s,
        repeats=0 if taken is None else int(getattr(taken.cell, "repeated", 0)),
        dropped=0 if taken is None else taken.lost,
        wrong_size=0 if taken is None else taken.wrong_size,
        encoder="" if running is None else running.armed.encoders[stream.slot],
        encoder_load=0.0 if load is None else load.load,
        encoder_waiting=0 if load is None else load.waiting,
    )


def _device(link: DeviceLink, watch: SessionWatch) -> DeviceView:
    return DeviceView(
        key=link.flow.key,
        name=link.flow.name,
        kind=link.flow.kind,
        state="silent" if watch.is_silent(link) else link.state,
        reason=link.reason,
        failures=link.failures,
    )


def _seconds(running: RunningTake | None, now: int) -> float:
    if running is None or running.take.rows == 0:
        return 0.0
    end = running.take.last_row_ns if running.take.ended.is_set() else now
    return max(0.0, (end - running.take.first_row_ns) / 1e9)


def _minutes(watch: SessionWatch, seconds: float) -> float | None:
    if seconds < 2 or watch.written <= 0:
        return None
    return max(0, watch.free) / (watch.written / seconds) / 60
