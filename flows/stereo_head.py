"""The device flow of a stereo head, S80M or S80C: the ego camera."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import reactivex as rx

from episodes.streams import ImuStream, TrajectoryStream
from flows.device import DeviceFlow
from flows.ports import imu_port, trajectory_port, video_port
from operators.events import Event
from sources.device_ports import StereoPort

__all__ = ["stereo_head"]


def stereo_head(
    source: Callable[[str], rx.Observable[Event]],
    *,
    serial: str,
    name: str = "head",
    tracker: bool = True,
    frame: str = "ego_cam_optical",
    fps: float | None = None,
    calibration: Mapping[str, Any] | None = None,
) -> DeviceFlow:
    """Both eyes, depth, inertial samples and the ego trajectory of one head.

    The right eye and the depth follow the left eye: row i shows one moment. The capture times are on the device's clock
    and are fitted when an episode is committed.

    Args:
        source: makes the observable for the device's key, on the ports of `sources.device_ports`.
        serial: of the head; the key is ``s80m:<serial>``.
        name: what the operator calls it.
        tracker: whether the head's own pose is recorded, as ``observation.ego_slam_trajectory``, in ``frame``.
        fps: rate of its cameras.
        calibration: as info.json keeps it under ``head_stereo``; None where there is none.
    """
    key = f"s80m:{serial}"
    left, right, depth = "stereo_left", "stereo_right", "stereo_depth"
    ports = [
        video_port(StereoPort.LEFT, left, clock="device", source_fps=fps),
        video_port(StereoPort.RIGHT, right, follows=left, clock="device", source_fps=fps),
        video_port(StereoPort.DEPTH, depth, kind="depth", follows=left, clock="device", source_fps=fps),
        imu_port(StereoPort.IMU, ImuStream(master=left)),
    ]
    if tracker:
        pose = TrajectoryStream(
            column="observation.ego_slam_trajectory",
            frame=frame,
            time={"t": "sensor_s", "clock": "camera_sensor", "epoch": "first_frame"},
            owner={"role": "ego", "device_key": key},
            source_slot=left,
        )
        ports.append(trajectory_port(StereoPort.POSE, pose))
    return DeviceFlow(
        key=key,
        kind="s80m",
        name=name,
        slots=(left, right, depth),
        ports=tuple(ports),
        source=lambda: source(key),
        calibration=calibration,
        claims={"head_stereo": "a head can be opened once only; drop one of the two"},
    )
