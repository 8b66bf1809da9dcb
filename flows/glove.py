"""The device flow of a data glove."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import reactivex as rx

from episodes.streams import VectorStream
from flows.device import DeviceFlow
from flows.ports import status_port, vector_port
from operators.errors import RigError
from operators.events import Event
from sources.device_ports import GlovePort

__all__ = ["glove"]


def glove(
    source: Callable[[str], rx.Observable[Event]],
    *,
    usb: str,
    sensor: Literal["left_glove", "right_glove"],
    name: str | None = None,
    processing: str = "gated",
    imu: bool = True,
    hand_pose: bool = True,
) -> DeviceFlow:
    """Pressure, orientations and the solved hand of one glove.

    Args:
        source: makes the observable for the device's key, on the ports of `sources.device_ports`.
        usb: serial of the glove; the key is ``usbglove:<serial>``.
        sensor: its column.
        name: what the operator calls it.
        processing: ``gated`` where the pressure is 0 or at least 500, ``raw`` where it is as the wire has it.
        imu: whether orientations and their validity are recorded. hand_pose: whether the source solves the hand.

    Raises:
        RigError: a sensor column that is neither left_glove nor right_glove.
    """
    if sensor not in ("left_glove", "right_glove"):
        raise RigError(f"glove {usb}: sensor {sensor!r} is neither left_glove nor right_glove")
    key = f"usbglove:{usb}"
    column = f"observation.{sensor}"
    pressure = VectorStream(column=column, shape=(16, 16), processing=processing)
    ports = [vector_port(GlovePort.PRESSURE, pressure)]
    if imu:
        ports.append(vector_port(GlovePort.IMU_QUAT, VectorStream(column=f"{column}_imu_quat", shape=(16, 4))))
        ports.append(vector_port(GlovePort.IMU_VALID, VectorStream(column=f"{column}_imu_valid", shape=(16,))))
    if hand_pose:
        side = sensor.removesuffix("_glove")
        pose = VectorStream(column=f"observation.{side}_hand_pose", shape=(21, 3), unit="m", always=True)
        ports.append(vector_port(GlovePort.HAND_POSE, pose))
    ports.append(status_port(sensor))
    return DeviceFlow(
        key=key,
        kind="data_ble",
        name=name or sensor,
        slots=(),
        ports=tuple(ports),
        source=lambda: source(key),
        sensor_column=sensor,
    )
