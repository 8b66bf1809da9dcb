"""The device flow of a UMI gripper."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import reactivex as rx

from episodes.streams import MatrixStream, TrajectoryStream, VectorStream
from flows.device import DeviceFlow, Port
from flows.ports import matrix_port, status_port, trajectory_port, vector_port, video_port
from operators.errors import RigError
from operators.events import Event
from sources.device_ports import GRIPPER_FORCE, GRIPPER_MATRIX, GripperPort

__all__ = ["gripper"]


def gripper(
    source: Callable[[str], rx.Observable[Event]],
    *,
    mac: str,
    rig: Literal[1, 2] = 1,
    hand: Literal["left", "right"] | None = None,
    name: str | None = None,
    matrices: bool = True,
    scale: int = 100,
    frame: str = "down_left_forward",
    fps: float | None = None,
) -> DeviceFlow:
    """Picture, two forces, two force matrices, state and trajectory of one gripper.

    Rig 1 has no prefix, rig 2 the prefix ``gripper_2_``: the contract's names, on which existing data depends.

    Args:
        source: makes the observable for the device's key, on the ports of `sources.device_ports`.
        mac: of the gripper; the key is ``gripper:<MAC>``.
        rig: number of the gripper, fixed by its MAC, not by the order of opening. hand: that holds it.
        name: what the operator calls it.
        matrices: whether force matrices are recorded. scale: their quantisation, 1, 10, 100, 1000, or 0 for float32.
        frame: of the trajectory.
        fps: rate of its camera.

    Raises:
        RigError: a rig number that is neither 1 nor 2.
    """
    if rig not in (1, 2):
        raise RigError(f"gripper {mac}: rig {rig} is neither 1 nor 2")
    key = f"gripper:{mac.upper()}"
    prefix = "" if rig == 1 else f"gripper_{rig}_"
    slot = "gripper_" if rig == 1 else prefix
    ports = [video_port(GripperPort.RGB, f"{slot}rgb", source_fps=fps)]
    state = VectorStream(
        column=f"observation.{prefix}gripper_state", shape=(3,), names=("open_pct", "gripped", "fz_mn")
    )
    ports.append(vector_port(GripperPort.STATE, state))
    for finger, port in GRIPPER_FORCE.items():
        ports.append(_force(port, f"observation.{prefix}gripper_{finger}_force"))
    for finger, port in GRIPPER_MATRIX.items() if matrices else ():
        column = f"observation.{prefix}gripper_{finger}_force_matrix"
        ports.append(matrix_port(port, MatrixStream(column=column, scale=scale, stamp_column=f"{column}_ns")))
    owner: dict[str, str | int] = {"role": "gripper", "rig": rig, "device_key": key}
    if hand is not None:
        owner["hand"] = hand
    pose = TrajectoryStream(
        column=f"observation.{prefix}slam_trajectory",
        frame=frame,
        time={"t": "sensor_s", "clock": "camera_sensor", "epoch": "enter_press"},
        owner=owner,
        source_slot=f"{slot}stereo_left",
    )
    ports.append(trajectory_port(GripperPort.POSE, pose))
    unseen = (f"{slot}pose", f"{slot}force_left", f"{slot}force_right")
    alive = (GripperPort.POSE, GRIPPER_FORCE["left"], GRIPPER_FORCE["right"])
    ports += [status_port(column, heard) for column, heard in zip(unseen, alive, strict=True)]
    columns = tuple(port.stream.column for port in ports if isinstance(port.stream, VectorStream | MatrixStream))
    return DeviceFlow(
        key=key,
        kind="gripper",
        name=name or f"gripper {rig}",
        slots=(f"{slot}stereo_left", f"{slot}rgb", *unseen),
        ports=tuple(ports),
        source=lambda: source(key),
        sensor_columns=columns,
        rig=rig,
        hand=hand,
    )


def _force(port: str, column: str) -> Port:
    names = ("fx", "fy", "fz")
    stream = VectorStream(column=column, shape=(3,), unit="mN", names=names, stamp_column=f"{column}_ns")
    return vector_port(port, stream)
