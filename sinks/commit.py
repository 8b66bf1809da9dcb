"""The commit of a take: everything is finished in staging, one manifest decides, renames follow."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from episodes.columns import columns_of, slam_spec
from episodes.drop_stats import tidy
from episodes.episode_row import EpisodeRow
from episodes.errors import ContractError, EpisodeError, TaskBusyError
from episodes.info import json_text, next_info, tasks_jsonl
from episodes.numbering import EpisodeNumber
from episodes.paths import TaskPaths
from episodes.staging import MANIFEST, ClockPair, Manifest, Move, read_manifest
from episodes.stats import merge_stats, read_stats
from sinks.data_parquet import write_data_parquet
from sinks.durable import DISK, Disk, crc32_of
from sinks.episode_table import EpisodeTable, count_repeats, episode_table
from sinks.heavy_chunks import HEAVY_FILE
from sinks.reservation import check_fps, current_info, release
from sinks.roll_forward import roll_forward
from sinks.task_lock import task_lock
from sinks.whole_rows import WholeRows, cut_videos, staged_videos, whole_rows

__all__ = ["Committed", "commit_locked", "commit_staging"]

LIGHT_FILE = "light.parquet"


@dataclass(frozen=True, slots=True, kw_only=True)
class Committed:
    """An episode that stands in the task.

    Attributes:
        number: of it. rows: its length. drop_stats: as in its episodes row.
        cut: slot to frames that were recorded beyond what is whole for all slots; empty for a whole take.
        cut_rows: rows that went with them. clock_residual_ns: slot to the largest distance of a device stamp from its
            fitted clock, ns; slots of device-clock links only.
        warnings: what an operator should read. data_path: its data parquet.
    """

    number: EpisodeNumber
    rows: int
    drop_stats: dict[str, int]
    cut: dict[str, int]
    cut_rows: int
    clock_residual_ns: dict[str, int]
    warnings: tuple[str, ...]
    data_path: Path


def commit_staging(paths: TaskPaths, staging: Path, *, recovered: bool = False, disk: Disk = DISK) -> Committed:
    """Commit what stands in a staging folder, live or after a crash: the only way into a task.

    The take is cut to the rows that are whole in the journal, the heavy columns and every video; what is cut counts.

    Args:
        recovered: its recorder is gone; counted in ``drop_stats``.

    Raises:
        EpisodeError: no row is whole. CorruptFileError: staging is damaged. TaskBusyError: the lock could not be had,
        or files of the number stand in the task. ContractError: fps or a depth slot's extension differ from the task's.
        The staging folder stays then, for ``recover``.
    """
    try:
        with task_lock(paths, disk=disk):
            return commit_locked(paths, staging, recovered=recovered, disk=disk)
    finally:
        release(staging)


def commit_locked(paths: TaskPaths, staging: Path, *, recovered: bool, disk: Disk) -> Committed:
    """`commit_staging`, by one who holds the task's lock."""
    manifest = read_manifest(staging)
    if manifest is None or manifest.state != "recording" or manifest.clock is None:
        raise EpisodeError(f"{staging} holds no recorded take")
    info = current_info(paths)
    check_fps(paths, info, manifest.declaration)
    _check_extensions(paths, info, manifest)
    _check_free(paths, manifest.number)
    whole = whole_rows(staging, manifest, verify=recovered)
    cut_videos(staging, manifest, whole, disk)
    table = episode_table(whole.journal, manifest.declaration, manifest.number, manifest.clock)
    warnings: list[str] = []
    cut = _cut(whole)
    if cut or whole.recorded > whole.rows:
        warnings.append(f"the take was cut to {whole.rows} rows, the whole ones: {whole.shortest} rows")
    drop_stats = _drop_stats(whole, table, cut, recovered=recovered)
    end = whole.heavy_end if table.heavy else None
    start = None if end is None else end[0]
    # Without a heavy column it is another file: after a crash the chunks that the index names must still be there.
    data = staging / (HEAVY_FILE if table.heavy else LIGHT_FILE)
    write_data_parquet(data, table.light, table.heavy, whole.groups, table.order, start=start)
    files = [
        (source, paths.video(manifest.number, slot, manifest.extensions[slot]))
        for slot, source in staged_videos(staging, manifest).items()
    ]
    files.append((data, paths.data(manifest.number)))
    files += _meta_files(paths, staging, manifest, info, table, whole.rows, drop_stats, warnings, disk)
    known = {} if end is None else {data: end}
    prepared = _prepare(paths, staging, manifest, files, known, disk)
    roll_forward(paths, staging, prepared, disk, verify=False)
    return Committed(
        number=manifest.number,
        rows=whole.rows,
        drop_stats=drop_stats,
        cut=cut,
        cut_rows=whole.recorded - whole.rows,
        clock_residual_ns=_residuals(table),
        warnings=tuple(warnings),
        data_path=paths.data(manifest.number),
    )


def _check_extensions(paths: TaskPaths, info: dict[str, Any] | None, manifest: Manifest) -> None:
    known = {} if info is None else info.get("video_extensions")
    for slot, extension in manifest.extensions.items():
        fixed = known.get(slot, extension) if isinstance(known, dict) else extension
        if fixed != extension:
            raise ContractError(
                f"{paths.info}: {slot} is stored as .{fixed} in this task, the take has .{extension}; "
                f"record into another task, or set the depth codec that the task has"
            )


def _check_free(paths: TaskPaths, number: EpisodeNumber) -> None:
    taken = [path for path in (paths.data(number), paths.episode_row(number)) if path.exists()]
    taken += paths.videos(number).values()
    if taken:
        raise TaskBusyError(f"{taken[0]} stands there already: episode {number.k} is taken; move that file away")


def _cut(whole: WholeRows) -> dict[str, int]:
    """Frames of each slot that were recorded, or known of, beyond the whole rows."""
    beyond = {slot: max(frames, whole.recorded) - whole.rows for slot, frames in whole.frames.items()}
    return {slot: count for slot, count in beyond.items() if count}


def _residuals(table: EpisodeTable) -> dict[str, int]:
    return {slot: times.residual_max_ns for slot, times in table.times.items() if times.residual_max_ns is not None}


def _drop_stats(whole: WholeRows, table: EpisodeTable, cut: dict[str, int], *, recovered: bool) -> dict[str, int]:
    """The counters as they were when the take ended, with what the rows themselves say."""
    stats = {key: value for key, value in whole.counters.items() if value >= 0}
    stats |= count_repeats(table.times)
    stats["tick_skip_count"] = sum(whole.journal.column("skipped").to_pylist())
    stats |= {f"{slot}_clock_residual_max_ns": residual for slot, residual in _residuals(table).items()}
    stats |= {f"cut:{slot}": count for slot, count in cut.items()}
    stats["cut_row_count"] = whole.recorded - whole.rows
    if recovered:
        stats["recovered_count"] = 1
    return tidy(stats)


def _meta_files(
    paths: TaskPaths,
    staging: Path,
    manifest: Manifest,
    info: dict[str, Any] | None,
    table: EpisodeTable,
    rows: int,
    drop_stats: dict[str, int],
    warnings: list[str],
    disk: Disk,
) -> list[tuple[Path, Path]]:
    """Write the episodes row and the task's next info, statistics and tasks file into staging."""
    declaration, number = manifest.declaration, manifest.number
    now = time.time()
    stats = read_stats(paths.stats)
    if stats is None:
        warnings.append(f"{paths.stats} was damaged: statistics start afresh with this episode")
        stats = {}
    colour = {video.slot: manifest.sizes[video.slot] for video in declaration.videos if video.kind == "rgb"}
    next_one = next_info(
        info,
        declaration,
        number=number,
        columns_written=table.order,
        cameras=colour,
        video_extensions=manifest.extensions,
        now=now,
    )
    assert manifest.clock is not None
    row = _episode_row(manifest, manifest.clock, table, rows, drop_stats, now)
    contents: list[tuple[str, bytes, Path]] = [("episode.parquet", row.to_parquet(), paths.episode_row(number))]
    if not paths.tasks.exists():
        contents.append(("tasks.jsonl", tasks_jsonl(declaration.task_name).encode(), paths.tasks))
    contents.append(("info.json", json_text(next_one).encode(), paths.info))
    contents.append(("stats.json", json_text(merge_stats(stats, table.stats)).encode(), paths.stats))
    files: list[tuple[Path, Path]] = []
    for name, content, target in contents:
        disk.write(staging / name, content)
        files.append((staging / name, target))
    return files


def _episode_row(
    manifest: Manifest, clock: ClockPair, table: EpisodeTable, rows: int, drop_stats: dict[str, int], now: float
) -> EpisodeRow:
    declaration = manifest.declaration
    columns = columns_of(declaration.streams, master=declaration.master)
    return EpisodeRow(
        number=manifest.number,
        length=rows,
        created_at=now,
        duration_sec=rows / declaration.fps,
        drop_stats=drop_stats,
        video_codec=manifest.video_codec,
        calibration=declaration.calibration,
        force_matrix_specs={c.name: c.feature for c in columns if c.heavy and c.name in table.heavy},
        slam_specs={s.column: slam_spec(s) for s in declaration.trajectories if s.column in table.order},
        clock={"mono_ns": clock.mono_ns, "wall_s": clock.wall_s},
    )


def _prepare(
    paths: TaskPaths,
    staging: Path,
    manifest: Manifest,
    files: list[tuple[Path, Path]],
    known: dict[Path, tuple[int, int]],
    disk: Disk,
) -> Manifest:
    """Make all of it durable, and then the decision: the commit point.

    Args:
        known: file to a place in it and the CRC-32 up to there.
    """
    moves: list[Move] = []
    for source, target in files:
        disk.sync(source)
        moves.append(
            Move(
                source=source.relative_to(staging).as_posix(),
                target=target.relative_to(paths.task_dir).as_posix(),
                size=source.stat().st_size,
                crc32=crc32_of(source, known.get(source, (0, 0))),
                replaces=crc32_of(target) if target.exists() else None,
            )
        )
    for folder in dict.fromkeys([*(source.parent for source, _target in files), staging]):
        disk.sync(folder)
    prepared = msgspec.structs.replace(manifest, state="prepared", moves=tuple(moves))
    disk.replace(staging / MANIFEST, prepared.to_json())
    return prepared
