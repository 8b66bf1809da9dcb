"""The heavy columns of a take, written as finished parquet column chunks while it runs."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from episodes.errors import CorruptFileError
from episodes.streams import MatrixStream
from sinks.heavy_pages import Page, PageMaker

__all__ = ["HEAVY_FILE", "HeavyChunks", "RowGroup", "read_row_groups"]

HEAVY_FILE = "data.parquet"
INDEX_FILE = "heavy.jsonl"
MAGIC = b"PAR1"
MAX_INDEX_BYTES = 1 << 30
READ_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class RowGroup:
    """One row group of the heavy columns.

    Attributes:
        rows: in it. columns: column to (offset of its first page, its pages as (bytes, uncompressed bytes, values)).
        crc32: of the file from its beginning to the group's end, before anything was cut.
    """

    rows: int
    columns: dict[str, tuple[int, list[tuple[int, int, int]]]]
    crc32: int

    @property
    def end(self) -> int:
        """The place in the file behind the group."""
        return max(offset + sum(page[0] for page in pages) for offset, pages in self.columns.values())

    def fits(self, start: int, size: int) -> bool:
        """Whether the group can stand in a file of ``size`` bytes from ``start`` on, a page a row."""
        return self.rows > 0 and all(
            offset >= start
            and len(pages) == self.rows
            and all(content > 0 and plain > 0 and values > 0 for content, plain, values in pages)
            and offset + sum(content for content, _plain, _values in pages) <= size
            for offset, pages in self.columns.values()
        )

    def cut(self, rows: int) -> RowGroup:
        """The group's first rows; a page is a row, so nothing has to be written again."""
        columns = {name: (offset, pages[:rows]) for name, (offset, pages) in self.columns.items()}
        return RowGroup(rows, columns, self.crc32)


class HeavyChunks:
    """Writes the heavy columns into what becomes the episode's data parquet; belongs to one thread.

    A group's pages are kept until the group is whole, since a column chunk's pages must stand together. The index line
    of a group is written after its bytes, so that an index never names bytes that are not there.

    Args:
        folder: the staging folder. group_rows: rows a group: what a kill may cost.
    """

    def __init__(self, folder: Path, streams: Sequence[MatrixStream], group_rows: int) -> None:
        self._makers = {stream.column: PageMaker(stream.scale) for stream in streams}
        self._pages: dict[str, list[Page]] = {name: [] for name in self._makers}
        self._group_rows = group_rows
        self._file = (folder / HEAVY_FILE).open("wb")
        self._index = (folder / INDEX_FILE).open("wb")
        self._file.write(MAGIC)
        self._offset = len(MAGIC)
        self._crc32 = zlib.crc32(MAGIC)
        self.rows = 0

    def append(self, matrices: Mapping[str, NDArray[np.float32] | None], *, hurry: int = 0) -> None:
        """One row: a matrix or None for each column.

        Args:
            hurry: rows by which the group ends sooner: those that wait behind this one, and would be lost with it.
        """
        for name, maker in self._makers.items():
            self._pages[name].append(maker.page(matrices.get(name)))
        self.rows += 1
        if len(next(iter(self._pages.values()))) >= self._group_rows - hurry:
            self._write_group()

    def _write_group(self) -> None:
        columns: dict[str, list[object]] = {}
        rows = 0
        for name, pages in self._pages.items():
            rows = len(pages)
            columns[name] = [self._offset, [[len(page.content), page.uncompressed, page.values] for page in pages]]
            for page in pages:
                self._file.write(page.content)
                self._crc32 = zlib.crc32(page.content, self._crc32)
                self._offset += len(page.content)
            pages.clear()
        self._file.flush()
        self._index.write(json.dumps({"rows": rows, "columns": columns, "crc32": self._crc32}).encode() + b"\n")
        self._index.flush()

    def close(self) -> None:
        """Write the last group."""
        if any(self._pages.values()):
            self._write_group()
        self._file.close()
        self._index.close()


def read_row_groups(folder: Path, columns: Sequence[str], *, verify: bool) -> list[RowGroup]:
    """The groups that are whole on disk; a line that was cut off, or is not of these columns, ends them.

    Args:
        verify: read the chunks too: after a power cut the index may name bytes that never reached the disk.

    Raises:
        CorruptFileError: the index is too large to be one.
    """
    index, data = folder / INDEX_FILE, folder / HEAVY_FILE
    if not index.exists():
        return []
    if index.stat().st_size > MAX_INDEX_BYTES:
        raise CorruptFileError(index, f"over {MAX_INDEX_BYTES} bytes")
    size = data.stat().st_size if data.exists() else 0
    groups: list[RowGroup] = []
    start = len(MAGIC)
    for line in index.read_bytes().splitlines():
        try:
            found = json.loads(line)
            group = RowGroup(
                int(found["rows"]),
                {
                    name: (int(at), [(int(a), int(b), int(c)) for a, b, c in pages])
                    for name, (at, pages) in found["columns"].items()
                },
                int(found["crc32"]),
            )
        except (ValueError, KeyError, TypeError, AttributeError):
            break
        if set(group.columns) != set(columns) or not group.fits(start, size):
            break
        start = group.end
        groups.append(group)
    return _verified(data, groups) if verify else groups


def _verified(data: Path, groups: list[RowGroup]) -> list[RowGroup]:
    """The groups before the first whose bytes are not those that were written."""
    value, at = 0, 0
    with data.open("rb") as file:
        for number, group in enumerate(groups):
            while at < group.end:
                block = file.read(min(READ_BYTES, group.end - at))
                if not block:
                    return groups[:number]
                value, at = zlib.crc32(block, value), at + len(block)
            if value != group.crc32:
                return groups[:number]
    return groups
