"""The device flow of a tracker: a TUM file, or a process that prints TUM lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from episodes.streams import TrajectoryStream
from flows.device import DeviceFlow
from flows.ports import trajectory_port
from operators.errors import RigError
from sources.tum import TRAJECTORY_PORT, tum_file, tum_process

__all__ = ["trajectory"]

CLOCKS = ("camera_sensor", "host_monotonic")
EPOCHS = ("enter_press", "first_frame", "device_boot")


def trajectory(
    file: str | Path | None = None,
    *,
    command: Sequence[str] | None = None,
    name: str = "tracker",
    number: int = 1,
    frame: str = "ego_cam_optical",
    frame_axes: Mapping[str, str] | None = None,
    clock: str = "camera_sensor",
    epoch: str = "device_boot",
    source_slot: str | None = None,
) -> DeviceFlow:
    """A tracker of the role ego: the column ``observation.ego_slam_trajectory``, for the second ``ego_2_…``.

    Args:
        file: a TUM file, replayed at its own intervals from the start of each take; its end does not end the take.
        command: instead of a file, program and arguments of a tracker that prints TUM lines; started without a shell.
        name: what the operator calls it.
        number: 1 for the first tracker of the role, 2 for the second …
        frame: of the poses; one that is not registered needs ``frame_axes``: ``{"+X": "right", …}``.
        clock, epoch: of the poses' own time: the clock that it is on, and where it begins.
        source_slot: the slot whose frames the tracker sampled, where there is one.

    Raises:
        RigError: neither file nor command, or both; a number, clock or epoch that does not exist.
    """
    if (file is None) == (not command):
        raise RigError(f"trajectory {name!r}: give a file, or the command of a process, and not both")
    if number < 1 or clock not in CLOCKS or epoch not in EPOCHS:
        raise RigError(
            f"trajectory {name!r}: number must be 1 or more, clock one of {', '.join(CLOCKS)}, "
            f"epoch one of {', '.join(EPOCHS)}"
        )
    path = None if file is None else Path(file)
    if path is not None and not path.is_file():
        raise RigError(f"trajectory {name!r}: there is no file {path}; check the path")
    arguments = tuple(command or ())
    key = f"tracker:{path.name if path is not None else Path(arguments[0]).name}"
    if number > 1:
        key += f"@{number}"
    prefix = "ego_" if number == 1 else f"ego_{number}_"
    stream = TrajectoryStream(
        column=f"observation.{prefix}slam_trajectory",
        frame=frame,
        frame_axes=None if frame_axes is None else dict(frame_axes),
        time={"t": "sensor_s", "clock": clock, "epoch": epoch},
        owner={"role": "ego", "device_key": key},
        source_slot=source_slot,
    )
    return DeviceFlow(
        key=key,
        kind="tracker",
        name=name,
        slots=(),
        ports=(trajectory_port(TRAJECTORY_PORT, stream),),
        source=lambda: tum_process(arguments, key=key) if path is None else tum_file(path, key=key),
        replays=path is not None,
    )
