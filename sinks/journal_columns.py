"""The journal's columns: what is kept of each stream's value until the commit, and its arrow form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from episodes.streams import (
    ImuStream,
    MatrixStream,
    StatusStream,
    Stream,
    TrajectoryStream,
    VectorStream,
    VideoStream,
)
from operators.events import ImuSample, Point, Sample
from operators.oldest_frame import TickFrame

__all__ = ["FrameStamps", "StreamColumns", "frame_stamps", "journal_schema"]

ROW_FIELDS = [
    pa.field("frame_index", pa.int64()),
    pa.field("at_ns", pa.int64()),
    pa.field("due_ns", pa.int64()),
    pa.field("skipped", pa.int64()),
    pa.field("time_s", pa.float64()),
    pa.field("counters", pa.string()),
]
"""Of every row: its tick; the float64 time since the start; the running counters where they were looked at."""

FrameStamps: TypeAlias = tuple[int, int | None, int | None, int | None, bool, int]
"""host_ns, capture_ns, device_ns, seq, repeated, ts_src of one frame: all of it but the picture."""

_VIDEO = {
    "host_ns": pa.int64(),
    "capture_ns": pa.int64(),
    "device_ns": pa.int64(),
    "seq": pa.int64(),
    "repeated": pa.bool_(),
    "ts_src": pa.int8(),
}


def frame_stamps(shown: TickFrame) -> FrameStamps:
    """What the journal keeps of a row's frame."""
    frame = shown.frame
    return frame.host_ns, frame.capture_ns, frame.device_ns, frame.seq, shown.repeated, frame.ts_src


class StreamColumns:
    """The journal's columns of one stream.

    Args:
        index: of the stream in the declaration; it names the columns. stream: the spec.
        refuse: told of each value that is not of the declared shape; the row then counts as without a sample.
    """

    def __init__(self, index: int, stream: Stream, refuse: Callable[[str], None] = lambda _name: None) -> None:
        self._prefix = f"{index}."
        self._refuse = refuse
        self._stream = stream
        self._make: Callable[[Sequence[Any]], list[pa.Array]]
        kinds: dict[str, pa.DataType]
        if isinstance(stream, VideoStream):
            kinds, self._make = _VIDEO, _video
        elif isinstance(stream, VectorStream):
            kinds, self._make = {"value": _vector_type(stream), "host_ns": pa.int64()}, self._vector
        elif isinstance(stream, MatrixStream):
            kinds, self._make = {"host_ns": pa.int64()}, _matrix
        elif isinstance(stream, TrajectoryStream):
            kinds, self._make = {"points": pa.list_(pa.float64()), "ns": pa.list_(pa.int64())}, _trajectory
        elif isinstance(stream, ImuStream):
            kinds, self._make = {"ts_ns": pa.list_(pa.int64()), "values": pa.list_(pa.list_(pa.float32(), 6))}, _imu
        elif isinstance(stream, StatusStream):
            kinds, self._make = {"state": pa.string()}, _status
        self.fields = [pa.field(self._prefix + name, kind) for name, kind in kinds.items()]

    def arrays(self, values: Sequence[Any]) -> list[pa.Array]:
        """The columns of some rows' values, in the order of ``fields``."""
        return self._make(values)

    def _vector(self, values: Sequence[Sample[np.ndarray] | None]) -> list[pa.Array]:
        stream = self._stream
        assert isinstance(stream, VectorStream)
        size = prod(stream.shape)
        flat = np.zeros((len(values), size), stream.dtype)
        stamps: list[int | None] = [None] * len(values)
        for row, sample in enumerate(values):
            if sample is None:
                continue
            try:
                value = np.asarray(sample.value)
                if value.size != size:
                    raise ValueError(f"{value.size} values for {size}")
                flat[row] = value.reshape(-1)
                stamps[row] = int(sample.host_ns)
            except (ValueError, TypeError, OverflowError):
                flat[row] = 0
                self._refuse(stream.column)
        mask = pa.array([stamp is None for stamp in stamps])
        kind = self.fields[0].type
        items = pa.array(flat.reshape(-1))
        if stream.shape:
            column = pa.FixedSizeListArray.from_arrays(items, type=kind, mask=mask)
        else:
            column = pa.array(flat.reshape(-1), mask=np.asarray(mask))
        return [column, pa.array(stamps, pa.int64())]


def journal_schema(streams: Sequence[Stream]) -> pa.Schema:
    """The journal's schema for a declaration's streams."""
    fields = list(ROW_FIELDS)
    for index, stream in enumerate(streams):
        fields += StreamColumns(index, stream).fields
    return pa.schema(fields)


def _vector_type(stream: VectorStream) -> pa.DataType:
    kind = pa.from_numpy_dtype(np.dtype(stream.dtype))
    return pa.list_(kind, prod(stream.shape)) if stream.shape else kind


def _video(values: Sequence[FrameStamps]) -> list[pa.Array]:
    columns = zip(*values, strict=True)
    return [pa.array(column, kind) for column, kind in zip(columns, _VIDEO.values(), strict=True)]


def _matrix(values: Sequence[int | None]) -> list[pa.Array]:
    return [pa.array(values, pa.int64())]


def _trajectory(values: Sequence[list[Point] | None]) -> list[pa.Array]:
    offsets, items, stamps = [0], [], []
    for points in values:
        for point in points or ():
            items.append((point.t, *point.pose))
            stamps.append(point.host_ns or 0)
        offsets.append(len(stamps))
    flat = pa.array(np.asarray(items, np.float64).reshape(-1))
    ends = np.asarray(offsets, np.int32)
    return [
        pa.ListArray.from_arrays(pa.array(ends * 8), flat),
        pa.ListArray.from_arrays(pa.array(ends), pa.array(stamps, pa.int64())),
    ]


def _imu(values: Sequence[list[ImuSample] | None]) -> list[pa.Array]:
    offsets, stamps, items = [0], [], []
    for samples in values:
        for sample in samples or ():
            stamps.append(sample.device_ns)
            items.append(sample.values)
        offsets.append(len(stamps))
    ends = pa.array(np.asarray(offsets, np.int32))
    flat = pa.array(np.asarray(items, np.float32).reshape(-1))
    rows = pa.FixedSizeListArray.from_arrays(flat, 6)
    return [pa.ListArray.from_arrays(ends, pa.array(stamps, pa.int64())), pa.ListArray.from_arrays(ends, rows)]


def _status(values: Sequence[object]) -> list[pa.Array]:
    return [pa.array(["connected" if value == "connected" else "disconnected" for value in values], pa.string())]
