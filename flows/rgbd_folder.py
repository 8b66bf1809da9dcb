"""The device flow of a folder of colour and depth pictures, played as a live device."""

from __future__ import annotations

from pathlib import Path

from episodes.naming import slot_base
from flows.device import DeviceFlow
from flows.ports import video_port
from operators.errors import RigError
from sources.rgbd_folder import COLOR_PORT, DEPTH_PORT, list_pairs
from sources.rgbd_folder import rgbd_folder as play_folder

__all__ = ["rgbd_folder"]


def rgbd_folder(path: str | Path, *, fps: float = 30.0, name: str = "rgbd") -> DeviceFlow:
    """Slots ``<name>_rgb`` and ``<name>_depth`` from ``color/`` and ``depth/`` of a folder; its end ends the take.

    Args:
        path: of the folder; a colour picture (JPEG or PNG) and its depth (16-bit PNG, mm) have the same stem.
        fps: the rate at which it is played.
        name: what the operator calls it.

    Raises:
        RigError: ``fps`` out of range, or a name from which no slot can be made.
        DeviceError: a folder or a partner of a picture is missing; it is named.
    """
    folder = Path(path)
    base = slot_base(name)
    if not base:
        raise RigError(f"rgbd_folder {name!r}: no slot can be made of this name; use letters or digits")
    if not 0 < fps <= 1000:
        raise RigError(f"rgbd_folder {name!r}: fps {fps} is not in 0 to 1000")
    key = f"rgbd:{folder.resolve().name}"
    list_pairs(folder, key=key)
    color, depth = f"{base}_rgb", f"{base}_depth"
    return DeviceFlow(
        key=key,
        kind="rgbd",
        name=name,
        slots=(color, depth),
        ports=(
            video_port(COLOR_PORT, color, source_fps=fps),
            video_port(DEPTH_PORT, depth, kind="depth", follows=color, source_fps=fps),
        ),
        source=lambda: play_folder(folder, fps=fps, key=key),
        ends_take=True,
    )
