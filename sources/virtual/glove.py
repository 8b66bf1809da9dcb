"""A virtual glove: pressure, orientations and the solved hand follow the grip."""

from __future__ import annotations

import math
import threading
import time

import numpy as np
import reactivex as rx
from numpy.typing import NDArray

from operators.events import Event, Sample
from sources.device_ports import GlovePort
from sources.device_thread import Emit, device_thread
from sources.virtual.beats import beats
from sources.virtual.world import Hand, World

__all__ = ["PRESSURE_FLOOR", "virtual_glove"]

PRESSURE_FLOOR = 500.0
"""Gloves report 0 for no contact, else at least this."""
PRESSURE_FULL = 3000.0
CURL_RAD = 1.3
"""How far a finger's joint bends at full grip."""
FINGERS, JOINTS, SENSORS = 5, 4, 16
BONE_M = 0.03
PALM_M = 0.09


def virtual_glove(world: World, *, key: str, hand: Hand, rate_hz: float = 60.0) -> rx.Observable[Event]:
    """The glove on a hand of the world, on the ports of `sources.device_ports`.

    float32 samples: pressure [16, 16] (0, or 500 and more), IMU quaternions [16, 4] xyzw, their validity [16], and the
    hand [21, 3], metres: wrist, then thumb to little finger from the root to the tip.
    """

    def read(emit: Emit, stop: threading.Event) -> None:
        pattern = _pattern()
        valid = np.ones(SENSORS, dtype=np.float32)
        for number, due_ns in beats(rate_hz, stop):
            grip = world.grip(hand, due_ns)
            pressure = pattern * np.float32(grip * PRESSURE_FULL)
            pressure[pressure < PRESSURE_FLOOR] = 0.0
            for port, value in (
                (GlovePort.PRESSURE, pressure),
                (GlovePort.IMU_QUAT, _orientations(grip)),
                (GlovePort.IMU_VALID, valid),
                (GlovePort.HAND_POSE, _hand(grip, mirrored=hand == "left")),
            ):
                emit(Event(port, Sample(value, time.monotonic_ns(), seq=number)))

    return device_thread(key, read)


def _pattern() -> NDArray[np.float32]:
    """Where a gripping hand feels pressure, 0 to 1: strongest at the finger tips, columns 12 to 15."""
    rows, columns = np.mgrid[0:16, 0:16]
    finger = np.where(rows > 0, 1.0 - 0.4 * ((rows - 1) % 3 != 1), 0.0)
    along = np.clip((columns - 2) / 13.0, 0.0, 1.0)
    pattern: NDArray[np.float32] = (finger * along).astype(np.float32)
    return pattern


def _orientations(grip: float) -> NDArray[np.float32]:
    """The back of the hand, then three sensors a finger that bend about x."""
    orientations = np.zeros((SENSORS, 4), dtype=np.float32)
    for sensor in range(SENSORS):
        angle = 0.0 if sensor == 0 else grip * CURL_RAD * ((sensor - 1) % 3 + 1) / 3
        orientations[sensor] = (math.sin(angle / 2), 0.0, 0.0, math.cos(angle / 2))
    return orientations


def _hand(grip: float, *, mirrored: bool) -> NDArray[np.float32]:
    """Joints of a hand that lies flat at grip 0, fingers along y, and curls towards −z."""
    joints = np.zeros((1 + FINGERS * JOINTS, 3), dtype=np.float32)
    for finger in range(FINGERS):
        x, y, z, angle = (finger - 2) * 0.02, PALM_M * (0.5 if finger == 0 else 1.0), 0.0, 0.0
        for joint in range(JOINTS):
            joints[1 + finger * JOINTS + joint] = (-x if mirrored else x, y, z)
            angle += grip * CURL_RAD / JOINTS
            y += BONE_M * math.cos(angle)
            z -= BONE_M * math.sin(angle)
    return joints
