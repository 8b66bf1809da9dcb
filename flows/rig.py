"""A rig: a list of device flows plus a few numbers. What cannot work is refused when it is built, by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from episodes.declaration import Declaration
from flows.device import DeviceFlow

__all__ = ["DEPTH_CODECS", "DEPTH_QUALITIES", "VIDEO_CODECS", "Rig"]

VIDEO_CODECS = ("auto", "hevc_nvenc", "libx265", "libx264", "libsvtav1")
DEPTH_CODECS = ("auto", "hevc", "ffv1")
DEPTH_QUALITIES = ("lossless", "qp6")


@dataclass(frozen=True, slots=True)
class Rig:
    """What a rig developer declares; slots, columns, features, devices, calibration and info.json follow.

    Attributes:
        name: of the rig. flows: its devices, in the order of their columns.
        fps: rows a second, 1 to 240; fixed by a task's first episode.
        master: the colour slot whose capture time is ``hardware_ns``; by default ``stereo_left`` where IMU is recorded, else
            the first recorded colour slot.
        video_codec: ``auto`` or an encoder of FFmpeg. depth_codec: ``auto``, ``hevc`` (12-bit log codes) or ``ffv1``
            (exact mm). depth_quality: of ``hevc``.

    Raises:
        RigError: the rig cannot work; the text names both sides.
    """

    name: str
    flows: Sequence[DeviceFlow]
    fps: float = 30
    master: str | None = None
    video_codec: str = "auto"
    depth_codec: Literal["auto", "hevc", "ffv1"] = "auto"
    depth_quality: Literal["lossless", "qp6"] = "lossless"

    def declaration(self, task_name: str, app_version: str) -> Declaration:
        """Everything that info.json and a rebuild after a crash need.

        Raises:
            RigError: a name or a column that the contract does not allow.
        """
        raise NotImplementedError
