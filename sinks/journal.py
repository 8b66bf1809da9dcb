"""The journal of a take: everything but pictures and matrices, on disk twice a second."""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from episodes.declaration import Declaration
from episodes.errors import CorruptFileError
from operators.cells import Tick
from sinks.journal_columns import ROW_FIELDS, StreamColumns, journal_schema

__all__ = ["JOURNAL_FILE", "JournalFile", "JournalRows", "read_journal"]

JOURNAL_FILE = "journal.arrow"
MAX_BYTES = 16 * 1024**3
MAX_COUNTERS = 1 << 20


class JournalFile:
    """An Arrow IPC stream, one batch a flush; belongs to one thread.

    Args:
        folder: the staging folder. start_ns: the take's start, host monotonic clock.
        counters: the running counters, written with every batch.

    Attributes:
        refused: column to values that were not of the declared shape.
    """

    def __init__(
        self, folder: Path, declaration: Declaration, start_ns: int, counters: Callable[[], Mapping[str, int]]
    ) -> None:
        self.refused: Counter[str] = Counter()
        self._start_ns = start_ns
        self._counters = counters
        self._columns = [StreamColumns(index, stream, self._refuse) for index, stream in enumerate(declaration.streams)]
        self._schema = journal_schema(declaration.streams)
        self._file = pa.OSFile(str(folder / JOURNAL_FILE), "wb")
        self._writer = pa.ipc.new_stream(self._file, self._schema)

    def append(self, rows: Sequence[tuple[Tick, Sequence[Any]]]) -> None:
        """Write some rows: each its tick, and what is kept of the value of every stream."""
        at = [tick.at_ns for tick, _values in rows]
        counters: list[str | None] = [None] * len(rows)
        arrays = [
            pa.array([tick.index for tick, _values in rows], pa.int64()),
            pa.array(at, pa.int64()),
            pa.array([tick.due_ns for tick, _values in rows], pa.int64()),
            pa.array([tick.skipped for tick, _values in rows], pa.int64()),
            pa.array([(ns - self._start_ns) / 1e9 for ns in at], pa.float64()),
        ]
        streams: list[pa.Array] = []
        for index, columns in enumerate(self._columns):
            streams += columns.arrays([values[index] for _tick, values in rows])
        counters[-1] = json.dumps({**self._counters(), **self._refused_counts()})
        arrays.append(pa.array(counters, pa.string()))
        self._writer.write_batch(pa.RecordBatch.from_arrays(arrays + streams, schema=self._schema))

    def note_counters(self) -> None:
        """Write the counters again, without a row: what was counted since the last one."""
        batch = pa.RecordBatch.from_pylist([], schema=self._schema)
        text = json.dumps({**self._counters(), **self._refused_counts()})
        self._writer.write_batch(batch, custom_metadata={"counters": text})

    def close(self) -> None:
        """End the stream."""
        with contextlib.suppress(pa.ArrowInvalid):
            self._writer.close()
        self._file.close()

    def _refuse(self, column: str) -> None:
        self.refused[column] += 1

    def _refused_counts(self) -> dict[str, int]:
        return {f"{column.rpartition('.')[2]}_refused_count": count for column, count in self.refused.items()}


@dataclass(frozen=True, slots=True)
class JournalRows:
    """What a journal holds: its whole rows, and the newest counters."""

    table: pa.Table
    counters: dict[str, int]


def read_journal(folder: Path, declaration: Declaration) -> JournalRows:
    """Read a journal back, up to where its recorder was killed.

    Raises:
        CorruptFileError: it is of another declaration, or too large to be one.
    """
    path = folder / JOURNAL_FILE
    schema = journal_schema(declaration.streams)
    batches: list[pa.RecordBatch] = []
    counters: dict[str, int] = {}
    rows = 0
    try:
        if path.stat().st_size > MAX_BYTES:
            raise CorruptFileError(path, f"over {MAX_BYTES} bytes")
        with pa.OSFile(str(path), "rb") as file, pa.ipc.open_stream(file) as reader:
            if not reader.schema.equals(schema):
                raise CorruptFileError(path, "has other columns than the manifest's declaration")
            while True:
                batch, metadata = reader.read_next_batch_with_custom_metadata()
                batch.validate(full=True)
                index = batch.column(0).to_pylist()
                if index != list(range(rows, rows + batch.num_rows)) or _has_hole(batch):
                    raise CorruptFileError(path, f"has other rows than {rows} onwards where they should stand")
                batches.append(batch)
                rows += batch.num_rows
                texts = [text for text in batch.column("counters").to_pylist() if text]
                if metadata is not None and b"counters" in metadata:
                    texts.append(metadata[b"counters"].decode())
                if texts:
                    counters = _counters(texts[-1], counters)
    except StopIteration:
        pass
    except FileNotFoundError:
        pass
    except (pa.ArrowException, OSError, ValueError):
        # Cut off inside a batch: its recorder was killed. What stands before is whole.
        pass
    return JournalRows(pa.Table.from_batches(batches, schema), counters)


def _has_hole(batch: pa.RecordBatch) -> bool:
    return any(batch.column(field.name).null_count for field in ROW_FIELDS[:-1])


def _counters(text: str, before: dict[str, int]) -> dict[str, int]:
    if len(text) > MAX_COUNTERS:
        return before
    try:
        found = json.loads(text)
    except ValueError:
        return before
    if not isinstance(found, dict):
        return before
    return {key: value for key, value in found.items() if isinstance(value, int) and not isinstance(value, bool)}
