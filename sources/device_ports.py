"""The names of the outputs of the device families: a driver and its virtual twin emit on the same ports."""

from __future__ import annotations

from typing import Final, Literal

__all__ = ["GRIPPER_FORCE", "GRIPPER_MATRIX", "GlovePort", "GripperPort", "StereoPort"]


class GripperPort:
    """Of a UMI gripper: its picture, its state and the pose of its tracker."""

    RGB: Final = "rgb"
    STATE: Final = "state"
    POSE: Final = "pose"


GRIPPER_FORCE: Final[dict[Literal["left", "right"], str]] = {"left": "left_force", "right": "right_force"}
"""The force on a finger, [3] float32, mN: fx, fy, fz."""
GRIPPER_MATRIX: Final[dict[Literal["left", "right"], str]] = {
    "left": "left_force_matrix",
    "right": "right_force_matrix",
}
"""The force matrix of a finger, [250, 250, 3] float32, mN."""


class StereoPort:
    """Of a stereo head: two eyes and the depth of one moment share a frameset."""

    LEFT: Final = "left"
    RIGHT: Final = "right"
    DEPTH: Final = "depth"
    IMU: Final = "imu"
    POSE: Final = "pose"


class GlovePort:
    """Of a glove: pressure [16, 16], orientations [16, 4] xyzw, their validity [16], the solved hand [21, 3] m."""

    PRESSURE: Final = "pressure"
    IMU_QUAT: Final = "imu_quat"
    IMU_VALID: Final = "imu_valid"
    HAND_POSE: Final = "hand_pose"
