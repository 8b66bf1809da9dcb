"""Footers of parquet files that are put together: chunks of other writers, taken over as bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from sinks.heavy_chunks import RowGroup
from sinks.thrift_compact import (
    BINARY,
    I32,
    I64,
    LIST,
    STRUCT,
    Struct,
    int_at,
    int_bytes,
    list_of,
    read_struct,
    skip,
    write_struct,
)

__all__ = ["LightGroup", "footer_bytes", "footer_of", "heavy_chunk", "light_groups"]

MAGIC = b"PAR1"
_INT32, _FLOAT = 1, 4
_RLE, _BYTE_STREAM_SPLIT = 3, 9
_ZSTD = 6
# Fields of the thrift structs, by the Parquet format's definition.
_ROWS, _GROUPS = 3, 4
_CHUNKS, _BYTES, _GROUP_ROWS, _COMPRESSED, _ORDINAL = 1, 2, 3, 6, 7
_FILE_OFFSET, _META = 2, 3
_TYPE, _ENCODINGS, _PATH, _CODEC, _VALUES, _PLAIN_SIZE, _SIZE, _PAGE_OFFSET = 1, 2, 3, 4, 5, 6, 7, 9


@dataclass(frozen=True, slots=True)
class LightGroup:
    """A row group as a writer left it: its column chunks as bytes, in its schema's order, and their sizes in all."""

    chunks: list[bytes]
    plain_size: int
    size: int


def footer_bytes(content: bytes) -> bytes:
    """The footer of a parquet file."""
    size = int.from_bytes(content[-8:-4], "little")
    return content[-8 - size : -8]


def light_groups(footer: bytes, shift: int) -> list[LightGroup]:
    """The row groups of a footer, their pages moved by ``shift`` bytes.

    Of a chunk's entry only the one offset is looked at, so thousands of chunks cost little.
    """
    found: list[LightGroup] = []
    at = field = 0
    while (head := footer[at]) != 0:
        at += 1
        field += head >> 4
        if field != _GROUPS or head & 0x0F != LIST:
            at = skip(footer, at, head & 0x0F)
            continue
        count, at = _list_head(footer, at)
        for _ in range(count):
            group, at = _light_group(footer, at, shift)
            found.append(group)
    return found


def _light_group(footer: bytes, at: int, shift: int) -> tuple[LightGroup, int]:
    """One row group at ``at``: its first field is the list of its chunks."""
    count, begin = _list_head(footer, at + 1)
    chunks: list[bytes] = []
    end = begin
    for _ in range(count):
        begin, end = end, skip(footer, end, STRUCT)
        chunks.append(_moved(footer, begin, end, shift))
    # What stands behind the list is a struct of its own, whose fields count on from 1.
    rest, end = read_struct(footer, end, first=_CHUNKS)
    return LightGroup(chunks, rest[_BYTES][1], rest[_COMPRESSED][1] if _COMPRESSED in rest else 0), end


def _moved(data: bytes, begin: int, end: int, shift: int) -> bytes:
    """The entry of a chunk without dictionary, its page offset moved."""
    at = _value_of(data, _value_of(data, begin, _META), _PAGE_OFFSET)
    behind = skip(data, at, I64)
    offset = int_bytes(int_at(data, at) + shift)
    return data[begin:at] + offset + data[behind:end]


def _value_of(data: bytes, at: int, wanted: int) -> int:
    """Where the value of a field begins, of the struct at ``at``."""
    field = 0
    while True:
        kind = data[at] & 0x0F
        field += data[at] >> 4
        at += 1
        if field == wanted:
            return at
        if kind == 0 or field > wanted:
            raise ValueError(f"parquet footer: a chunk without field {wanted}")
        at = skip(data, at, kind)


def heavy_chunk(name: str, kind: pa.DataType, group: RowGroup) -> tuple[bytes, int, int]:
    """A heavy column's chunk in a group: its footer entry, its size uncompressed, its size."""
    offset, pages = group.columns[name]
    plain, size = sum(page[1] for page in pages), sum(page[0] for page in pages)
    meta: Struct = {
        _TYPE: (I32, _FLOAT if kind.value_type == pa.float32() else _INT32),
        _ENCODINGS: list_of(I32, [_RLE, _BYTE_STREAM_SPLIT]),
        _PATH: list_of(BINARY, [name.encode(), b"list", b"element"]),
        _CODEC: (I32, _ZSTD),
        _VALUES: (I64, sum(page[2] for page in pages)),
        _PLAIN_SIZE: (I64, plain),
        _SIZE: (I64, size),
        _PAGE_OFFSET: (I64, offset),
    }
    # The chunk's own offset is deprecated, and 0 where nobody uses it.
    return write_struct({_FILE_OFFSET: (I64, 0), _META: (STRUCT, meta)}), plain, size


def footer_of(
    empty: bytes, rows: Sequence[int], groups: Sequence[LightGroup], heavy: Sequence[Sequence[tuple[bytes, int, int]]]
) -> bytes:
    """A whole footer, with length and magic.

    Args:
        empty: footer of a file of the same schema without rows. rows: of each group.
        groups: each group's chunks, all of them in the schema's order, heavy ones included; sizes without heavy ones.
        heavy: each group's heavy chunks, for their sizes.
    """
    whole, _end = read_struct(empty)
    found: list[Struct] = []
    for ordinal, (count, group, added) in enumerate(zip(rows, groups, heavy, strict=True)):
        found.append(
            {
                _CHUNKS: list_of(STRUCT, list(group.chunks)),
                _BYTES: (I64, group.plain_size + sum(plain for _chunk, plain, _size in added)),
                _GROUP_ROWS: (I64, count),
                _COMPRESSED: (I64, group.size + sum(size for _chunk, _plain, size in added)),
                _ORDINAL: (4, ordinal),
            }
        )
    whole[_ROWS] = (I64, sum(rows))
    whole[_GROUPS] = list_of(STRUCT, found)
    text = write_struct(whole)
    return text + len(text).to_bytes(4, "little") + MAGIC


def _list_head(data: bytes, at: int) -> tuple[int, int]:
    """The number of elements of a list at ``at``, and where they begin."""
    count = data[at] >> 4
    at += 1
    if count < 15:
        return count, at
    count = shift = 0
    while True:
        byte = data[at]
        at += 1
        count |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return count, at
