"""An episode's data parquet: the light columns, and the heavy ones' chunks that stand in the file already."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from sinks.heavy_chunks import MAGIC, RowGroup
from sinks.parquet_footer import LightGroup, footer_bytes, footer_of, heavy_chunk, light_groups

__all__ = ["write_data_parquet"]

LIGHT_GROUP_BYTES = 8 << 20


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
    light = light.select([name for name in order if name not in heavy])
    if not heavy:
        # One row group, but for a take whose own vectors are wide: what a writer holds for a group is several times it.
        group_rows = light.num_rows * LIGHT_GROUP_BYTES // max(light.nbytes, LIGHT_GROUP_BYTES)
        texts = [field.name for field in light.schema if pa.types.is_string(field.type)]
        pq.write_table(light, path, compression="zstd", row_group_size=max(1, group_rows), use_dictionary=texts)
        return
    start = max([len(MAGIC) if start is None else start, *(group.end for group in groups)])
    rows = [group.rows for group in groups]
    body, footer = _light_part(light, rows)
    shift = start - len(MAGIC)
    whole: list[LightGroup] = []
    added: list[list[tuple[bytes, int, int]]] = []
    for light_group, group in zip(light_groups(footer, shift), groups, strict=True):
        chunks = dict(zip(light.column_names, light_group.chunks, strict=True))
        entries = {name: heavy_chunk(name, kind, group) for name, kind in heavy.items()}
        ordered = [entries[name][0] if name in heavy else chunks[name] for name in order]
        whole.append(LightGroup(ordered, light_group.plain_size, light_group.size))
        added.append(list(entries.values()))
    schema = pa.schema([(name, heavy[name] if name in heavy else light.schema.field(name).type) for name in order])
    with path.open("r+b") as file:
        file.truncate(start)
        file.seek(start)
        file.write(body)
        file.write(footer_of(_empty_footer(schema), rows, whole, added))


def _light_part(light: pa.Table, rows: Sequence[int]) -> tuple[bytes, bytes]:
    """The column chunks of the light columns, in the groups' cut, and their footer."""
    sink = io.BytesIO()
    # No statistics: thousands of small chunks would carry them, and nobody filters on half-seconds.
    with pq.ParquetWriter(
        sink, light.schema, compression="zstd", use_dictionary=False, write_statistics=False
    ) as writer:
        if len(set(rows[:-1])) <= 1 and rows[-1] <= rows[0]:
            writer.write_table(light, row_group_size=rows[0])
        else:
            first = 0
            for count in rows:
                writer.write_table(light.slice(first, count), row_group_size=count)
                first += count
    content = sink.getvalue()
    footer = footer_bytes(content)
    return content[len(MAGIC) : len(content) - 8 - len(footer)], footer


def _empty_footer(schema: pa.Schema) -> bytes:
    sink = io.BytesIO()
    pq.write_table(schema.empty_table(), sink, compression="zstd")
    return footer_bytes(sink.getvalue())
