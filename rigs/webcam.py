"""One camera: a V4L2 device, an MJPEG or RTSP URL, or a video file played as a live camera."""

from __future__ import annotations

import shlex
from typing import Literal

from flows import camera
from flows.rig import Rig
from flows.trajectory import trajectory as tracker

__all__ = ["rig"]


def rig(
    source: str = "/dev/video0",
    name: str = "webcam",
    fps: float = 30.0,
    source_fps: float | None = None,
    width: int | None = None,
    height: int | None = None,
    trajectory: str | None = None,
    trajectory_cmd: str | None = None,
    video_codec: Literal["auto", "hevc_nvenc", "libx265", "libx264", "libsvtav1"] = "auto",
) -> Rig:
    """One camera: a V4L2 device, an MJPEG or RTSP URL, or a video file.

    Args:
        source: /dev/video0, an http(s) or rtsp(s) URL, or a video file.
        name: of the camera; its slot is <name>_rgb.
        fps: rows a second.
        source_fps: asked of a V4L2 device; the rate at which a file is played, by default its own.
        width: asked of a V4L2 device, with height. height: likewise.
        trajectory: a TUM file, replayed as a live tracker. trajectory_cmd: a command that prints TUM lines.
        video_codec: auto or an encoder.
    """
    flows = [camera(source, name=name, fps=source_fps, width=width, height=height)]
    if trajectory is not None or trajectory_cmd is not None:
        command = shlex.split(trajectory_cmd) if trajectory_cmd else None
        flows.append(tracker(trajectory, command=command, source_slot=flows[0].slots[0]))
    return Rig(name="webcam", fps=fps, flows=flows, video_codec=video_codec)
