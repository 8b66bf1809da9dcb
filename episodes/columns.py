"""The columns of an episode's data parquet: names, arrow types, features, placeholders, all from its streams."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import pyarrow as pa

from episodes.errors import ContractError
from episodes.frames import axes_of
from episodes.naming import check_column, check_rig_column, check_slot, column_part, gripper_prefix
from episodes.streams import (
    ImuStream,
    MatrixStream,
    StatusStream,
    Stream,
    TrajectoryStream,
    VectorStream,
    VideoStream,
)

__all__ = [
    "ARROW_TYPES",
    "HAND_POSES",
    "KEY_COLUMNS",
    "Column",
    "columns_of",
    "evidence_columns",
    "force_matrix_specs",
    "frame_ns_column",
    "slam_spec",
    "slam_specs",
]

KEY_COLUMNS: dict[str, pa.DataType] = {
    "episode_index": pa.int64(),
    "frame_index": pa.int64(),
    "timestamp": pa.float32(),
    "task_index": pa.int64(),
    "wall_time": pa.float64(),
    "hardware_ns": pa.int64(),
    "raw_hw_ns": pa.int64(),
}
HAND_POSES = ("observation.left_hand_pose", "observation.right_hand_pose")
FORCE_MATRIX_SHAPE = (250, 250, 3)
SUFFIX_SHAPES: dict[str, tuple[int, ...]] = {
    "_force": (3,),
    "_state": (3,),
    "_imu_quat": (16, 4),
    "_imu_valid": (16,),
    "_hand_pose": (21, 3),
}
"""What a reserved end of a name means; rigs may not use them for something else."""
ARROW_TYPES: dict[str, pa.DataType] = {
    "float32": pa.float32(),
    "float64": pa.float64(),
    "int64": pa.int64(),
    "int32": pa.int32(),
    "int16": pa.int16(),
    "int8": pa.int8(),
    "uint8": pa.uint8(),
    "bool": pa.bool_(),
}
_EVIDENCE: dict[str, pa.DataType] = {
    "depth_ns": pa.int64(),
    "host_ns": pa.int64(),
    "rgb_dup": pa.int8(),
    "rgb_gap": pa.int32(),
    "depth_dup": pa.int8(),
    "depth_gap": pa.int32(),
    "ts_src": pa.int8(),
}


@dataclass(frozen=True, slots=True)
class Column:
    """One column.

    Attributes:
        name: as in the parquet file. type: its arrow type.
        feature: its entry in info's ``features``; None for keys, status and evidence columns.
        placeholder: the value of a row without a sample.
        always: it stays in the file though no row had a sample.
        heavy: its chunks are written while recording.
        stats: ``stats.json`` counts it.
        stream: the stream that it comes from; None for keys and constants.
    """

    name: str
    type: pa.DataType
    feature: dict[str, Any] | None
    placeholder: Any
    always: bool = False
    heavy: bool = False
    stats: bool = False
    stream: Stream | None = None


def columns_of(streams: Sequence[Stream], *, master: str | None) -> tuple[Column, ...]:
    """Every column that an episode of these streams can have: keys, observations in rig order, status.

    Raises:
        ContractError: a name that breaks the rules, or two streams for one column.
    """
    columns = [Column(name, kind, None, 0, always=name != "raw_hw_ns") for name, kind in KEY_COLUMNS.items()]
    for stream in streams:
        if isinstance(stream, VideoStream) and stream.evidence and stream.kind == "rgb":
            columns += [
                Column(stream.evidence_prefix + name, kind, None, 0, stream=stream)
                for name, kind in evidence_columns().items()
            ]
    columns.append(Column("action", pa.list_(pa.float32(), 1), {"dtype": "float32", "shape": [1]}, [0.0], always=True))
    for stream in streams:
        columns += _columns(stream, master)
    columns = [replace(column, always=True) if column.name in HAND_POSES else column for column in columns]
    declared = {column.name for column in columns}
    for name in HAND_POSES:
        if name not in declared:
            constant = _vector(VectorStream(column=name, shape=(21, 3), stats=False))[0]
            columns.append(replace(constant, always=True, stream=None))
    columns += [
        Column(f"status.{stream.id}", pa.string(), None, "disconnected", always=True, stream=stream)
        for stream in streams
        if isinstance(stream, StatusStream)
    ]
    seen: dict[str, Column] = {}
    for column in columns:
        check_column(column.name)
        if column.name in seen:
            sides = f"{_writer(seen[column.name])} and {_writer(column)}"
            raise ContractError(f"column {column.name!r} would be written twice, by {sides}; rename one of them")
        seen[column.name] = column
    return tuple(columns)


def evidence_columns() -> dict[str, pa.DataType]:
    """The evidence columns of a D435-type device, without prefix, and their types."""
    return dict(_EVIDENCE)


def frame_ns_column(slot: str) -> str:
    """The column of a slot's capture times, for every slot but the master."""
    return f"observation.{column_part(slot)}_frame_ns"


def slam_spec(stream: TrajectoryStream) -> dict[str, Any]:
    """What ``features`` and the episode's ``slam_specs`` say of a trajectory: exactly these five keys."""
    return {
        "frame": stream.frame,
        "frame_axes": axes_of(stream),
        "time": dict(stream.time),
        "owner": dict(stream.owner),
        "source_slot": stream.source_slot,
    }


def force_matrix_specs(streams: Sequence[Stream], written: Container[str]) -> dict[str, Any]:
    """What the episodes row says of its force matrices: dtype, shape, encoding and scale a column that was written."""
    return {
        stream.column: _matrix_feature(stream)
        for stream in streams
        if isinstance(stream, MatrixStream) and stream.column in written
    }


def slam_specs(streams: Sequence[Stream], written: Container[str]) -> dict[str, Any]:
    """What the episodes row says of its trajectories: the five keys of `slam_spec` a column that was written."""
    return {
        stream.column: slam_spec(stream)
        for stream in streams
        if isinstance(stream, TrajectoryStream) and stream.column in written
    }


def _columns(stream: Stream, master: str | None) -> list[Column]:
    if isinstance(stream, VideoStream):
        return _video(stream, master)
    if isinstance(stream, VectorStream):
        return _vector(stream)
    if isinstance(stream, MatrixStream):
        return _matrix(stream)
    if isinstance(stream, TrajectoryStream):
        return _trajectory(stream)
    if isinstance(stream, ImuStream):
        return [
            Column("imu_ts_ns", pa.list_(pa.int64()), None, [], stream=stream),
            Column(
                "observation.imu",
                pa.list_(pa.list_(pa.float32(), 6)),
                {"dtype": "float32", "shape": [6]},
                [],
                stats=True,
                stream=stream,
            ),
        ]
    return []


def _video(stream: VideoStream, master: str | None) -> list[Column]:
    check_slot(stream.slot)
    if stream.slot == master:
        return []
    feature = {**_stamp_feature(), "slot": stream.slot, "clock": "host_monotonic_ns"}
    return [Column(frame_ns_column(stream.slot), pa.int64(), feature, 0, always=True, stream=stream)]


def _vector(stream: VectorStream) -> list[Column]:
    if stream.declared_by_rig:
        check_rig_column(stream.column)
    _check_end(stream.column, "")
    for end, shape in SUFFIX_SHAPES.items():
        if stream.column.endswith(end) and (stream.dtype, stream.shape) != ("float32", shape):
            raise ContractError(f"{stream.column}: a column that ends in {end} is float32 of shape {shape}")
    if stream.names and len(stream.names) != prod(stream.shape):
        raise ContractError(f"{stream.column}: has {len(stream.names)} names for {prod(stream.shape)} elements")
    kind = ARROW_TYPES.get(stream.dtype)
    if kind is None:
        raise ContractError(f"{stream.column}: dtype {stream.dtype!r} is none of {', '.join(ARROW_TYPES)}")
    if any(not 1 <= size <= 1_000_000 for size in stream.shape) or prod(stream.shape) > 1_000_000:
        raise ContractError(f"{stream.column}: shape {stream.shape} is empty or too large")
    feature: dict[str, Any] = {"dtype": stream.dtype, "shape": list(stream.shape) or [1]}
    if stream.names:
        feature["names"] = list(stream.names)
    if stream.unit:
        feature["unit"] = stream.unit
    if stream.processing:
        feature["processing"] = stream.processing
    zero: Any = False if stream.dtype == "bool" else 0.0 if stream.dtype.startswith("float") else 0
    size = prod(stream.shape)
    arrow = pa.list_(kind, size) if stream.shape else kind
    column = Column(
        stream.column,
        arrow,
        feature,
        [zero] * size if stream.shape else zero,
        always=stream.always,
        stats=stream.stats and stream.dtype != "bool",
        stream=stream,
    )
    return [column, *_stamp(stream.stamp_column, stream)]


def _matrix(stream: MatrixStream) -> list[Column]:
    _check_end(stream.column, "_force_matrix")
    kind = pa.float32() if stream.scale == 0 else pa.int16()
    column = Column(stream.column, pa.list_(kind), _matrix_feature(stream), [], heavy=True, stream=stream)
    return [column, *_stamp(stream.stamp_column, stream)]


def _matrix_feature(stream: MatrixStream) -> dict[str, Any]:
    if stream.scale not in (0, 1, 10, 100, 1000):
        raise ContractError(f"{stream.column}: scale {stream.scale} is none of 1, 10, 100, 1000, or 0 for float32")
    if stream.scale == 0:
        return {"dtype": "float32", "shape": list(FORCE_MATRIX_SHAPE), "encoding": "row_flat_raw", "scale": 1}
    return {
        "dtype": "int16",
        "shape": list(FORCE_MATRIX_SHAPE),
        "encoding": "row_diff_quantized",
        "scale": stream.scale,
    }


def _trajectory(stream: TrajectoryStream) -> list[Column]:
    _check_end(stream.column, "slam_trajectory")
    _check_owner(stream)
    feature = {"dtype": "float64", "shape": [8], "encoding": "flat_points_8_txyz_qxyzw"}
    spec = {key: value for key, value in slam_spec(stream).items() if value is not None}
    stamps = {
        "dtype": "int64",
        "shape": [1],
        "encoding": "flat_parallel_to_slam_trajectory",
        "clock": "host_monotonic_ns",
    }
    return [
        Column(stream.column, pa.list_(pa.float64()), {**feature, **spec}, [], stream=stream),
        Column(stream.column + "_ns", pa.list_(pa.int64()), stamps, [], stream=stream),
    ]


def _check_owner(stream: TrajectoryStream) -> None:
    """The column's name follows the owner, so that a reader finds the gripper's by name."""
    role = stream.owner.get("role")
    name = stream.column.removeprefix("observation.").removesuffix("slam_trajectory")
    if role == "gripper":
        rig = stream.owner.get("rig")
        if not isinstance(rig, int) or name != gripper_prefix(rig):
            raise ContractError(f"{stream.column}: is not the name of a trajectory of gripper rig {rig!r}")
    elif role == "ego":
        if not name.startswith("ego_"):
            raise ContractError(f"{stream.column}: a trajectory of role ego begins with observation.ego_")
    else:
        raise ContractError(f"{stream.column}: owner's role {role!r} is neither gripper nor ego")


def _check_end(column: str, end: str) -> None:
    if not column.startswith("observation.") or not column.endswith(end):
        raise ContractError(f"column {column!r}: must begin with observation. and end in {end or 'a name'}")


def _writer(column: Column) -> str:
    stream = column.stream
    if isinstance(stream, VideoStream):
        return f"slot {stream.slot!r}"
    if isinstance(stream, StatusStream):
        return f"status {stream.id!r}"
    return "the contract" if stream is None else getattr(stream, "column", "the IMU")


def _stamp(name: str | None, stream: Stream) -> list[Column]:
    return [] if name is None else [Column(name, pa.int64(), _stamp_feature(), 0, stream=stream)]


def _stamp_feature() -> dict[str, Any]:
    return {"dtype": "int64", "shape": [1], "encoding": "host_monotonic_ns", "missing_sentinel": 0}
