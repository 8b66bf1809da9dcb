"""What an episode is declared to be: everything that info.json and a rebuild after a crash need of its rig."""

from __future__ import annotations

from typing import Any

import msgspec

from episodes.columns import columns_of
from episodes.errors import ContractError
from episodes.json_form import json_text
from episodes.streams import Stream, TrajectoryStream, VideoStream

__all__ = ["Declaration", "DeviceEntry"]


class DeviceEntry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One entry of info's ``devices``. ``slots`` are all slots of the device, the unrecorded ones included."""

    key: str
    kind: str
    name: str
    slots: tuple[str, ...] = ()
    sensor_column: str | None = None
    sensor_columns: tuple[str, ...] = ()
    rig: int | None = None
    hand: str | None = None

    def as_info(self) -> dict[str, Any]:
        """The entry as info.json has it."""
        entry: dict[str, Any] = {"key": self.key, "kind": self.kind, "name": self.name, "slots": list(self.slots)}
        if self.sensor_column is not None:
            entry["sensor_column"] = self.sensor_column
        if self.sensor_columns:
            entry["sensor_columns"] = list(self.sensor_columns)
        if self.rig is not None:
            entry["rig"] = self.rig
        if self.hand is not None:
            entry["hand"] = self.hand
        return entry


class Declaration(msgspec.Struct, frozen=True, kw_only=True):
    """A rig's episode, declared.

    Attributes:
        rig: the rig's name. task_name: the raw task name. fps: rows a second.
        streams: in rig order; a follower stands behind what it follows.
        master: the slot whose capture time is ``hardware_ns``; None without video.
        devices: in rig order. sensors: glove columns without ``observation.``.
        calibration: by key, ``head_stereo`` first. app_version: of rigflow.
    """

    rig: str
    task_name: str
    fps: float
    streams: tuple[Stream, ...]
    master: str | None
    devices: tuple[DeviceEntry, ...] = ()
    sensors: tuple[str, ...] = ()
    calibration: dict[str, Any] = {}
    app_version: str = ""

    @property
    def videos(self) -> tuple[VideoStream, ...]:
        """The video streams, in rig order."""
        return tuple(stream for stream in self.streams if isinstance(stream, VideoStream))

    @property
    def trajectories(self) -> tuple[TrajectoryStream, ...]:
        """The trajectory streams, in rig order."""
        return tuple(stream for stream in self.streams if isinstance(stream, TrajectoryStream))

    def check(self) -> None:
        """Refuse what the files of a task could not hold, before anything is recorded.

        Raises:
            ContractError: columns or names that break the contract, or a calibration that JSON cannot hold.
        """
        columns_of(self.streams, master=self.master)
        for name, entry in self.calibration.items():
            _check_json(f"calibration {name!r}", entry)
        for device in self.devices:
            _check_json(f"device {device.key!r}", device.as_info())
        _check_json(f"task name {self.task_name!r}", self.task_name)


def _check_json(what: str, value: object) -> None:
    try:
        json_text(value).encode()
    except (ValueError, TypeError, RecursionError) as error:
        raise ContractError(f"{what} cannot be written as JSON: {error}") from error
