"""A virtual UMI gripper: its camera, two feeling fingers, its opening, its tracker."""

from __future__ import annotations

import threading
import time

import numpy as np
import reactivex as rx

from operators.events import Event, Frame, Point, Sample
from sources.device_ports import GRIPPER_FORCE, GRIPPER_MATRIX, GripperPort
from sources.device_thread import Emit, device_thread
from sources.virtual.beats import beats
from sources.virtual.counter import draw_stamp
from sources.virtual.scene import Scene
from sources.virtual.touch import MatrixNoise, Touch
from sources.virtual.world import Hand, World

__all__ = ["virtual_gripper"]

FORCE_RATE = 2
"""Forces come at twice the rate of the pictures."""


def virtual_gripper(
    world: World,
    *,
    key: str,
    hand: Hand,
    fps: float = 30.0,
    height: int = 240,
    width: int = 320,
    matrices: bool = True,
    noise: MatrixNoise = "quiet",
) -> rx.Observable[Event]:
    """The gripper in a hand of the world, on the ports of `sources.device_ports`.

    At ``fps``: the picture (rgb24, counter and clock in its pixels, stamped on receipt as the real camera's are), the
    state [opening %, gripped 0 or 1, fz mN], the pose, and with ``matrices`` the two force matrices; at twice the rate
    the two forces. All of one beat are of one moment of the world.

    The pose is in ``down_left_forward``, relative to where the hand began; ``t`` counts from the first frame, and
    ``host_ns`` is the capture time of the frame of the tracker's own camera, which is not recorded.
    """

    def read(emit: Emit, stop: threading.Event) -> None:
        scene = Scene(height, width, focal_px=width / 2, seed=1 if hand == "left" else 2)
        touch = {finger: Touch(noise, seed=index) for index, finger in enumerate(GRIPPER_FORCE)}
        first_ns: int | None = None
        for number, due_ns in beats(FORCE_RATE * fps, stop):
            forces = {finger: world.force(hand, finger, due_ns) for finger in GRIPPER_FORCE}
            for finger, force in forces.items():
                value = np.array(force, dtype=np.float32)
                emit(Event(GRIPPER_FORCE[finger], Sample(value, time.monotonic_ns(), seq=number)))
            if number % FORCE_RATE:
                continue
            first_ns = due_ns if first_ns is None else first_ns
            beat = number // FORCE_RATE
            x, y, z = world.hand(hand, due_ns)
            image = scene.colour((x, y, z))
            draw_stamp(image, beat, due_ns)
            emit(Event(GripperPort.RGB, Frame(image, "rgb24", time.monotonic_ns(), seq=beat, ts_src=3)))
            # World: x right, y down, z forward.
            pose = (y, -x, z, 0.0, 0.0, 0.0, 1.0)
            emit(Event(GripperPort.POSE, Point((due_ns - first_ns) / 1e9, pose, due_ns)))
            opening = world.opening(hand, due_ns)
            fz = max(force[2] for force in forces.values())
            state = np.array([opening, float(fz > 0), fz], dtype=np.float32)
            emit(Event(GripperPort.STATE, Sample(state, time.monotonic_ns(), seq=beat)))
            if not matrices:
                continue
            for finger, force in forces.items():
                matrix = touch[finger].matrix(force, *world.contact(hand, finger, due_ns))
                emit(Event(GRIPPER_MATRIX[finger], Sample(matrix, time.monotonic_ns(), seq=beat)))

    return device_thread(key, read)
