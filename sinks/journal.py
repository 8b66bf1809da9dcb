"""The journal of a take: its light columns and what the commit needs, flushed every half second.

An Arrow IPC stream: whatever was flushed reads back after a kill. Column names with a slash are the journal's own.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.ipc

from episodes.columns import columns_of
from episodes.declaration import Declaration
from episodes.streams import ImuStream, MatrixStream, StatusStream, Stream, TrajectoryStream, VectorStream, VideoStream
from operators.events import ImuSample, Point, Sample
from operators.oldest_frame import TickFrame
from operators.rows import Row

__all__ = ["JOURNAL_FILE", "Journal", "journal_schema", "read_journal"]

JOURNAL_FILE = "journal.arrows"
FLUSH_NS = 500_000_000
COUNTERS = b"counters"
SLOT_FIELDS = {
    "seq": pa.int64(),
    "device_ns": pa.int64(),
    "host_ns": pa.int64(),
    "capture_ns": pa.int64(),
    "repeated": pa.bool_(),
    "ts_src": pa.int8(),
}


def journal_schema(declaration: Declaration) -> pa.Schema:
    """The journal's columns: the tick, six a video slot, and each light column with ``<column>/has`` beside it."""
    fields = [("tick/rel_s", pa.float64()), ("tick/at_ns", pa.int64()), ("tick/skipped", pa.int64())]
    fields += [(f"{video.slot}/{name}", kind) for video in declaration.videos for name, kind in SLOT_FIELDS.items()]
    for column in columns_of(declaration.streams, master=declaration.master):
        if column.stream is None or column.heavy or isinstance(column.stream, VideoStream):
            continue
        fields += [(column.name, column.type), (f"{column.name}/has", pa.bool_())]
    fields += [(f"{s.column}/has", pa.bool_()) for s in declaration.streams if isinstance(s, MatrixStream)]
    return pa.schema(fields)


class Journal:
    """Writes the journal; belongs to one thread.

    Args:
        folder: the staging folder. start_ns: start of the take, host monotonic.
        counters: read at every flush: the running counters for ``drop_stats``.
    """

    def __init__(
        self, folder: Path, declaration: Declaration, start_ns: int, counters: Callable[[], Mapping[str, int]]
    ) -> None:
        self._schema = journal_schema(declaration)
        self._streams: tuple[Stream, ...] = declaration.streams
        self._start_ns = start_ns
        self._counters = counters
        self._values: dict[str, list[Any]] = {name: [] for name in self._schema.names}
        self._file = (folder / JOURNAL_FILE).open("wb")
        self._writer = pa.ipc.new_stream(self._file, self._schema)
        self._zeros = {
            s.column: np.zeros(s.shape, s.dtype) for s in self._streams if isinstance(s, VectorStream) and s.shape
        }
        self._flushed_ns = time.monotonic_ns()
        self.rows = 0

    def append(self, row: Row) -> None:
        """One row; video values are `TickFrame`, never None here."""
        put = self._values
        put["tick/rel_s"].append((row.tick.at_ns - self._start_ns) / 1e9)
        put["tick/at_ns"].append(row.tick.at_ns)
        put["tick/skipped"].append(row.tick.skipped)
        for stream, value in zip(self._streams, row.values, strict=True):
            if isinstance(stream, VideoStream):
                self._frame(stream.slot, cast(TickFrame, value))
            elif isinstance(stream, VectorStream):
                self._vector(stream, cast("Sample[Any] | None", value))
            elif isinstance(stream, MatrixStream):
                sample = cast("Sample[Any] | None", value)
                put[f"{stream.column}/has"].append(sample is not None)
                self._stamp(stream.stamp_column, sample)
            elif isinstance(stream, TrajectoryStream):
                self._points(stream.column, cast("list[Point]", value))
            elif isinstance(stream, ImuStream):
                self._imu(cast("list[ImuSample]", value))
            elif isinstance(stream, StatusStream):
                put[f"status.{stream.id}"].append(value)
                put[f"status.{stream.id}/has"].append(True)
        self.rows += 1
        if time.monotonic_ns() - self._flushed_ns >= FLUSH_NS:
            self.flush()

    def _frame(self, slot: str, shown: TickFrame) -> None:
        frame, put = shown.frame, self._values
        put[f"{slot}/seq"].append(frame.seq)
        put[f"{slot}/device_ns"].append(frame.device_ns)
        put[f"{slot}/host_ns"].append(frame.host_ns)
        put[f"{slot}/capture_ns"].append(frame.capture_ns)
        put[f"{slot}/repeated"].append(shown.repeated)
        put[f"{slot}/ts_src"].append(frame.ts_src)

    def _vector(self, stream: VectorStream, sample: Sample[Any] | None) -> None:
        value: Any = 0
        if stream.shape:
            value = self._zeros[stream.column] if sample is None else np.asarray(sample.value, stream.dtype)
            if value.shape != stream.shape:
                value = value.reshape(stream.shape)
        elif sample is not None:
            value = np.asarray(sample.value, stream.dtype).item()
        self._values[stream.column].append(value)
        self._values[f"{stream.column}/has"].append(sample is not None)
        self._stamp(stream.stamp_column, sample)

    def _stamp(self, column: str | None, sample: Sample[Any] | None) -> None:
        if column is not None:
            self._values[column].append(0 if sample is None else sample.host_ns)
            self._values[f"{column}/has"].append(sample is not None)

    def _points(self, column: str, points: list[Point]) -> None:
        self._values[column].append([number for point in points for number in (point.t, *point.pose)])
        self._values[f"{column}/has"].append(bool(points))
        self._values[f"{column}_ns"].append([point.host_ns or 0 for point in points])
        self._values[f"{column}_ns/has"].append(any(point.host_ns for point in points))

    def _imu(self, samples: list[ImuSample]) -> None:
        self._values["imu_ts_ns"].append([sample.device_ns for sample in samples])
        self._values["observation.imu"].append([sample.values for sample in samples])
        self._values["imu_ts_ns/has"].append(bool(samples))
        self._values["observation.imu/has"].append(bool(samples))

    def flush(self) -> None:
        """Put what was appended on disk, with the counters of this moment."""
        self._flushed_ns = time.monotonic_ns()
        if not self._values["tick/rel_s"]:
            return
        arrays = [_array(field.type, self._values[field.name]) for field in self._schema]
        for values in self._values.values():
            values.clear()
        batch = pa.RecordBatch.from_arrays(arrays, schema=self._schema)
        counters = json.dumps(dict(self._counters())).encode()
        self._writer.write_batch(batch, custom_metadata={COUNTERS: counters})
        self._file.flush()
        os.fdatasync(self._file.fileno())

    def close(self) -> None:
        """Flush and end the stream."""
        self.flush()
        self._writer.close()
        self._file.close()


def _array(kind: pa.DataType, values: Sequence[Any]) -> pa.Array:
    if pa.types.is_fixed_size_list(kind):
        flat = np.concatenate([np.asarray(value).reshape(-1) for value in values])
        return pa.FixedSizeListArray.from_arrays(pa.array(flat, kind.value_type), kind.list_size)
    return pa.array(values, kind)


def read_journal(folder: Path) -> tuple[pa.Table | None, dict[str, int]]:
    """What the journal of a staging folder holds, and the last counters; a cut end is left out."""
    batches: list[pa.RecordBatch] = []
    counters: dict[str, int] = {}
    try:
        with (folder / JOURNAL_FILE).open("rb") as file:
            reader = pa.ipc.open_stream(file)
            while True:
                batch, metadata = reader.read_next_batch_with_custom_metadata()
                batches.append(batch)
                if metadata is not None and COUNTERS in metadata:
                    counters = {str(key): int(value) for key, value in json.loads(metadata[COUNTERS]).items()}
    except StopIteration:
        pass
    except (OSError, pa.ArrowException, ValueError, EOFError):
        pass
    if not batches:
        return None, counters
    return pa.Table.from_batches(batches), counters
