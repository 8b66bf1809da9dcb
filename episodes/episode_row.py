"""The episodes row: one parquet file of one row beside each episode."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from episodes.errors import CorruptFileError
from episodes.numbering import MAX_K, EpisodeNumber

__all__ = ["EPISODE_SCHEMA", "EpisodeRow", "read_episode_row"]

EPISODE_SCHEMA = pa.schema(
    [
        ("episode_index", pa.int64()),
        ("task_index", pa.int64()),
        ("start_frame_index", pa.int64()),
        ("end_frame_index", pa.int64()),
        ("length", pa.int64()),
        ("created_at", pa.float64()),
        ("duration_sec", pa.float64()),
        ("drop_stats", pa.string()),
        ("video_codec", pa.string()),
        ("calibration", pa.string()),
        ("force_matrix_specs", pa.string()),
        ("slam_specs", pa.string()),
        ("clock", pa.string()),
    ]
)
_JSON = ("drop_stats", "video_codec", "calibration", "force_matrix_specs", "slam_specs", "clock")
MAX_ROWS = 1_000_000
MAX_BYTES = 256 * 1024 * 1024


class EpisodeRow(msgspec.Struct, frozen=True, kw_only=True):
    """What is said of one episode.

    Attributes:
        number: of the episode. length: rows. created_at: Unix s. duration_sec: length / fps.
        drop_stats: see `episodes.drop_stats`. video_codec: settings of the encoders.
        calibration: this episode's. force_matrix_specs: column to dtype, shape, encoding and scale: the authority.
        slam_specs: column to frame, frame_axes, time, owner, source_slot: the authority.
        clock: ``mono_ns`` and ``wall_s`` read together at the start; {} in old episodes.
    """

    number: EpisodeNumber
    length: int
    created_at: float = 0.0
    duration_sec: float = 0.0
    drop_stats: dict[str, Any] = {}
    video_codec: dict[str, Any] = {}
    calibration: dict[str, Any] = {}
    force_matrix_specs: dict[str, Any] = {}
    slam_specs: dict[str, Any] = {}
    clock: dict[str, Any] = {}

    def to_parquet(self) -> bytes:
        """The file's bytes."""
        row: dict[str, Any] = {
            "episode_index": self.number.n,
            "task_index": 0,
            "start_frame_index": 0,
            "end_frame_index": max(self.length - 1, 0),
            "length": self.length,
            "created_at": self.created_at,
            "duration_sec": self.duration_sec,
        }
        row |= {name: json.dumps(getattr(self, name), ensure_ascii=False) for name in _JSON}
        sink = io.BytesIO()
        pq.write_table(pa.Table.from_pylist([row], schema=EPISODE_SCHEMA), sink, compression="zstd")
        return sink.getvalue()


def read_episode_row(path: Path, number: EpisodeNumber | None = None) -> EpisodeRow:
    """Read an episodes row; a column that is missing (an old episode) has its default.

    Args:
        number: the row to take where the file holds several (an old shard); None takes the only one.

    Raises:
        CorruptFileError: damaged, or without that row.
    """
    try:
        with pq.ParquetFile(path) as file:
            groups = [file.metadata.row_group(i) for i in range(file.metadata.num_row_groups)]
            size = sum(group.total_byte_size for group in groups)
            if file.metadata.num_rows > MAX_ROWS or size > MAX_BYTES:
                raise CorruptFileError(path, f"has {file.metadata.num_rows} rows of {size} bytes together")
            names = [name for name in EPISODE_SCHEMA.names if name in file.schema_arrow.names]
            rows: list[dict[str, Any]] = file.read(columns=names).to_pylist()
    except (OSError, pa.ArrowException, ValueError) as error:
        raise CorruptFileError(path, f"is no readable parquet file: {error}") from error
    if number is not None:
        rows = [row for row in rows if row.get("episode_index") == number.n]
    if len(rows) != 1:
        raise CorruptFileError(path, f"has {len(rows)} rows for the episode, not one")
    row = rows[0]
    values: dict[str, Any] = {name: _json(path, name, row.get(name)) for name in _JSON}
    index, length = row.get("episode_index"), row.get("length")
    if not isinstance(index, int) or not 1 <= index <= MAX_K or not isinstance(length, int) or length < 0:
        raise CorruptFileError(path, f"episode_index {index!r} or length {length!r} is no number that can be")
    return EpisodeRow(
        number=EpisodeNumber.from_n(index),
        length=length,
        created_at=_seconds(path, "created_at", row),
        duration_sec=_seconds(path, "duration_sec", row),
        **values,
    )


def _seconds(path: Path, name: str, row: dict[str, Any]) -> float:
    value = row.get(name) or 0.0
    if not isinstance(value, int | float):
        raise CorruptFileError(path, f"{name} is {value!r}, no number")
    return float(value)


def _json(path: Path, name: str, text: object) -> dict[str, Any]:
    if text is None or text == "":
        return {}
    try:
        found = json.loads(str(text))
    except (ValueError, RecursionError) as error:
        raise CorruptFileError(path, f"column {name} is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise CorruptFileError(path, f"column {name} is no JSON object")
    return found
