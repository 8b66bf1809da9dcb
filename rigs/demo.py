"""Two grippers, a stereo head and two gloves in a small synthetic world: every column, no hardware."""

from __future__ import annotations

from typing import Any, Literal

from flows import glove, gripper, stereo_head
from flows.rig import Rig
from sources.virtual.glove import virtual_glove
from sources.virtual.gripper import virtual_gripper
from sources.virtual.stereo_head import BASELINE_M, virtual_stereo_head
from sources.virtual.world import World

__all__ = ["rig"]

HEAD_HEIGHT, HEAD_WIDTH = 256, 384


def rig(
    fps: float = 30.0,
    matrices: bool = True,
    noise: Literal["none", "quiet", "noisy"] = "quiet",
    video_codec: str = "auto",
    depth_codec: Literal["auto", "hevc", "ffv1"] = "auto",
) -> Rig:
    """Two grippers, a stereo head and two gloves in a small synthetic world.

    One moving pose a hand and one of the head give pictures, depth, forces and trajectories that agree; every picture
    has a frame counter and a clock in its pixels (`sources.virtual.counter`).

    Args:
        fps: rows a second, and the rate of all cameras.
        matrices: whether the four force matrices are recorded.
        noise: of the force matrices: none, quiet (where there is contact) or noisy (everywhere, σ 0.5 mN).
        video_codec: as `flows.rig.Rig` has it. depth_codec: likewise.
    """
    world = World.now()
    return Rig(
        name="demo",
        fps=fps,
        flows=[
            stereo_head(
                lambda key: virtual_stereo_head(world, key=key, fps=fps, height=HEAD_HEIGHT, width=HEAD_WIDTH),
                serial="virtual",
                name="head",
                fps=fps,
                calibration=_calibration(fps),
            ),
            gripper(
                lambda key: virtual_gripper(world, key=key, hand="left", fps=fps, matrices=matrices, noise=noise),
                mac="02:00:00:00:00:01",
                rig=1,
                hand="left",
                name="left gripper",
                matrices=matrices,
                fps=fps,
            ),
            gripper(
                lambda key: virtual_gripper(world, key=key, hand="right", fps=fps, matrices=matrices, noise=noise),
                mac="02:00:00:00:00:02",
                rig=2,
                hand="right",
                name="right gripper",
                matrices=matrices,
                fps=fps,
            ),
            glove(
                lambda key: virtual_glove(world, key=key, hand="left"),
                usb="virtual-left",
                sensor="left_glove",
                name="left glove",
            ),
            glove(
                lambda key: virtual_glove(world, key=key, hand="right"),
                usb="virtual-right",
                sensor="right_glove",
                name="right glove",
            ),
        ],
        video_codec=video_codec,
        depth_codec=depth_codec,
    )


def _calibration(fps: float) -> dict[str, Any]:
    """What the virtual head really is: a pinhole without distortion."""
    focal = HEAD_WIDTH / 2
    eye = {"intrinsic": [focal, focal, HEAD_WIDTH / 2, HEAD_HEIGHT / 2], "distortion": [0.0] * 5}
    return {
        "type": "stereo_rgbd_camera",
        "name": "head_stereo",
        "resolution": [HEAD_WIDTH, HEAD_HEIGHT],
        "fps": fps,
        "baseline": BASELINE_M,
        "left_camera": eye,
        "right_camera": eye,
        "depth_scale": 0.001,
        "cam_imu_timeshift": 0.0,
    }
