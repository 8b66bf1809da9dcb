"""A virtual camera: colour, and depth where wanted, with counter and clock in the pixels."""

from __future__ import annotations

import threading
import time

import reactivex as rx

from operators.events import Event, Frame
from sources.camera import IMAGE_PORT
from sources.device_thread import Emit, device_thread
from sources.virtual.beats import beats
from sources.virtual.counter import draw_stamp
from sources.virtual.scene import Scene
from sources.virtual.world import World

__all__ = ["virtual_camera"]


def virtual_camera(
    world: World, *, key: str, fps: float = 30.0, height: int = 240, width: int = 320, frames: int | None = None
) -> rx.Observable[Event]:
    """A camera in the world's head: port ``image``, rgb24, `sources.virtual.counter` in its pixels.

    ``seq`` is the counter, from 0 at each subscription. With ``frames`` it completes behind so many.
    """

    def read(emit: Emit, stop: threading.Event) -> None:
        scene = Scene(height, width, focal_px=width / 2)
        for number, due_ns in beats(fps, stop):
            if frames is not None and number >= frames:
                return
            image = scene.colour(world.head(due_ns))
            draw_stamp(image, number, due_ns)
            emit(Event(IMAGE_PORT, Frame(image, "rgb24", time.monotonic_ns(), seq=number, ts_src=3)))

    return device_thread(key, read)
