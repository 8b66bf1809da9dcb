"""What the contract expects of a column by its name: arrow types and the feature."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import pyarrow as pa

from episodes.columns import ARROW_TYPES, HAND_POSES, KEY_COLUMNS, evidence_columns

__all__ = ["EVIDENCE", "Expected", "expected_of", "is_evidence", "same_type"]

EVIDENCE = evidence_columns()

_STAMP = "host_monotonic_ns"
_FLOATS: tuple[tuple[str, tuple[int, ...]], ...] = (
    ("_force", (3,)),
    ("_state", (3,)),
    ("_imu_quat", (16, 4)),
    ("_imu_valid", (16,)),
    ("_hand_pose", (21, 3)),
)


@dataclass(frozen=True, slots=True)
class Expected:
    """Of one column.

    Attributes:
        types: the arrow types that are right. dtypes, shape: of its feature; None where there is no feature.
        encodings: of its feature; () where none is asked for.
    """

    types: tuple[pa.DataType, ...]
    dtypes: tuple[str, ...] = ()
    shape: tuple[int, ...] | None = None
    encodings: tuple[str, ...] = ()


def expected_of(name: str, features: Mapping[str, Any], sensors: Sequence[str]) -> Expected | None:
    """What a column has to be; None for one of which the contract knows nothing and no feature is declared.

    The most particular rule comes first: ``slam_trajectory_ns`` before any other ``_ns``.
    """
    if name in KEY_COLUMNS:
        return Expected((KEY_COLUMNS[name],))
    if is_evidence(name):
        return Expected((_evidence_type(name),))
    if name.startswith("status."):
        return Expected((pa.string(), pa.large_string()))
    if name == "imu_ts_ns":
        return Expected((pa.list_(pa.int64()),))
    if name == "observation.imu":
        return Expected((pa.list_(pa.list_(pa.float32(), 6)),), ("float32",), (6,))
    if name == "action":
        return Expected((pa.list_(pa.float32(), 1),), ("float32",), (1,))
    return _by_suffix(name, sensors) or _by_feature(features.get(name))


def is_evidence(name: str) -> bool:
    """Whether it is an evidence column of a D435-type device, with or without a prefix."""
    return not name.startswith(("observation.", "status.")) and _evidence_type(name) is not None


def same_type(left: pa.DataType, right: pa.DataType) -> bool:
    """Whether two types hold the same, whatever their inner fields are called."""
    if pa.types.is_fixed_size_list(left) and pa.types.is_fixed_size_list(right):
        return left.list_size == right.list_size and same_type(left.value_type, right.value_type)
    if pa.types.is_list(left) and pa.types.is_list(right):
        return same_type(left.value_type, right.value_type)
    return bool(left == right)


def _evidence_type(name: str) -> pa.DataType | None:
    for end, kind in EVIDENCE.items():
        if name == end or name.endswith(f"_{end}"):
            return kind
    return None


def _by_suffix(name: str, sensors: Sequence[str]) -> Expected | None:
    if not name.startswith("observation."):
        return None
    if name.endswith("slam_trajectory"):
        return Expected((pa.list_(pa.float64()),), ("float64",), (8,), ("flat_points_8_txyz_qxyzw",))
    if name.endswith("slam_trajectory_ns"):
        return Expected((pa.list_(pa.int64()),), ("int64",), (1,), ("flat_parallel_to_slam_trajectory",))
    if name.endswith(("_force_matrix_ns", "_force_ns", "_frame_ns")):
        return Expected((pa.int64(),), ("int64",), (1,), (_STAMP,))
    if name.endswith("_force_matrix"):
        types = (pa.list_(pa.int16()), pa.list_(pa.float32()))
        return Expected(types, ("int16", "float32"), (250, 250, 3), ("row_diff_quantized", "row_flat_raw"))
    for suffix, shape in _FLOATS:
        if name.endswith(suffix) or (name in HAND_POSES and suffix == "_hand_pose"):
            return Expected((pa.list_(pa.float32(), prod(shape)),), ("float32",), shape)
    if name.removeprefix("observation.") in {*sensors, "left_glove", "right_glove"}:
        return Expected((pa.list_(pa.float32(), 256),), ("float32",), (16, 16))
    return None


def _by_feature(feature: object) -> Expected | None:
    if not isinstance(feature, dict):
        return None
    dtype, shape = feature.get("dtype"), feature.get("shape")
    kind = ARROW_TYPES.get(dtype) if isinstance(dtype, str) else None
    if kind is None or not isinstance(shape, list) or not all(type(size) is int and size > 0 for size in shape):
        return None
    size = prod(shape)
    if not 0 < size <= 1_000_000:
        return None
    types = [pa.list_(kind, size)]
    if shape in ([1], []):
        types.insert(0, kind)
    return Expected(tuple(types), (str(dtype),), tuple(shape))
