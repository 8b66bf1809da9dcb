"""The force matrices of one column of an episode, decoded one at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from episodes.errors import ContractError, CorruptFileError
from episodes.force_matrix import SIZE, decode

__all__ = ["BATCH", "ForceMatrices"]

BATCH = 32
"""Rows decoded at once: 32 × 187,500 int16 are 12 MB. A whole column would be gigabytes, and its list offsets
overflow 32 bits at 11,453 rows."""


class ForceMatrices:
    """A lazy sequence: item i is row i's matrix, [250, 250, 3] float32, mN, or None where the row has no sample.

    Going forward is cheap; a jump decodes from the beginning of its row group. Not for several threads at once.

    Raises:
        CorruptFileError: a row that does not decode. IndexError: no such row.
    """

    def __init__(
        self, path: Path, column: str, spec: Mapping[str, Any], rows: NDArray[np.int64] | None, length: int
    ) -> None:
        self.column = column
        self.spec = dict(spec)
        self._path = path
        self._rows = rows
        self._length = length
        try:
            self._file = pq.ParquetFile(path)
        except (OSError, pa.ArrowException, ValueError) as error:
            raise CorruptFileError(path, f"is no readable parquet file: {error}") from error
        sizes = [self._file.metadata.row_group(i).num_rows for i in range(self._file.metadata.num_row_groups)]
        self._starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self._batches: Iterator[pa.RecordBatch] = iter(())
        self._batch: pa.Array | None = None
        self._batch_start = 0
        self._group = -1

    def __len__(self) -> int:
        return self._length

    def __enter__(self) -> ForceMatrices:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give the file back."""
        self._batches, self._batch, self._group = iter(()), None, -1
        self._file.close()

    def __getitem__(self, i: int) -> NDArray[np.float32] | None:
        values = self.codes(i)
        if values is None:
            return None
        try:
            return decode(values, self.spec)
        except ContractError as error:
            raise CorruptFileError(self._path, f"{self.column}, row {i}: {error}") from error

    def __iter__(self) -> Iterator[NDArray[np.float32] | None]:
        for i in range(self._length):
            yield self[i]

    def codes(self, i: int) -> NDArray[Any] | None:
        """Row i as it is stored: [187500] int16 or float32; None where the row has no sample."""
        at = i + self._length if i < 0 else i
        if not 0 <= at < self._length:
            raise IndexError(f"{self.column}: no row {i}, the episode has {self._length}")
        source = at if self._rows is None else int(self._rows[at])
        try:
            item = self._item(source)
        except (OSError, pa.ArrowException, ValueError, StopIteration) as error:
            self._group = -1
            raise CorruptFileError(self._path, f"{self.column}, row {at} cannot be read: {error}") from error
        values = item.values
        if values is None or len(values) == 0:
            return None
        if len(values) != SIZE or values.null_count:
            raise CorruptFileError(self._path, f"{self.column}, row {at} has {len(values)} values, not {SIZE}")
        codes: NDArray[Any] = values.to_numpy(zero_copy_only=False)
        return codes

    def _item(self, source: int) -> Any:
        group = int(np.searchsorted(self._starts, source, side="right")) - 1
        if group != self._group or source < self._batch_start:
            self._batches = self._file.iter_batches(batch_size=BATCH, row_groups=[group], columns=[self.column])
            self._group, self._batch, self._batch_start = group, None, int(self._starts[group])
        while self._batch is None or source >= self._batch_start + len(self._batch):
            if self._batch is not None:
                self._batch_start += len(self._batch)
            self._batch = next(self._batches).column(0)
        return self._batch[source - self._batch_start]
