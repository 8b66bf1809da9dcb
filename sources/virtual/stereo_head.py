"""A virtual stereo head: two eyes, depth, an inertial unit and a tracker, on a clock of its own."""

from __future__ import annotations

import threading
import time

import reactivex as rx

from operators.events import Event, Frame, ImuSample, Point
from sources.device_ports import StereoPort
from sources.device_thread import Emit, device_thread
from sources.virtual.beats import beats
from sources.virtual.counter import draw_depth_stamp, draw_stamp
from sources.virtual.scene import Scene
from sources.virtual.world import World

__all__ = ["BASELINE_M", "virtual_stereo_head"]

BASELINE_M = 0.095
IMU_RATE = 7
"""Inertial samples a frame: 210 Hz at 30 fps."""
BOOT_NS = 5_000_000_000
DRIFT_PPM = 20
"""The device's clock began elsewhere and runs fast, as crystals do."""


def virtual_stereo_head(
    world: World, *, key: str, fps: float = 30.0, height: int = 256, width: int = 384
) -> rx.Observable[Event]:
    """The head of the world, on the ports of `sources.device_ports`.

    Left and right eye (rgb24) and depth (gray16le, mm, of the left eye) of one moment share ``frameset``, ``seq`` and
    the counter in their pixels; ``device_ns`` is on the device's clock, that of the inertial samples too. Each frame
    comes behind the samples up to it, the left eye last, so that whoever follows it finds its partners there.

    The pose is that of the left eye in ``ego_cam_optical``, ``t`` counts from the first frame, ``host_ns`` is the
    capture time of the left frame.
    """

    def device_ns(at_ns: int) -> int:
        since = at_ns - world.epoch_ns
        return BOOT_NS + since + since * DRIFT_PPM // 1_000_000

    def read(emit: Emit, stop: threading.Event) -> None:
        scene = Scene(height, width, focal_px=width / 2)
        first_ns: int | None = None
        for number, due_ns in beats(fps, stop):
            first_ns = due_ns if first_ns is None else first_ns
            for index in range(IMU_RATE):
                at_ns = due_ns - round((IMU_RATE - 1 - index) * 1e9 / (IMU_RATE * fps))
                values = (0.0, 0.0, 0.0, *world.head_acceleration(at_ns))
                emit(Event(StereoPort.IMU, ImuSample(device_ns(at_ns), values)))
            x, y, z = world.head(due_ns)
            depth = scene.depth((x, y, z))
            draw_depth_stamp(depth, number, due_ns)
            right = scene.colour((x + BASELINE_M, y, z))
            draw_stamp(right, number, due_ns)
            left = scene.colour((x, y, z))
            draw_stamp(left, number, due_ns)
            for port, image, pix_fmt in (
                (StereoPort.DEPTH, depth, "gray16le"),
                (StereoPort.RIGHT, right, "rgb24"),
                (StereoPort.LEFT, left, "rgb24"),
            ):
                host_ns = time.monotonic_ns()
                frame = Frame(
                    image, pix_fmt, host_ns, device_ns=device_ns(due_ns), seq=number, frameset=number, ts_src=1
                )
                emit(Event(port, frame))
            pose = (x, y, z, 0.0, 0.0, 0.0, 1.0)
            emit(Event(StereoPort.POSE, Point((due_ns - first_ns) / 1e9, pose, due_ns)))

    return device_thread(key, read)
