"""Deleting an episode: its number is never used again."""

from __future__ import annotations

from pathlib import Path

import structlog

from episodes.errors import EpisodeError
from episodes.info import read_info
from episodes.numbering import EpisodeNumber
from episodes.paths import TaskPaths
from sinks.durable import Disk
from sinks.recovery import recover_locked
from sinks.task_lock import task_lock

__all__ = ["delete_episode"]

log = structlog.get_logger(__name__)


def delete_episode(task_dir: Path, k: int, *, disk: Disk | None = None) -> list[Path]:
    """Remove every file of episode ``k``; statistics stay as they are. Gives the removed paths.

    The data file goes last: after a crash in between the number still counts as taken, and deleting again finishes.

    Raises:
        EpisodeError: there is no such episode. TaskBusyError: another process writes to the task.
    """
    disk = disk or Disk()
    paths = TaskPaths.of(task_dir, read_info(task_dir / "meta" / "info.json"))
    number = EpisodeNumber(k)
    with task_lock(paths):
        recover_locked(paths, disk=disk)
        files = [*paths.videos(number).values(), paths.episode_row(number), paths.data(number)]
        found = [path for path in files if path.is_file()]
        if not found:
            raise EpisodeError(f"{task_dir}: has no episode {k}")
        for path in found:
            disk.remove(path)
            disk.sync(path.parent)
    log.info("episode deleted", task=task_dir.name, episode=k)
    return found
