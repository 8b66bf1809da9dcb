"""Deleting an episode: its files go, its number is never used again."""

from __future__ import annotations

from pathlib import Path

from sinks.durable import DISK, Disk

__all__ = ["delete_episode"]


def delete_episode(task_dir: Path, k: int, *, disk: Disk = DISK) -> None:
    """Delete episode ``k`` of a task: videos of every slot, data parquet, episodes row, then folders that are empty.

    info.json and stats.json stay: the number counts as taken, what was counted stays counted. Can be run again after a crash.

    Raises:
        EpisodeError: there is no such episode, or it is being recorded. UnknownFormatError, CorruptFileError: no task.
    """
    raise NotImplementedError
