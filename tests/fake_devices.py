"""Devices for tests: a script on a thread of its own plays the device, and can die, stall, burst or lie."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import reactivex as rx
from reactivex import abc
from reactivex.disposable import Disposable

from episodes.streams import StatusStream, TrajectoryStream, VectorStream, VideoStream
from flows.device import DeviceFlow, Port
from operators import DeviceStatus, FollowMaster, LatestWins, OldestFrame, WindowPoints
from operators.events import Event, Frame, Point, Sample

__all__ = ["Emit", "Script", "camera", "camera_script", "frame", "played", "scripted", "tracker", "vector_sensor"]

Emit = Callable[[Event], None]
Script = Callable[[Emit, threading.Event], None]
"""Plays one opening of a device: returns at its end, raises to fail, leaves soon after the event is set."""


def scripted(*scripts: Script) -> Callable[[], rx.Observable[Event]]:
    """A source: its n-th subscription plays the n-th script, later ones the last."""
    opened = 0

    def subscribe(observer: abc.ObserverBase[Event], scheduler: abc.SchedulerBase | None = None) -> abc.DisposableBase:
        nonlocal opened
        script = scripts[min(opened, len(scripts) - 1)]
        opened += 1
        stop = threading.Event()

        def run() -> None:
            try:
                script(observer.on_next, stop)
            except Exception as error:  # noqa: BLE001 - a device's failure is an event
                if not stop.is_set():
                    observer.on_error(error)
            else:
                if not stop.is_set():
                    observer.on_completed()

        thread = threading.Thread(target=run, name="fake-device", daemon=True)
        thread.start()

        def dispose() -> None:
            stop.set()
            if thread is not threading.current_thread():
                thread.join()

        return Disposable(dispose)

    return lambda: rx.Observable(subscribe)


def frame(number: int, size: tuple[int, int] = (32, 48), *, depth: bool = False, **stamps: Any) -> Frame:
    """A picture whose every pixel is its number, modulo 200."""
    stamps.setdefault("host_ns", time.monotonic_ns())
    if depth:
        return Frame(np.full(size, 500 + number % 1000, np.uint16), "gray16le", seq=number, **stamps)
    return Frame(np.full((*size, 3), number % 200, np.uint8), "rgb24", seq=number, **stamps)


def camera_script(
    fps: float,
    *,
    count: int | None = None,
    size: tuple[int, int] = (32, 48),
    first: int = 0,
    port: str = "rgb",
    depth_port: str | None = None,
    fails: str | None = None,
    stall_at: int | None = None,
    stall_s: float = 0.0,
) -> Script:
    """Frames at a rate on absolute deadlines; after ``count`` of them it ends, or fails with ``fails``."""

    def script(emit: Emit, stop: threading.Event) -> None:
        start = time.monotonic()
        number = 0
        while count is None or number < count:
            if stall_at == number:
                stop.wait(stall_s)
            if stop.wait(max(0.0, start + number / fps - time.monotonic())):
                return
            now = time.monotonic_ns()
            emit(Event(port, frame(first + number, size, host_ns=now, frameset=number if depth_port else None)))
            if depth_port is not None:
                emit(Event(depth_port, frame(first + number, size, depth=True, host_ns=now, frameset=number)))
            number += 1
        if fails is not None:
            raise OSError(fails)

    return script


def camera(
    slot: str,
    *scripts: Script,
    depth: str | None = None,
    status: bool = False,
    ends_take: bool = False,
    source_fps: float | None = None,
    kind: str = "camera",
) -> DeviceFlow:
    """A camera with one colour slot, and a depth slot where ``depth`` names one."""
    ports = [Port("rgb", VideoStream(slot=slot, source_fps=source_fps), lambda c: OldestFrame(c.period_ns))]
    if depth is not None:
        stream = VideoStream(slot=depth, kind="depth", master=slot)
        ports.append(Port("depth", stream, lambda c: FollowMaster(c.index_of[slot])))
    if status:
        ports.append(Port("rgb", StatusStream(id=slot), lambda _c: DeviceStatus(500_000_000)))
    return DeviceFlow(
        key=f"{kind}:{slot}",
        kind=kind,
        name=f"the {slot}",
        slots=(slot,) if depth is None else (slot, depth),
        ports=ports,
        source=scripted(*(scripts or (camera_script(30),))),
        ends_take=ends_take,
    )


def played(values: Sequence[Any], port: str, rate: float, item: Callable[[int, Any], Any]) -> Script:
    """One item a value, at a rate, from the first; it ends after the last."""

    def script(emit: Emit, stop: threading.Event) -> None:
        start = time.monotonic()
        for number, value in enumerate(values):
            if stop.wait(max(0.0, start + number / rate - time.monotonic())):
                return
            emit(Event(port, item(number, value)))
        stop.wait()

    return script


def vector_sensor(column: str, rate: float = 100.0, dim: int = 3) -> DeviceFlow:
    """A sensor whose sample i is ``[i, i, i]``."""
    script = played(
        range(1_000_000), "value", rate, lambda i, _v: Sample(np.full(dim, i, np.float32), time.monotonic_ns())
    )
    stream = VectorStream(column=column, shape=(dim,), declared_by_rig=True)
    return DeviceFlow(
        key=f"sensor:{column}",
        kind="sensor",
        name=column,
        slots=(),
        ports=[Port("value", stream, lambda _c: LatestWins())],
        source=scripted(script),
    )


def tracker(count: int, rate: float = 100.0) -> DeviceFlow:
    """A tracker file with points t = 0, 1, 2 …, that starts with the take."""

    def point(number: int, _value: object) -> Point:
        return Point(float(number), (number * 0.001, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0), time.monotonic_ns())

    stream = TrajectoryStream(
        column="observation.ego_slam_trajectory",
        frame="right_forward_up",
        time={"t": "sensor_s", "clock": "file", "epoch": "unix"},
        owner={"role": "ego"},
    )
    return DeviceFlow(
        key="tracker:points",
        kind="tracker",
        name="points",
        slots=(),
        ports=[Port("pose", stream, lambda _c: WindowPoints())],
        source=scripted(played(range(count), "pose", rate, point)),
        replays=True,
    )
