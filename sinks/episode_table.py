"""The light columns of an episode's data parquet, made from the journal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from episodes.columns import Column, columns_of
from episodes.declaration import Declaration
from episodes.numbering import EpisodeNumber
from episodes.staging import ClockPair
from episodes.stats import Block, block_of
from episodes.streams import (
    ImuStream,
    MatrixStream,
    StatusStream,
    TrajectoryStream,
    VectorStream,
    VideoStream,
)
from sinks.frame_times import FrameTimes, frame_times

__all__ = ["EpisodeTable", "episode_table"]


@dataclass(frozen=True, slots=True)
class EpisodeTable:
    """An episode's columns.

    Attributes:
        light: the light columns. heavy: each heavy column that has a sample, and its type. order: all names.
        stats: a block for every column that statistics are kept of and that has a sample.
        times: slot to its frames' times.
    """

    light: pa.Table
    heavy: dict[str, pa.DataType]
    order: tuple[str, ...]
    stats: dict[str, Block]
    times: dict[str, FrameTimes]


def episode_table(journal: pa.Table, declaration: Declaration, number: EpisodeNumber, clock: ClockPair) -> EpisodeTable:
    """Make the columns of an episode of as many rows as ``journal`` has.

    A column that was declared and has no sample is left out, unless the contract has it in every episode.
    """
    maker = _Maker(journal, declaration, number, clock)
    light: dict[str, pa.Array] = {}
    heavy: dict[str, pa.DataType] = {}
    stats: dict[str, Block] = {}
    order: list[str] = []
    for column in columns_of(declaration.streams, master=declaration.master):
        if column.heavy:
            if maker.has_matrix(column):
                heavy[column.name] = column.type
                order.append(column.name)
            continue
        values = maker.values(column)
        if values is None and not column.always:
            continue
        if values is None:
            values = pa.array([column.placeholder] * journal.num_rows, column.type)
        elif column.stats:
            stats[column.name] = maker.block(column)
        light[column.name] = values
        order.append(column.name)
    return EpisodeTable(pa.table(light), heavy, tuple(order), stats, maker.times)


class _Maker:
    """Makes column after column; None for one that has no sample."""

    def __init__(self, journal: pa.Table, declaration: Declaration, number: EpisodeNumber, clock: ClockPair) -> None:
        self._journal = journal.combine_chunks()
        self._rows: int = journal.num_rows
        self._index = {id(stream): index for index, stream in enumerate(declaration.streams)}
        self.times = {
            stream.slot: frame_times(stream, self._journal, index)
            for index, stream in enumerate(declaration.streams)
            if isinstance(stream, VideoStream)
        }
        self._depth_of = {
            stream.master: stream.slot for stream in declaration.videos if stream.kind == "depth" and stream.master
        }
        self._keys = self._key_columns(declaration, number, clock)

    def _key_columns(self, declaration: Declaration, number: EpisodeNumber, clock: ClockPair) -> dict[str, Any]:
        time_s = self._journal.column("time_s").to_numpy()
        zeros = np.zeros(self._rows, np.int64)
        master = None if declaration.master is None else self.times[declaration.master]
        keys: dict[str, Any] = {
            "episode_index": np.full(self._rows, number.n, np.int64),
            "frame_index": np.arange(self._rows, dtype=np.int64),
            "timestamp": time_s.astype(np.float32),
            "task_index": zeros,
            "wall_time": clock.wall_s + time_s,
            "hardware_ns": zeros if master is None else master.capture_ns,
        }
        if master is not None and master.has_device_ns:
            keys["raw_hw_ns"] = master.device_ns
        return keys

    def has_matrix(self, column: Column) -> bool:
        return int(self._stamps(column).null_count) < self._rows

    def values(self, column: Column) -> pa.Array | None:
        stream = column.stream
        if stream is None:
            found = self._keys.get(column.name)
            return None if found is None else pa.array(found, column.type)
        if isinstance(stream, VideoStream):
            return self._video(column, stream)
        if isinstance(stream, VectorStream | MatrixStream):
            return self._sampled(column, stream)
        if isinstance(stream, TrajectoryStream):
            return self._trajectory(column, stream)
        if isinstance(stream, ImuStream):
            name = "ts_ns" if column.name == "imu_ts_ns" else "values"
            return _unless_empty(self._of(column, name))
        assert isinstance(stream, StatusStream)
        return self._of(column, "state")

    def block(self, column: Column) -> Block:
        """Statistics over the real samples of a column."""
        if isinstance(column.stream, ImuStream):
            samples = self._of(column, "values").flatten().flatten().to_numpy().reshape(-1, 6)
            return block_of(samples)
        values = self._of(column, "value").drop_null()
        flat = values.flatten() if pa.types.is_fixed_size_list(values.type) else values
        return block_of(flat.to_numpy(zero_copy_only=False).reshape(len(values), -1))

    def _video(self, column: Column, stream: VideoStream) -> pa.Array | None:
        times = self.times[stream.slot]
        if column.feature is not None:
            return pa.array(times.capture_ns)
        depth = self.times.get(self._depth_of.get(stream.slot, ""))
        evidence: dict[str, Any] = {
            "host_ns": times.host_ns,
            "rgb_dup": times.repeated,
            "rgb_gap": times.gap,
            "ts_src": times.ts_src,
        }
        if depth is not None:
            evidence |= {"depth_ns": depth.capture_ns, "depth_dup": depth.repeated, "depth_gap": depth.gap}
        found = evidence.get(column.name.removeprefix(stream.evidence_prefix))
        if found is None:
            return None
        largest = np.iinfo(column.type.to_pandas_dtype()).max
        return pa.array(np.minimum(found.astype(np.int64), largest), column.type)

    def _sampled(self, column: Column, stream: VectorStream | MatrixStream) -> pa.Array | None:
        stamps = self._stamps(column)
        if stamps.null_count == self._rows:
            return None
        if column.name == stream.stamp_column:
            return stamps.fill_null(0)
        values = self._of(column, "value")
        if not pa.types.is_fixed_size_list(values.type):
            return values.fill_null(column.placeholder)
        # The journal has zeros below the rows without a sample: they are the placeholder.
        flat = values.values.slice(values.offset * column.type.list_size, self._rows * column.type.list_size)
        return pa.FixedSizeListArray.from_arrays(flat, type=column.type)

    def _trajectory(self, column: Column, stream: TrajectoryStream) -> pa.Array | None:
        stamps = self._of(column, "ns")
        if column.name == stream.column:
            return _unless_empty(self._of(column, "points"))
        # One stamp in the episode decides for all of it; without any there is no such column.
        return stamps if pc.any(pc.not_equal(stamps.flatten(), 0)).as_py() else None

    def _stamps(self, column: Column) -> pa.Array:
        return self._of(column, "host_ns")

    def _of(self, column: Column, name: str) -> pa.Array:
        found = self._journal.column(f"{self._index[id(column.stream)]}.{name}")
        return found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found


def _unless_empty(lists: pa.Array) -> pa.Array | None:
    return lists if len(lists.flatten()) else None


def count_repeats(times: Mapping[str, FrameTimes]) -> dict[str, int]:
    """``<slot>_repeat_count`` of every slot, from the rows themselves."""
    return {f"{slot}_repeat_count": int(found.repeated.sum()) for slot, found in times.items()}
