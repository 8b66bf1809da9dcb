"""What an episode records, as data: one spec a stream.

Rigs declare streams, sinks write them, the staging manifest keeps them, so that an episode can be rebuilt after a
crash from the disk alone. Columns, features, types and placeholders all follow from them (`episodes.columns`).
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

__all__ = [
    "ImuStream",
    "MatrixStream",
    "StatusStream",
    "Stream",
    "TrajectoryStream",
    "VectorStream",
    "VideoStream",
]


class VideoStream(msgspec.Struct, frozen=True, tag="video", kw_only=True):
    """One video slot: frame i of the file is row i.

    Row value: ``operators.oldest_frame.TickFrame`` (frame and whether it is repeated).

    Attributes:
        slot: image key, e.g. ``head_left_rgb``; names ``videos/<slot>/``.
        kind: ``rgb`` or ``depth``; a depth slot has no ``cameras`` entry and is coded by the depth codec.
        master: for depth, the colour slot whose frames it follows; else None.
        clock: ``host``: a frame's ``capture_ns`` (else receipt) is its capture time; ``device``: the capture time is
            fitted from ``seq`` and ``device_ns`` when the episode is committed.
        source_fps: the device's own rate, Hz, where known.
        evidence: the slot belongs to a D435-type device and fills the evidence columns.
        evidence_prefix: prefix of those columns, "" for the rig's first such device.
    """

    slot: str
    kind: Literal["rgb", "depth"] = "rgb"
    master: str | None = None
    clock: Literal["host", "device"] = "host"
    source_fps: float | None = None
    evidence: bool = False
    evidence_prefix: str = ""


class VectorStream(msgspec.Struct, frozen=True, tag="vector", kw_only=True):
    """A column of fixed length: the newest sample of each row; no sample: zeros.

    Row value: ``Sample[ndarray of dtype and shape]`` or None.

    Attributes:
        column: the full column name.
        dtype: ``float32``, ``float64``, ``int64``, ``int32``, ``int16``, ``int8``, ``uint8`` or ``bool``.
        shape: of one element; ``()`` for a scalar column.
        unit: e.g. ``mN``, "" where there is none.
        names: names of the elements, or ().
        stamp_column: name of the int64 column that holds each sample's ``host_ns``, or None.
        stats: whether ``stats.json`` counts it.
        declared_by_rig: True for a rig's own columns, for which the reserved suffixes are refused.
        processing: written into the feature where not "" (gloves: ``gated`` or ``raw``).
    """

    column: str
    dtype: str = "float32"
    shape: tuple[int, ...] = ()
    unit: str = ""
    names: tuple[str, ...] = ()
    stamp_column: str | None = None
    stats: bool = True
    declared_by_rig: bool = False
    always: bool = False
    processing: str = ""


class MatrixStream(msgspec.Struct, frozen=True, tag="matrix", kw_only=True):
    """A force matrix column, 250×250×3 float32 mN in, coded by `episodes.force_matrix`.

    Row value: ``Sample[float32 ndarray of [250, 250, 3]]`` or None (then the list is empty).

    Attributes:
        column: ends in ``_force_matrix``.
        scale: 1, 10, 100, 1000 for int16; 0 for raw float32.
    """

    column: str
    scale: int = 100
    stamp_column: str | None = None


class TrajectoryStream(msgspec.Struct, frozen=True, tag="trajectory", kw_only=True):
    """A trajectory column and its parallel ``_ns`` column: all points since the previous row.

    Row value: ``list[Point]``.

    Attributes:
        column: ends in ``slam_trajectory``.
        frame: id of the coordinate frame; one that is not registered in `episodes.frames` needs ``frame_axes``.
        frame_axes: ``{"+X": "down", …}``, or None to take the registered ones.
        time: ``{"t": "sensor_s", "clock": …, "epoch": …}``.
        owner: ``{"role": "gripper" | "ego", "rig"?: int, "hand"?: str, "device_key"?: str}``.
        source_slot: the slot whose frames the ``_ns`` stamps belong to, or None.
    """

    column: str
    frame: str
    frame_axes: dict[str, str] | None = None
    time: dict[str, str]
    owner: dict[str, str | int]
    source_slot: str | None = None


class ImuStream(msgspec.Struct, frozen=True, tag="imu", kw_only=True):
    """``imu_ts_ns`` and ``observation.imu``: the samples up to the master frame's device stamp.

    Row value: ``list[ImuSample]``.
    """

    master: str = "stereo_left"


class StatusStream(msgspec.Struct, frozen=True, tag="status", kw_only=True):
    """``status.<id>``: ``connected`` or ``disconnected``. Row value: that string."""

    id: str


Stream: TypeAlias = VideoStream | VectorStream | MatrixStream | TrajectoryStream | ImuStream | StatusStream
