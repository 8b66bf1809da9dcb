"""An episode's data parquet: the light columns, and the heavy ones' chunks that stand in the file already."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from sinks.heavy_chunks import MAGIC, RowGroup
from sinks.thrift_compact import BINARY, I32, I64, STRUCT, Struct, list_of, read_struct, write_struct

__all__ = ["write_data_parquet"]

_INT32, _FLOAT = 1, 4
_RLE, _BYTE_STREAM_SPLIT = 3, 9
_ZSTD = 6
# Fields of the thrift structs, by the Parquet format's definition.
_ROWS, _GROUPS = 3, 4
_CHUNKS, _BYTES, _GROUP_ROWS, _FILE_OFFSET, _COMPRESSED, _ORDINAL = 1, 2, 3, 5, 6, 7
_META = 3
_TYPE, _ENCODINGS, _PATH, _CODEC, _VALUES, _PLAIN_SIZE, _SIZE, _PAGE_OFFSET, _INDEX_OFFSET, _DICTIONARY_OFFSET = (
    1,
    2,
    3,
    4,
    5,
    6,
    7,
    9,
    10,
    11,
)
_INDEX_FIELDS = (4, 5, 6, 7)


def write_data_parquet(
    path: Path,
    light: pa.Table,
    heavy: Mapping[str, pa.DataType],
    groups: Sequence[RowGroup],
    order: Sequence[str],
    *,
    start: int | None = None,
) -> None:
    """Write the light columns and one footer behind the heavy chunks of ``path``.

    Args:
        path: the file; with heavy columns it holds their chunks already, and what stands behind them is overwritten.
        light: all light columns, as many rows as the groups together. heavy: heavy column to its arrow type.
        groups: the heavy row groups; empty without heavy columns. order: all column names, as they shall stand.
        start: where the light columns may begin; None for right behind the groups. A take that was cut keeps what was
            cut off, so that its file can be made again after a crash.
    """
    if not heavy:
        pq.write_table(light.select(list(order)), path, compression="zstd", row_group_size=max(1, light.num_rows))
        return
    body, footer = _light_part(light, [group.rows for group in groups])
    schema = pa.schema([(name, heavy[name] if name in heavy else light.schema.field(name).type) for name in order])
    whole = _footer_of(schema)
    start = max([len(MAGIC) if start is None else start, *(group.end for group in groups)])
    shift = start - len(MAGIC)
    light_names = list(light.column_names)
    found: list[Any] = []
    light_groups = footer[_GROUPS][1][1] if groups else []
    for ordinal, (group, light_group) in enumerate(zip(groups, light_groups, strict=True)):
        chunks = dict(zip(light_names, _split(light_group, light_names, light.schema), strict=True))
        columns: list[Struct] = []
        for name in order:
            if name in heavy:
                columns.append(_heavy_chunk(name, heavy[name], group))
            else:
                columns += [_shifted(chunk, shift) for chunk in chunks[name]]
        sizes = [chunk[_META][1] for chunk in columns]
        found.append(
            {
                _CHUNKS: list_of(STRUCT, columns),
                _BYTES: (I64, sum(meta[_PLAIN_SIZE][1] for meta in sizes)),
                _GROUP_ROWS: (I64, group.rows),
                _COMPRESSED: (I64, sum(meta[_SIZE][1] for meta in sizes)),
                _ORDINAL: (4, ordinal),
            }
        )
    whole[_ROWS] = (I64, light.num_rows)
    whole[_GROUPS] = list_of(STRUCT, found)
    text = write_struct(whole)
    with path.open("r+b") as file:
        file.truncate(start)
        file.seek(start)
        file.write(body)
        file.write(text)
        file.write(len(text).to_bytes(4, "little"))
        file.write(MAGIC)


def _light_part(light: pa.Table, group_rows: Sequence[int]) -> tuple[bytes, Struct]:
    """The column chunks of the light columns, in the groups' cut, and their footer."""
    sink = io.BytesIO()
    with pq.ParquetWriter(sink, light.schema, compression="zstd") as writer:
        start = 0
        for rows in group_rows:
            writer.write_table(light.slice(start, rows), row_group_size=max(1, rows))
            start += rows
    content = sink.getvalue()
    size = int.from_bytes(content[-8:-4], "little")
    footer, _end = read_struct(content, len(content) - 8 - size)
    return content[len(MAGIC) : len(content) - 8 - size], footer


def _footer_of(schema: pa.Schema) -> Struct:
    sink = io.BytesIO()
    pq.write_table(schema.empty_table(), sink, compression="zstd")
    content = sink.getvalue()
    footer, _end = read_struct(content, len(content) - 8 - int.from_bytes(content[-8:-4], "little"))
    return footer


def _split(group: Struct, names: Sequence[str], schema: pa.Schema) -> list[list[Struct]]:
    """A group's chunks by column; a column of the table is one leaf here, since no struct type occurs."""
    chunks: list[Struct] = group[_CHUNKS][1][1]
    if len(chunks) != len(names):
        raise ValueError(f"{len(chunks)} column chunks for {len(names)} columns: {schema}")
    return [[chunk] for chunk in chunks]


def _shifted(chunk: Struct, shift: int) -> Struct:
    moved = {field: value for field, value in chunk.items() if field not in _INDEX_FIELDS}
    kind, meta = moved[_META]
    meta = dict(meta)
    for field in (_PAGE_OFFSET, _INDEX_OFFSET, _DICTIONARY_OFFSET):
        if field in meta:
            meta[field] = (meta[field][0], meta[field][1] + shift)
    moved[_META] = (kind, meta)
    # The chunk's own offset is deprecated, and 0 where nobody uses it.
    moved[2] = (I64, 0)
    return moved


def _heavy_chunk(name: str, kind: pa.DataType, group: RowGroup) -> Struct:
    offset, pages = group.columns[name]
    physical = _FLOAT if kind.value_type == pa.float32() else _INT32
    meta: Struct = {
        _TYPE: (I32, physical),
        _ENCODINGS: list_of(I32, [_RLE, _BYTE_STREAM_SPLIT]),
        _PATH: list_of(BINARY, [name.encode(), b"list", b"element"]),
        _CODEC: (I32, _ZSTD),
        _VALUES: (I64, sum(page[2] for page in pages)),
        _PLAIN_SIZE: (I64, sum(page[1] for page in pages)),
        _SIZE: (I64, sum(page[0] for page in pages)),
        _PAGE_OFFSET: (I64, offset),
    }
    return {2: (I64, 0), _META: (STRUCT, meta)}
