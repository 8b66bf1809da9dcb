"""Deleting an episode: its files go, its number is never used again."""

from __future__ import annotations

import io
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq

from episodes.errors import EpisodeError, TaskBusyError
from episodes.info import json_text, read_info
from episodes.legacy import Shards
from episodes.numbering import EpisodeNumber
from episodes.paths import TaskPaths
from sinks.durable import DISK, Disk
from sinks.task_lock import task_lock

__all__ = ["delete_episode"]


def delete_episode(task_dir: Path, k: int, *, disk: Disk = DISK) -> None:
    """Delete episode ``k`` of a task: episodes row, data parquet, videos of every slot, then folders that are empty.

    stats.json stays, and so does info.json, but that its ``total_episodes`` covers the number: it is never used again.
    After a crash it can be run again.

    Raises:
        EpisodeError: there is no such episode. TaskBusyError: it is being recorded. UnknownFormatError,
        CorruptFileError: no task.
    """
    number = EpisodeNumber(k)
    paths = TaskPaths.of(task_dir, read_info(TaskPaths(task_dir).info))
    with task_lock(paths, disk=disk):
        if number in {staged for staged, _folder in paths.stagings()}:
            raise TaskBusyError(f"{paths.staging(number)}: episode {k} is not committed; recover the task first")
        shards = Shards(paths)
        # The row first: without it no reader takes what is left for an episode.
        files = [path for path in (paths.episode_row(number), paths.data(number)) if path.is_file()]
        files += [*paths.video_files(number), *shards.videos(number).values()]
        shared = [path for path in (shards.rows.get(number), shards.data.get(number)) if path is not None]
        if not files and not shared:
            raise EpisodeError(f"{task_dir}: there is no episode {k}; nothing was deleted")
        _keep_number(paths, disk)
        for path in shared:
            _take_out(path, number, disk)
        for path in files:
            disk.remove(path)
        folders = dict.fromkeys(path.parent for path in [*files, *shared])
        for folder in folders:
            disk.sync(folder)
        for folder in folders:
            _remove_empty(folder, paths.task_dir, disk)


def _keep_number(paths: TaskPaths, disk: Disk) -> None:
    """Let ``total_episodes`` cover every number on disk, before one of them goes."""
    info = read_info(paths.info)
    highest = max((taken.n for taken in paths.taken_numbers()), default=0)
    if int(info.get("total_episodes", 0)) < highest:
        info["total_episodes"] = highest
        disk.replace(paths.info, json_text(info).encode())


def _take_out(shard: Path, number: EpisodeNumber, disk: Disk) -> None:
    """Take an episode's rows out of a file that it shares with others."""
    table = pq.read_table(shard)
    left = table.filter(pc.not_equal(table.column("episode_index"), number.n))
    if left.num_rows == 0:
        disk.remove(shard)
        return
    sink = io.BytesIO()
    pq.write_table(left, sink, compression="zstd")
    disk.replace(shard, sink.getvalue())


def _remove_empty(folder: Path, task_dir: Path, disk: Disk) -> None:
    while folder != task_dir and disk.remove_folder(folder):
        folder = folder.parent
