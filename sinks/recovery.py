"""Recovery: whatever a crash left in a task becomes an episode, or goes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import structlog

from episodes.errors import EpisodeError
from episodes.numbering import EpisodeNumber
from episodes.paths import TaskPaths
from episodes.staging import read_manifest, recorder_lives
from sinks.commit import NothingRecordedError, commit_staging, read_task_info, remove_staging, roll_forward
from sinks.durable import Disk
from sinks.task_lock import task_lock

__all__ = ["Recovered", "recover_locked", "recover_task"]

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Recovered:
    """What became of one staging folder.

    Attributes:
        action: ``committed`` (it was prepared, and is an episode now), ``rebuilt`` (its recorder was killed),
            ``removed`` (nothing was in it, or it was thrown away), ``busy`` (its recorder lives), ``failed``.
        rows: of the episode. problem: why it failed.
    """

    number: EpisodeNumber
    action: Literal["committed", "rebuilt", "removed", "busy", "failed"]
    rows: int = 0
    problem: str = ""


def recover_task(task_dir: Path, *, disk: Disk | None = None) -> list[Recovered]:
    """Recover a task; harmless on one that is whole.

    Raises:
        TaskBusyError: another process holds its lock. CorruptFileError, UnknownFormatError: info.json is unusable.
    """
    paths = TaskPaths.of(task_dir, read_task_info(task_dir))
    if not paths.stagings():
        return []
    with task_lock(paths):
        return recover_locked(paths, disk=disk)


def recover_locked(paths: TaskPaths, *, disk: Disk | None = None) -> list[Recovered]:
    """As `recover_task`, for a caller that holds the lock; a folder that cannot be recovered stays, and is told."""
    disk = disk or Disk()
    return [_recover(paths, number, staging, disk) for number, staging in paths.stagings()]


def _recover(paths: TaskPaths, number: EpisodeNumber, staging: Path, disk: Disk) -> Recovered:
    manifest = read_manifest(staging)
    if manifest is None or manifest.state in ("aborted", "done") or manifest.k != number.k:
        remove_staging(staging, disk)
        return Recovered(number, "removed")
    try:
        if manifest.state == "prepared":
            roll_forward(paths, staging, manifest, disk=disk)
            return Recovered(number, "committed")
        if recorder_lives(manifest):
            return Recovered(number, "busy")
        committed = commit_staging(paths, staging, manifest, disk=disk)
    except NothingRecordedError:
        remove_staging(staging, disk)
        return Recovered(number, "removed")
    except EpisodeError as error:
        log.error("staging cannot be recovered", task=paths.task_dir.name, episode=number.k, problem=str(error))
        return Recovered(number, "failed", problem=str(error))
    log.warning("take recovered", task=paths.task_dir.name, episode=number.k, rows=committed.rows)
    return Recovered(number, "rebuilt", committed.rows)
