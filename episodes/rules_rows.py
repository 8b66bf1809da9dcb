"""Rules of the data file: columns, types, keys, times."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from episodes.columns import HAND_POSES, KEY_COLUMNS
from episodes.errors import ContractError, CorruptFileError
from episodes.expected import EVIDENCE, expected_of, is_evidence, same_type
from episodes.legacy import is_32_bit, is_abolished
from episodes.naming import check_column
from episodes.views import EpisodeView

__all__ = ["check_columns", "check_stamps", "check_times", "check_values"]

_STATES = {"connected", "disconnected"}
MAX_NS = 2**62
"""A monotonic clock of 146 years: more is no stamp."""


def check_columns(view: EpisodeView) -> None:
    """Names, types, features."""
    if view.data is None:
        return
    for name in ("action", *HAND_POSES, *(name for name in KEY_COLUMNS if name != "raw_hw_ns")):
        if name not in view.columns:
            view.add("data.keys", view.path, f"has no column {name}", view.milder if name in HAND_POSES else None)
    sensors = view.task.strings("sensors")
    for name in view.data.schema.names:
        if is_abolished(name):
            view.add("old.slam-pose", view.path, f"column {name} was abolished")
            continue
        try:
            check_column(name)
        except ContractError as error:
            view.add("data.names", view.path, str(error))
        if (name.startswith("observation.") or name == "action") and name not in view.features:
            view.add("feature.missing", view.path, f"column {name} is no feature of info.json")
        expected = expected_of(name, view.features, sensors)
        found = view.data.schema.field(name).type
        if expected is not None and not any(same_type(found, kind) for kind in expected.types):
            view.add("data.type", view.path, f"column {name} is {found}, not {' or '.join(map(str, expected.types))}")


def check_values(view: EpisodeView) -> None:
    """Nulls, numbers that are none, status, evidence, lists without any sample."""
    if view.light is None:
        return
    for name in view.light.column_names:
        column = view.light.column(name)
        if _nulls(column):
            view.add("data.null", view.path, f"column {name} has nulls")
        if name.startswith("observation.") and not name.endswith("slam_trajectory") and not _finite(column):
            view.add("data.not-finite", view.path, f"column {name} has values that are not finite")
        if pa.types.is_list(column.type) and len(column) and not _flat_length(column):
            view.add("data.unsampled", view.path, f"column {name} has no sample in any row")
        if name.startswith("status."):
            states = set(column.unique().to_pylist()) - {None}
            if not states <= _STATES:
                view.add("data.status", view.path, f"column {name} says {', '.join(map(repr, sorted(states)))[:120]}")
        if is_evidence(name):
            _check_evidence(view, name)
    _check_imu(view)


def check_times(view: EpisodeView) -> None:
    """The keys: numbers of episode and frame, timestamp, wall_time."""
    index = view.array("episode_index")
    if index is not None and (index != view.number.n).any():
        wrong = int(index[index != view.number.n][0])
        view.add("data.episode-index", view.path, f"episode_index is {wrong}, not {view.number.n}")
    frames = view.array("frame_index")
    if frames is not None and not np.array_equal(frames, np.arange(len(frames))):
        at = int(np.flatnonzero(frames != np.arange(len(frames)))[0])
        view.add("data.frame-index", view.path, f"row {at} has frame_index {int(frames[at])}")
    timestamp, wall = view.array("timestamp"), view.array("wall_time")
    for rule, values in (("data.timestamp", timestamp), ("data.wall-time", wall)):
        if values is None or not len(values):
            continue
        if not np.isfinite(values).all() or values[0] < 0:
            view.add(rule, view.path, "has a value that is no time")
        elif (np.diff(values) <= 0).any():
            at = int(np.flatnonzero(np.diff(values) <= 0)[0])
            view.add(rule, view.path, f"does not increase from row {at} to row {at + 1}", view.milder)
    if timestamp is None or wall is None or not len(timestamp) or view.row is None or view.old:
        return
    start = view.row.clock.get("wall_s")
    if isinstance(start, (int, float)) and np.isfinite(wall).all() and np.isfinite(timestamp).all():
        # One float64 gives both: the difference is only timestamp's own rounding to float32.
        off = np.abs(wall - float(start) - timestamp.astype(np.float64))
        if (off > 1e-3 + 2 * np.spacing(timestamp)).any():
            view.add("data.wall-clock", view.path, f"wall_time is off the start's clock by up to {off.max():.3f} s")
    _check_rate(view, timestamp)


def check_stamps(view: EpisodeView) -> None:
    """hardware_ns, raw_hw_ns, and each slot's _frame_ns."""
    if view.data is None or view.light is None:
        return
    stored = view.array("hardware_ns")
    if stored is not None and view.data.schema.field("hardware_ns").type == pa.int64():
        if is_32_bit(stored):
            view.add("old.hardware-ns", view.path, "hardware_ns was cut to 32 bits")
            stored = view.episode.hardware_ns
        else:
            _check_clock(view, "data.hardware-ns", "hardware_ns", stored)
        if view.episode.slots and (stored == 0).any():
            count = int((stored == 0).sum())
            view.add("data.hardware-ns-missing", view.path, f"hardware_ns is 0 in {count} rows", view.milder)
        _check_span(view, stored)
    raw = view.array("raw_hw_ns")
    if raw is not None and len(raw) and not raw.any():
        view.add("data.raw-hw-ns", view.path, "raw_hw_ns is 0 in every row")
    for name in view.columns:
        if name.endswith("_frame_ns"):
            stamps = view.array(name)
            if stamps is not None:
                _check_clock(view, "data.frame-ns", name, stamps)


def _check_clock(view: EpisodeView, rule: str, name: str, stamps: NDArray[np.int64]) -> None:
    known = stamps[stamps != 0]
    if not len(known):
        return
    if (known < 0).any() or (known > MAX_NS).any():
        view.add(rule, view.path, f"{name} has a stamp that no monotonic clock gives")
    elif (known[1:] < known[:-1]).any():
        at = int(np.flatnonzero(known[1:] < known[:-1])[0])
        view.add(rule, view.path, f"{name} goes back behind its stamp {int(known[at])}", view.milder)


def _check_span(view: EpisodeView, stamps: NDArray[np.int64]) -> None:
    timestamp = view.array("timestamp")
    if timestamp is None or len(timestamp) != len(stamps) or not np.isfinite(timestamp).all():
        return
    # A repeated frame carries its old stamp again: only new frames say how the clock runs.
    fresh = np.flatnonzero((stamps != 0) & (np.diff(stamps, prepend=0) != 0))
    if len(fresh) < 2:
        return
    span = float(int(stamps[fresh[-1]]) - int(stamps[fresh[0]])) / 1e9
    rows = float(timestamp[fresh[-1]]) - float(timestamp[fresh[0]])
    if abs(span - rows) > 1.0 + 0.02 * abs(rows):
        view.add("data.hardware-ns-span", view.path, f"hardware_ns spans {span:.3f} s where its rows span {rows:.3f} s")


def _check_rate(view: EpisodeView, timestamp: NDArray[np.float32]) -> None:
    if view.fps is None or len(timestamp) < 2 or view.row is None or not np.isfinite(timestamp).all():
        return
    skipped = view.row.drop_stats.get("tick_skip_count", 0)
    if not isinstance(skipped, int):
        return
    wanted = float(timestamp[-1] - timestamp[0]) * view.fps + 1
    # The first and the last tick may each be late by up to a period.
    if abs(wanted - len(timestamp) - skipped) > 2.5:
        view.add(
            "data.rate",
            view.path,
            f"{len(timestamp)} rows and {skipped} skipped ticks stand for a time of {wanted:.1f} ticks",
        )


def _check_evidence(view: EpisodeView, name: str) -> None:
    values = view.array(name)
    if values is None:
        return
    kind = next(end for end in EVIDENCE if name == end or name.endswith(f"_{end}"))
    highest = {"rgb_dup": 1, "depth_dup": 1, "ts_src": 3}.get(kind)
    if (values < 0).any() or (highest is not None and (values > highest).any()):
        view.add("data.evidence", view.path, f"column {name} has a value that is no code of it", view.milder)


def _check_imu(view: EpisodeView) -> None:
    names = [name for name in ("imu_ts_ns", "observation.imu") if name in view.columns]
    if len(names) == 1:
        view.add("data.imu", view.path, f"has {names[0]} without its partner")
    if len(names) < 2 or view.light is None:
        return
    try:
        stamps = view.lists("imu_ts_ns")
        column = view.light.column("observation.imu")
        counts = np.concatenate([c.value_lengths().fill_null(0).to_numpy(zero_copy_only=False) for c in column.chunks])
    except (CorruptFileError, pa.ArrowException, AttributeError, ValueError) as error:
        view.add("data.imu", view.path, f"cannot be read: {error}")
        return
    view.task.imu_samples += int(counts.sum())
    if stamps is None:
        return
    if not np.array_equal(counts, stamps[1]):
        view.add("data.imu", view.path, "a row has another number of imu_ts_ns than of samples")
    elif (np.diff(stamps[0].astype(np.int64)) < 0).any():
        view.add("data.imu", view.path, "imu_ts_ns goes back")


def _flat_length(column: pa.ChunkedArray) -> int:
    return sum(len(chunk.flatten()) for chunk in column.chunks)


def _nulls(column: pa.ChunkedArray) -> bool:
    return any(_has_null(chunk) for chunk in column.chunks)


def _has_null(array: pa.Array) -> bool:
    if array.null_count:
        return True
    nested = pa.types.is_list(array.type) or pa.types.is_fixed_size_list(array.type)
    return nested and _has_null(array.flatten())


def _finite(column: pa.ChunkedArray) -> bool:
    for chunk in column.chunks:
        values = chunk
        while pa.types.is_list(values.type) or pa.types.is_fixed_size_list(values.type):
            values = values.flatten()
        if pa.types.is_floating(values.type):
            numbers = values.fill_null(0).to_numpy(zero_copy_only=False)
            if not np.isfinite(numbers).all():
                return False
    return True
