"""An episode's data parquet: schema, and rows without ever combining heavy columns."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from episodes.errors import CorruptFileError
from episodes.force_matrices import BATCH
from episodes.legacy import Fold, fold_rows, is_abolished
from episodes.numbering import EpisodeNumber

__all__ = ["DataFile"]

MAX_ROWS = 50_000_000
"""Over eighteen days at 30 rows a second: more is damage."""


class DataFile:
    """The rows of one episode in a parquet file. The file is open only while it is read.

    Args:
        path: the file. shard_of: where the file is an old shard, the episode whose rows are meant.

    Raises:
        CorruptFileError: whatever is wrong with the file.
    """

    def __init__(self, path: Path, shard_of: EpisodeNumber | None = None) -> None:
        self.path = path
        self._shard_of = shard_of
        try:
            with pq.ParquetFile(path) as file:
                self.schema: pa.Schema = file.schema_arrow
                self.file_rows: int = file.metadata.num_rows
                self.row_groups: int = file.metadata.num_row_groups
        except (OSError, pa.ArrowException, ValueError) as error:
            raise CorruptFileError(path, f"is no readable parquet file: {error}") from error
        if not 0 <= self.file_rows <= MAX_ROWS:
            raise CorruptFileError(path, f"declares {self.file_rows} rows")
        if len(set(self.schema.names)) != len(self.schema.names):
            raise CorruptFileError(path, "has two columns of one name")
        self.columns = [name for name in self.schema.names if not is_abolished(name)]
        self.heavy = tuple(name for name in self.columns if name.endswith("_force_matrix"))

    @cached_property
    def fold(self) -> Fold:
        """Which rows of the file are the episode's rows."""
        keys = [name for name in ("frame_index", "timestamp", "hardware_ns") if name in self.columns]
        if "frame_index" not in keys:
            raise CorruptFileError(self.path, "has no column frame_index")
        mine = self._mine()
        table = self._whole([*keys])
        frame_index = _numbers(self.path, table, "frame_index", np.int64)
        timestamp: NDArray[np.float32] = np.zeros(len(frame_index), np.float32)
        hardware: NDArray[np.int64] = np.zeros(len(frame_index), np.int64)
        if "timestamp" in keys:
            timestamp = _numbers(self.path, table, "timestamp", np.float32)
        if "hardware_ns" in keys:
            hardware = _numbers(self.path, table, "hardware_ns", np.int64)
        if mine is None:
            return fold_rows(frame_index, timestamp, hardware)
        fold = fold_rows(frame_index[mine], timestamp[mine], hardware[mine])
        return Fold(mine if fold.rows is None else mine[fold.rows], fold.dropped, fold.disagreeing)

    @property
    def length(self) -> int:
        """The episode's rows."""
        return self.file_rows if self.fold.rows is None else len(self.fold.rows)

    def read(self, columns: Sequence[str]) -> pa.Table:
        """Columns of the episode's rows, in this order; of heavy ones the chunks stay apart."""
        rows = self.fold.rows
        light = self._whole([name for name in columns if name not in self.heavy])
        if rows is not None and light.num_columns:
            light = light.take(pa.array(rows))
        found = {name: light.column(name) for name in light.column_names}
        for name in columns:
            if name in self.heavy:
                found[name] = self._heavy(name, rows)
        return pa.table({name: found[name] for name in columns}) if columns else pa.table({})

    def int64(self, column: str) -> NDArray[np.int64]:
        """An integer column, [length]; null is 0, no stamp."""
        if column not in self.columns:
            raise CorruptFileError(self.path, f"has no column {column}")
        return _numbers(self.path, self.read([column]), column, np.int64)

    def lists(self, column: str) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """A column of lists: all values one after the other, and how many each row has."""
        if not pa.types.is_list(self.schema.field(column).type):
            raise CorruptFileError(self.path, f"{column} is {self.schema.field(column).type}, no list")
        try:
            chunks = self.read([column]).column(0).chunks
            values = [chunk.flatten() for chunk in chunks]
            counts = [chunk.value_lengths().fill_null(0).to_numpy(zero_copy_only=False) for chunk in chunks]
            kind = self.schema.field(column).type.value_type.to_pandas_dtype()
            flat = [value.fill_null(0).to_numpy(zero_copy_only=False) for value in values]
        except (pa.ArrowException, ValueError, NotImplementedError) as error:
            raise CorruptFileError(self.path, f"{column}: {error}") from error
        return (
            np.concatenate(flat) if flat else np.zeros(0, kind),
            np.concatenate(counts).astype(np.int64) if counts else np.zeros(0, np.int64),
        )

    def _mine(self) -> NDArray[np.int64] | None:
        if self._shard_of is None:
            return None
        numbers = _numbers(self.path, self._whole(["episode_index"]), "episode_index", np.int64)
        return np.flatnonzero(numbers == self._shard_of.n).astype(np.int64)

    def _whole(self, columns: Sequence[str]) -> pa.Table:
        """Light columns of every row of the file."""
        try:
            with pq.ParquetFile(self.path) as file:
                table = file.read(columns=list(columns), use_threads=False)
        except (OSError, pa.ArrowException, ValueError) as error:
            raise CorruptFileError(self.path, f"cannot be read: {error}") from error
        if table.num_columns != len(columns) or (columns and table.num_rows != self.file_rows):
            raise CorruptFileError(self.path, f"changed while it was read, or lacks one of {', '.join(columns)}")
        return table

    def _heavy(self, column: str, rows: NDArray[np.int64] | None) -> pa.ChunkedArray:
        try:
            with pq.ParquetFile(self.path) as file:
                chunks = [batch.column(0) for batch in file.iter_batches(batch_size=BATCH, columns=[column])]
        except (OSError, pa.ArrowException, ValueError) as error:
            raise CorruptFileError(self.path, f"{column} cannot be read: {error}") from error
        if rows is None:
            return pa.chunked_array(chunks, self.schema.field(column).type)
        starts = np.concatenate([[0], np.cumsum([len(chunk) for chunk in chunks])])
        which = np.searchsorted(starts, rows, side="right") - 1
        kept = [chunks[c].slice(int(row - starts[c]), 1) for c, row in zip(which, rows, strict=True)]
        return pa.chunked_array(kept, self.schema.field(column).type)


def _numbers(path: Path, table: pa.Table, column: str, kind: type[Any]) -> NDArray[Any]:
    array = table.column(column)
    if not (pa.types.is_integer(array.type) or (kind is np.float32 and pa.types.is_floating(array.type))):
        raise CorruptFileError(path, f"column {column} is {array.type}")
    values: NDArray[Any] = array.fill_null(0).to_numpy().astype(kind)
    return values
