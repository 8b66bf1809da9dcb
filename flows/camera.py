"""The device flow of a camera: a V4L2 device, an MJPEG or RTSP URL, a video file."""

from __future__ import annotations

from pathlib import Path

from episodes.naming import slot_base
from flows.device import DeviceFlow
from flows.ports import video_port
from operators.errors import RigError
from sources.camera import IMAGE_PORT, camera_id, is_live
from sources.camera import camera as open_camera

__all__ = ["camera"]


def camera(
    source: str | Path,
    *,
    name: str = "camera",
    slot: str | None = None,
    id: str | None = None,  # noqa: A002 - the word of the key: camera:<id>
    fps: float | None = None,
    width: int | None = None,
    height: int | None = None,
) -> DeviceFlow:
    """One colour slot from anything that PyAV opens.

    Args:
        source: ``/dev/video0``, an ``http``, ``https``, ``rtsp`` or ``rtsps`` URL, or the path of a video file, which
            is played at its own rate and ends the take.
        name: what the operator calls it.
        slot: of the video; by default ``<name>_rgb``, cleaned.
        id: for the key ``camera:<id>``, where two sources differ only in what keys never hold (user, password, query).
        fps, width, height: asked of a V4L2 device; ``fps``: the rate at which a file is played.

    Raises:
        RigError: no source, a number out of range, or a name from which no slot can be made.
    """
    text = str(source)
    if not text.strip():
        raise RigError(f"camera {name!r}: no source; give a device, a URL or a video file")
    if fps is not None and not 0 < fps <= 1000:
        raise RigError(f"camera {name!r}: fps {fps} is not in 0 to 1000")
    if (width is None) != (height is None) or any(not 1 <= size <= 16_384 for size in (width, height) if size):
        raise RigError(f"camera {name!r}: width and height go together, 1 to 16384 pixels")
    base = slot_base(name)
    if slot is None and not base:
        raise RigError(f"camera {name!r}: no slot can be made of this name; use letters or digits")
    slot = slot or f"{base}_rgb"
    key = f"camera:{id or camera_id(text)}"
    return DeviceFlow(
        key=key,
        kind="camera",
        name=name,
        slots=(slot,),
        ports=(video_port(IMAGE_PORT, slot, source_fps=fps),),
        source=lambda: open_camera(text, key=key, fps=fps, width=width, height=height),
        ends_take=not is_live(text),
    )
