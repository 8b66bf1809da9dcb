"""From a take's journal to the light columns of its data parquet: everything that is settled at commit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from episodes.columns import Column, columns_of, evidence_columns, frame_ns_column
from episodes.declaration import Declaration
from episodes.numbering import EpisodeNumber
from episodes.staging import Clock
from episodes.stats import Block, block_of
from episodes.streams import ImuStream, MatrixStream, VideoStream
from operators.clock_fit import fit_clock

__all__ = ["EpisodeTable", "build_table"]


@dataclass(frozen=True, slots=True)
class EpisodeTable:
    """The light columns, ready to write.

    Attributes:
        light: [rows]. heavy: heavy column to its arrow type. order: all column names.
        stats: block by column. drop_stats: what the clock fit adds: ``<slot>_clock_residual_max_ns``.
    """

    light: pa.Table
    heavy: dict[str, pa.DataType]
    order: tuple[str, ...]
    stats: dict[str, Block]
    drop_stats: dict[str, int]


def build_table(journal: pa.Table, declaration: Declaration, number: EpisodeNumber, clock: Clock) -> EpisodeTable:
    """Settle an episode's columns.

    Capture times of device-clock slots are fitted over the whole episode; columns without a sample are left out.
    """
    rows = journal.num_rows
    journal = journal.combine_chunks()
    rel = _numpy(journal, "tick/rel_s", np.float64)
    captures: dict[str, NDArray[np.int64]] = {}
    drop_stats: dict[str, int] = {}
    for video in declaration.videos:
        captures[video.slot], residual = _capture_ns(journal, video)
        if residual is not None:
            drop_stats[f"{video.slot}_clock_residual_max_ns"] = residual
    arrays: dict[str, pa.Array] = {
        "episode_index": pa.array(np.full(rows, number.n, np.int64)),
        "frame_index": pa.array(np.arange(rows, dtype=np.int64)),
        "timestamp": pa.array(rel.astype(np.float32)),
        "task_index": pa.array(np.zeros(rows, np.int64)),
        "wall_time": pa.array(clock.wall_s + rel),
        "hardware_ns": pa.array(np.zeros(rows, np.int64)),
        "action": _zeros(pa.list_(pa.float32(), 1), rows),
    }
    if declaration.master is not None:
        arrays["hardware_ns"] = pa.array(captures[declaration.master])
        raw = journal.column(f"{declaration.master}/device_ns")
        if raw.null_count < rows:
            arrays["raw_hw_ns"] = pc.fill_null(raw.combine_chunks(), 0)
    for video in declaration.videos:
        if video.slot != declaration.master:
            arrays[frame_ns_column(video.slot)] = pa.array(captures[video.slot])
        if video.evidence and video.kind == "rgb":
            arrays |= _evidence(journal, declaration, video, captures)
    stats: dict[str, Block] = {}
    heavy: dict[str, pa.DataType] = {}
    order: list[str] = []
    for column in columns_of(declaration.streams, master=declaration.master):
        if column.heavy:
            if pc.any(journal.column(f"{column.name}/has")).as_py():
                heavy[column.name] = column.type
                order.append(column.name)
            continue
        array = arrays.get(column.name)
        if array is None:
            array = _sampled(journal, column, rows)
        if array is None:
            continue
        arrays[column.name] = array
        order.append(column.name)
        if column.stats:
            block = _block(journal, column, array)
            if block is not None:
                stats[column.name] = block
    light = pa.table({name: arrays[name] for name in order if name not in heavy})
    return EpisodeTable(light, heavy, tuple(order), stats, drop_stats)


def _sampled(journal: pa.Table, column: Column, rows: int) -> pa.Array | None:
    """The column as it was journalled; None when it has no sample and need not stand."""
    if column.name not in journal.column_names:
        return _zeros(column.type, rows) if column.always else None
    if not column.always and not pc.any(journal.column(f"{column.name}/has")).as_py():
        return None
    return _chunk(journal, column.name)


def _capture_ns(journal: pa.Table, video: VideoStream) -> tuple[NDArray[np.int64], int | None]:
    """A slot's capture times, host monotonic ns, and the residual of the fit where there was one."""
    slot = video.slot
    host = _numpy(journal, f"{slot}/host_ns", np.int64)
    capture = pc.coalesce(journal.column(f"{slot}/capture_ns"), journal.column(f"{slot}/host_ns"))
    plain = capture.combine_chunks().to_numpy(zero_copy_only=False).astype(np.int64)
    seq, device = journal.column(f"{slot}/seq"), journal.column(f"{slot}/device_ns")
    if video.clock != "device" or seq.null_count or device.null_count:
        return plain, None
    seqs = _numpy(journal, f"{slot}/seq", np.int64)
    new = ~_numpy(journal, f"{slot}/repeated", np.bool_)
    new[1:] &= np.diff(seqs) > 0
    new[0] = True
    fit = fit_clock(seqs[new], _numpy(journal, f"{slot}/device_ns", np.int64)[new], host[new])
    return fit.at(seqs), fit.residual_max_ns


def _evidence(
    journal: pa.Table, declaration: Declaration, video: VideoStream, captures: dict[str, NDArray[np.int64]]
) -> dict[str, pa.Array]:
    kinds = evidence_columns()
    values: dict[str, NDArray[Any]] = {
        "host_ns": _numpy(journal, f"{video.slot}/host_ns", np.int64),
        "rgb_dup": _numpy(journal, f"{video.slot}/repeated", np.bool_),
        "rgb_gap": _gaps(journal, video.slot),
        "ts_src": _numpy(journal, f"{video.slot}/ts_src", np.int8),
    }
    for depth in declaration.videos:
        if depth.master == video.slot:
            values["depth_ns"] = captures[depth.slot]
            values["depth_dup"] = _numpy(journal, f"{depth.slot}/repeated", np.bool_)
            values["depth_gap"] = _gaps(journal, depth.slot)
    return {
        video.evidence_prefix + name: pa.array(array.astype(np.int64), pa.int64()).cast(kinds[name])
        for name, array in values.items()
    }


def _gaps(journal: pa.Table, slot: str) -> NDArray[np.int64]:
    """Frames missing before each frame, by the device's numbers; 0 where it gives none."""
    column = journal.column(f"{slot}/seq")
    gaps = np.zeros(journal.num_rows, np.int64)
    if column.null_count == 0 and journal.num_rows > 1:
        gaps[1:] = np.maximum(np.diff(_numpy(journal, f"{slot}/seq", np.int64)) - 1, 0)
    return gaps


def _block(journal: pa.Table, column: Column, array: pa.Array) -> Block | None:
    if isinstance(column.stream, MatrixStream) or f"{column.name}/has" not in journal.column_names:
        return None
    if isinstance(column.stream, ImuStream):
        samples = array.flatten().flatten().to_numpy(zero_copy_only=False).reshape(-1, 6)
    else:
        has = _numpy(journal, f"{column.name}/has", np.bool_)
        flat = array.flatten() if pa.types.is_fixed_size_list(array.type) else array
        samples = flat.to_numpy(zero_copy_only=False).reshape(len(array), -1)[has]
    return block_of(samples) if len(samples) else None


def _numpy(journal: pa.Table, name: str, dtype: Any) -> NDArray[Any]:
    found: NDArray[Any] = _chunk(journal, name).to_numpy(zero_copy_only=False)
    return found.astype(dtype, copy=True)


def _chunk(journal: pa.Table, name: str) -> pa.Array:
    column = journal.column(name)
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _zeros(kind: pa.DataType, rows: int) -> pa.Array:
    if pa.types.is_fixed_size_list(kind):
        values = np.zeros(rows * kind.list_size, kind.value_type.to_pandas_dtype())
        return pa.FixedSizeListArray.from_arrays(pa.array(values, kind.value_type), kind.list_size)
    return pa.array(np.zeros(rows, kind.to_pandas_dtype()), kind)
