"""The registered coordinate frames of trajectories."""

from __future__ import annotations

from episodes.errors import ContractError
from episodes.streams import TrajectoryStream

__all__ = ["FRAME_AXES", "LEGACY_FRAME", "axes_of"]

FRAME_AXES: dict[str, dict[str, str]] = {
    "down_left_forward": {"+X": "down", "+Y": "left", "+Z": "forward"},
    "right_forward_up": {"+X": "right", "+Y": "forward", "+Z": "up"},
    "ego_cam_optical": {"+X": "right", "+Y": "down", "+Z": "forward"},
}
LEGACY_FRAME = "right_forward_up"
"""What a trajectory is in whose declaration names no frame."""


def axes_of(stream: TrajectoryStream) -> dict[str, str]:
    """Where the axes of a stream's frame point.

    Raises:
        ContractError: the frame is not registered and the stream declares no axes, or other ones than registered.
    """
    registered = FRAME_AXES.get(stream.frame)
    if registered is None:
        if not stream.frame_axes:
            raise ContractError(f"{stream.column}: frame {stream.frame!r} is not registered; declare its frame_axes")
        return dict(stream.frame_axes)
    if stream.frame_axes and stream.frame_axes != registered:
        raise ContractError(
            f"{stream.column}: frame {stream.frame!r} is registered with other axes; name another frame"
        )
    return dict(registered)
