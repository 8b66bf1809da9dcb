"""The commit: a staging folder becomes an episode, wholly or not at all.

One path for a take that was just stopped and for one that a crash left behind: both are read back from the disk.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec
import structlog

from episodes.columns import slam_spec
from episodes.drop_stats import tidy
from episodes.episode_row import EpisodeRow
from episodes.errors import CorruptFileError, EpisodeError, TaskBusyError
from episodes.info import json_text, next_info, read_info, tasks_jsonl
from episodes.numbering import EpisodeNumber
from episodes.paths import TaskPaths
from episodes.staging import MANIFEST, Manifest, Move
from episodes.stats import merge_stats, read_stats
from episodes.streams import MatrixStream
from sinks.data_parquet import write_data_parquet
from sinks.durable import Disk, crc32_of
from sinks.episode_table import EpisodeTable, build_table
from sinks.heavy_chunks import HEAVY_FILE, RowGroup, read_row_groups
from sinks.journal import read_journal
from sinks.video_trim import readable_frames, trim_video

__all__ = ["Committed", "NothingRecordedError", "commit_staging", "read_task_info", "roll_forward"]

LIGHT_FILE = "light.parquet"

log = structlog.get_logger(__name__)


class NothingRecordedError(EpisodeError):
    """A take without a whole row: there is nothing to commit."""


@dataclass(frozen=True, slots=True)
class Committed:
    """What became of a take.

    Attributes:
        number: of the episode. rows: in it. cut: rows that were recorded but not whole in every file, and left out.
        drop_stats: as on disk.
    """

    number: EpisodeNumber
    rows: int
    cut: int
    drop_stats: dict[str, int]


def read_task_info(task_dir: Path) -> dict[str, object] | None:
    """A task's info.json; None for a task that has none yet.

    Raises:
        CorruptFileError, UnknownFormatError: there is one, but it cannot be used.
    """
    path = task_dir / "meta" / "info.json"
    return read_info(path) if path.exists() else None


def commit_staging(
    paths: TaskPaths,
    staging: Path,
    manifest: Manifest,
    *,
    frames: Mapping[str, int] | None = None,
    drop_stats: Mapping[str, int] | None = None,
    disk: Disk | None = None,
) -> Committed:
    """Make an episode of a staging folder; the caller holds the task's lock.

    Args:
        frames: frames of each video that was closed; None: count them in the files, which a killed recorder left.
        drop_stats: the final counters; None: the journal's last ones.

    Raises:
        NothingRecordedError: no row is whole. EpisodeError: the number is taken meanwhile, or info.json is unusable;
        the staging folder stays as it was.
    """
    disk = disk or Disk()
    number = manifest.number
    if paths.data(number).exists() or paths.episode_row(number).exists() or paths.videos(number):
        raise TaskBusyError(f"{paths.task_dir}: episode {number.k} is there already; the take stays in {staging.name}")
    info = read_task_info(paths.task_dir)
    journal, counters = read_journal(staging)
    videos = {slot: staging / "videos" / f"{slot}.{ext}" for slot, ext in manifest.extensions.items()}
    groups = read_row_groups(staging)
    has_heavy = any(isinstance(stream, MatrixStream) for stream in manifest.declaration.streams)
    counts = dict(frames) if frames is not None else {slot: readable_frames(path) for slot, path in videos.items()}
    recorded = 0 if journal is None else journal.num_rows
    whole = [recorded, *(counts.get(slot, 0) for slot in videos)]
    if has_heavy:
        whole.append(sum(group.rows for group in groups))
    rows = min(whole)
    if journal is None or rows == 0:
        raise NothingRecordedError(f"{staging}: no row is whole in every file; there is nothing to save")
    for slot, path in videos.items():
        # A killed recorder's file is still in fragments, also where its count is right.
        if frames is None or counts[slot] != rows:
            _cut_video(path, rows, manifest.declaration.fps, disk)
    lost = {**counters, **(drop_stats or {})}
    if frames is None:
        lost["recovered_count"] = 1
    table = build_table(journal.slice(0, rows), manifest.declaration, number, manifest.clock)
    lost |= table.drop_stats
    lost = tidy(lost)
    now = time.time()
    _write_data(staging, table, _first_rows(groups, rows))
    _write_meta(paths, staging, manifest, table, rows, lost, info, now, disk)
    moves = _moves(paths, staging, manifest, HEAVY_FILE if table.heavy else LIGHT_FILE)
    for move in moves:
        disk.sync(staging / move.source)
    if videos:
        disk.sync(staging / "videos")
    disk.sync(staging)
    prepared = msgspec.structs.replace(manifest, state="prepared", moves=tuple(moves))
    # The commit point: from here on a crash rolls forward.
    disk.replace(staging / MANIFEST, prepared.to_json())
    roll_forward(paths, staging, prepared, disk=disk)
    log.info("episode committed", task=paths.task_dir.name, episode=number.k, rows=rows, cut=max(whole) - rows)
    return Committed(number, rows, max(whole) - rows, lost)


def roll_forward(paths: TaskPaths, staging: Path, manifest: Manifest, *, disk: Disk | None = None) -> None:
    """Put a prepared take's files in their places and remove its staging; repeats harmlessly after a crash.

    Raises:
        CorruptFileError: a file is neither in staging nor in its place as it was prepared.
    """
    disk = disk or Disk()
    folders: list[Path] = []
    for move in manifest.moves:
        source, target = staging / move.source, paths.task_dir / move.target
        disk.make_folders(target.parent)
        if source.exists():
            disk.rename(source, target)
        elif not _as_prepared(target, move):
            raise CorruptFileError(target, f"is not the file that {staging.name} prepared; restore it from a copy")
        if target.parent not in folders:
            folders.append(target.parent)
    for folder in folders:
        disk.sync(folder)
    disk.replace(staging / MANIFEST, msgspec.structs.replace(manifest, state="done").to_json())
    if paths.recycled.exists():
        disk.remove(paths.recycled)
        disk.sync(paths.recycled.parent)
    remove_staging(staging, disk)


def remove_staging(staging: Path, disk: Disk) -> None:
    """Remove a staging folder, its manifest last: until then it tells what the rest is."""
    for entry in sorted(staging.iterdir()):
        if entry.name == MANIFEST:
            continue
        if entry.is_dir() and not entry.is_symlink():
            disk.remove_tree(entry)
        else:
            disk.remove(entry)
    disk.sync(staging)
    disk.remove(staging / MANIFEST)
    disk.remove_tree(staging)
    disk.sync(staging.parent)


def _as_prepared(target: Path, move: Move) -> bool:
    # info.json and stats.json of a task go on changing after the episode; they are only replaced, never checked.
    if move.target.startswith("meta/") and not move.target.startswith("meta/episodes/"):
        return target.exists()
    return target.is_file() and target.stat().st_size == move.size and crc32_of(target) == move.crc32


def _cut_video(path: Path, rows: int, fps: float, disk: Disk) -> None:
    trimmed = path.with_name(f"trimmed-{path.name}")
    trim_video(path, trimmed, rows, fps)
    disk.rename(trimmed, path)


def _first_rows(groups: list[RowGroup], rows: int) -> list[RowGroup]:
    kept: list[RowGroup] = []
    for group in groups:
        if rows == 0:
            break
        taken = min(rows, group.rows)
        kept.append(group if taken == group.rows else group.cut(taken))
        rows -= taken
    return kept


def _write_data(staging: Path, table: EpisodeTable, groups: list[RowGroup]) -> None:
    # Without a heavy column it is another file: a crash now must still find the chunks that its index names.
    path = staging / (HEAVY_FILE if table.heavy else LIGHT_FILE)
    write_data_parquet(path, table.light, table.heavy, groups if table.heavy else [], table.order)


def _write_meta(
    paths: TaskPaths,
    staging: Path,
    manifest: Manifest,
    table: EpisodeTable,
    rows: int,
    drop_stats: dict[str, int],
    info: dict[str, object] | None,
    now: float,
    disk: Disk,
) -> None:
    declaration = manifest.declaration
    written = set(table.order)
    depth = {video.slot for video in declaration.videos if video.kind == "depth"}
    following = next_info(
        info,
        declaration,
        number=manifest.number,
        columns_written=written,
        cameras={slot: size for slot, size in manifest.sizes.items() if slot not in depth},
        video_extensions=manifest.extensions,
        now=now,
    )
    features = following["features"]
    row = EpisodeRow(
        number=manifest.number,
        length=rows,
        created_at=now,
        duration_sec=rows / declaration.fps,
        drop_stats=drop_stats,
        video_codec=dict(manifest.video_codec),
        calibration=declaration.calibration,
        force_matrix_specs={name: features[name] for name in table.order if name in table.heavy},
        slam_specs={s.column: slam_spec(s) for s in declaration.trajectories if s.column in written},
        clock={"mono_ns": manifest.clock.mono_ns, "wall_s": manifest.clock.wall_s},
    )
    stats = read_stats(paths.stats)
    if stats is None:
        log.warning("stats.json is damaged and starts anew", task=paths.task_dir.name, file=str(paths.stats))
    disk.write(staging / "row.parquet", row.to_parquet())
    disk.write(staging / "info.json", json_text(following).encode())
    disk.write(staging / "stats.json", json_text(merge_stats(stats or {}, table.stats)).encode())
    if not paths.tasks.exists():
        disk.write(staging / "tasks.jsonl", tasks_jsonl(declaration.task_name).encode())


def _moves(paths: TaskPaths, staging: Path, manifest: Manifest, data: str) -> list[Move]:
    number = manifest.number
    planned = [
        (f"videos/{slot}.{ext}", paths.video(number, slot, ext)) for slot, ext in sorted(manifest.extensions.items())
    ]
    planned += [(data, paths.data(number)), ("row.parquet", paths.episode_row(number))]
    planned += [("info.json", paths.info), ("stats.json", paths.stats)]
    if (staging / "tasks.jsonl").exists():
        planned.append(("tasks.jsonl", paths.tasks))
    return [
        Move(
            source,
            target.relative_to(paths.task_dir).as_posix(),
            (staging / source).stat().st_size,
            crc32_of(staging / source),
        )
        for source, target in planned
    ]
