"""A rig: a list of device flows plus a few numbers. What cannot work is refused when it is built, by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from episodes.declaration import Declaration, DeviceEntry
from episodes.streams import ImuStream, Stream, VideoStream
from flows.device import DeviceFlow, Port
from flows.rig_rules import check_rig

__all__ = ["Rig", "stream_key"]

IMU_MASTER = "stereo_left"


@dataclass(frozen=True, slots=True)
class Rig:
    """What a rig developer declares; slots, columns, features, devices, calibration and info.json follow.

    Attributes:
        name: of the rig. flows: its devices, in the order of their columns.
        fps: rows a second, 1 to 240; fixed by a task's first episode.
        master: the colour slot whose capture time is ``hardware_ns``; by default ``stereo_left`` where IMU is
            recorded, else the first recorded colour slot.
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

    def __post_init__(self) -> None:
        object.__setattr__(self, "flows", tuple(self.flows))
        check_rig(self)

    @property
    def ports(self) -> tuple[tuple[DeviceFlow, Port], ...]:
        """Every port with its device, in row order."""
        return tuple((flow, port) for flow in self.flows for port in flow.ports)

    @property
    def streams(self) -> tuple[Stream, ...]:
        """Every recorded stream, in row order."""
        return tuple(port.stream for _flow, port in self.ports)

    @property
    def index_of(self) -> Mapping[str, int]:
        """Place in the row of every stream, by `stream_key`."""
        return {stream_key(stream): index for index, stream in enumerate(self.streams)}

    @property
    def master_slot(self) -> str | None:
        """The slot whose capture time is ``hardware_ns``; None without a colour slot."""
        if self.master is not None:
            return self.master
        if any(isinstance(stream, ImuStream) for stream in self.streams):
            return IMU_MASTER
        colour = (s.slot for s in self.streams if isinstance(s, VideoStream) and s.kind == "rgb")
        return next(colour, None)

    def declaration(self, task_name: str, app_version: str) -> Declaration:
        """Everything that info.json and a rebuild after a crash need of the rig."""
        return Declaration(
            rig=self.name,
            task_name=task_name,
            fps=float(self.fps),
            streams=self.streams,
            master=self.master_slot,
            devices=tuple(_entry(flow) for flow in self.flows),
            sensors=tuple(flow.sensor_column for flow in self.flows if flow.sensor_column is not None),
            calibration=_calibration(self.flows),
            app_version=app_version,
        )


def stream_key(stream: Stream) -> str:
    """What a stream is called in a row: its slot, its column, its status id with ``status.`` in front, or ``imu``."""
    if isinstance(stream, VideoStream):
        return stream.slot
    if isinstance(stream, ImuStream):
        return "imu"
    return f"status.{stream.id}" if hasattr(stream, "id") else stream.column


def _entry(flow: DeviceFlow) -> DeviceEntry:
    return DeviceEntry(
        key=flow.key,
        kind=flow.kind,
        name=flow.name,
        slots=flow.slots,
        sensor_column=flow.sensor_column,
        sensor_columns=flow.sensor_columns,
        rig=flow.rig,
        hand=flow.hand,
    )


def _calibration(flows: Sequence[DeviceFlow]) -> dict[str, Any]:
    """The first calibrated device is ``head_stereo``, the others are called by their first slot; no key twice."""
    found: dict[str, Any] = {}
    for flow in flows:
        if flow.calibration is None:
            continue
        base = "head_stereo" if not found else f"{flow.slots[0] if flow.slots else flow.kind}_calibration"
        key, number = base, 2
        while key in found:
            key, number = f"{base}_{number}", number + 1
        found[key] = dict(flow.calibration)
    return found
