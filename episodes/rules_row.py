"""Rules of the episodes row against the data."""

from __future__ import annotations

import math

import pyarrow as pa
import pyarrow.parquet as pq

from episodes.episode_row import EPISODE_SCHEMA
from episodes.views import EpisodeView

__all__ = ["check_row"]


def check_row(view: EpisodeView) -> None:
    """Number, length, duration, drop_stats, clock."""
    row, where = view.row, view.episode.row_path
    if row is None:
        return
    _check_stored(view)
    if view.data is not None and row.length != view.data.length:
        view.add("row.length", where, f"length is {row.length}, the data file has {view.data.length} rows", view.milder)
    if view.fps is not None and not abs(row.duration_sec - row.length / view.fps) <= 1e-6 * max(1.0, row.duration_sec):
        view.add(
            "row.duration", where, f"duration_sec is {row.duration_sec}, not {row.length} / {view.fps}", view.milder
        )
    _check_drops(view)
    if row.clock:
        mono, wall = row.clock.get("mono_ns"), row.clock.get("wall_s")
        mono_fits = isinstance(mono, int) and not isinstance(mono, bool) and 0 < mono < 2**62
        wall_fits = isinstance(wall, (int, float)) and not isinstance(wall, bool) and math.isfinite(wall)
        if not mono_fits or not wall_fits:
            view.add("row.clock", where, f"clock is {str(row.clock)[:120]}")


def _check_stored(view: EpisodeView) -> None:
    """What `EpisodeRow` does not keep: the first and last frame, and which columns there are."""
    where = view.episode.row_path
    try:
        with pq.ParquetFile(where) as file:
            names = set(file.schema_arrow.names)
            wanted = [name for name in ("episode_index", "start_frame_index", "end_frame_index") if name in names]
            rows = file.read(columns=wanted).to_pylist()
    except (OSError, pa.ArrowException, ValueError) as error:
        view.add("row.corrupt", where, str(error))
        return
    missing = [name for name in EPISODE_SCHEMA.names if name not in names]
    if missing:
        view.add("old.row", where, f"has no {', '.join(missing)}")
    rows = [row for row in rows if row.get("episode_index") == view.number.n]
    if len(rows) != 1 or view.row is None:
        return
    first, last = rows[0].get("start_frame_index"), rows[0].get("end_frame_index")
    if (first, last) != (0, max(view.row.length - 1, 0)):
        view.add("row.length", where, f"frames {first} to {last} are not 0 to length - 1", view.milder)


def _check_drops(view: EpisodeView) -> None:
    row, where = view.row, view.episode.row_path
    if row is None:
        return
    for key, value in row.drop_stats.items():
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            view.add("row.drop-stats", where, f"{key} is {str(value)[:60]}, no whole number of 0 and more")
        elif key.endswith("_repeat_count") and value > row.length:
            view.add("row.drop-stats", where, f"{key} is {value}, there are but {row.length} rows")
    if "imu_overflow" not in row.drop_stats:
        view.add("row.drop-stats", where, "has no imu_overflow", view.milder)
