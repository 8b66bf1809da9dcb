"""A folder of colour and depth pictures, played as a live camera, with a tracker beside it where wanted."""

from __future__ import annotations

import shlex
from typing import Literal

from flows import rgbd_folder
from flows.rig import Rig
from flows.trajectory import trajectory as tracker

__all__ = ["rig"]


def rig(
    path: str,
    fps: float = 30.0,
    name: str = "rgbd",
    trajectory: str | None = None,
    trajectory_cmd: str | None = None,
    video_codec: Literal["auto", "hevc_nvenc", "libx265", "libx264", "libsvtav1"] = "auto",
    depth_codec: Literal["auto", "hevc", "ffv1"] = "auto",
    depth_quality: Literal["lossless", "qp6"] = "lossless",
) -> Rig:
    """A folder with color/ and depth/, played at its rate; the take ends with the folder.

    Args:
        path: of the folder.
        fps: rows a second, and the rate at which the folder is played.
        name: slots are <name>_rgb and <name>_depth.
        trajectory: a TUM file, replayed as a live tracker. trajectory_cmd: a command that prints TUM lines.
        video_codec: auto or an encoder. depth_codec: auto, hevc or ffv1. depth_quality: of hevc.
    """
    flows = [rgbd_folder(path, fps=fps, name=name)]
    if trajectory is not None or trajectory_cmd is not None:
        command = shlex.split(trajectory_cmd) if trajectory_cmd else None
        flows.append(tracker(trajectory, command=command, source_slot=flows[0].slots[0]))
    return Rig(
        name="rgbd_folder",
        fps=fps,
        flows=flows,
        video_codec=video_codec,
        depth_codec=depth_codec,
        depth_quality=depth_quality,
    )
