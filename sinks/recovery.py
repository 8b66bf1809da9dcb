"""Recovery: what recorders left behind becomes an episode, or goes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec
import pyarrow as pa

from episodes.errors import EpisodeError
from episodes.paths import TaskPaths
from episodes.staging import MANIFEST, Manifest, find_stagings
from sinks.commit import commit_locked
from sinks.durable import DISK, Disk
from sinks.reservation import current_info, is_recorded
from sinks.roll_forward import remove_staging
from sinks.task_lock import task_lock
from sinks.whole_rows import NothingWholeError

__all__ = ["Recovered", "recover_task"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovered:
    """What became of one staging folder.

    Attributes:
        k: its number.
        action: ``rolled forward``: its commit was decided, and is carried out; ``rebuilt``: an episode was made of what
            was recorded; ``removed``: aborted, finished or empty; ``kept``: it is recorded now, or cannot be read.
        rows: of the episode that was rebuilt, else 0. message: more, for an operator.
    """

    k: int
    action: Literal["rolled forward", "rebuilt", "removed", "kept"]
    rows: int = 0
    message: str = ""

    def __str__(self) -> str:
        rows = f", {self.rows} rows" if self.rows else ""
        return f"episode {self.k}: {self.action}{rows}{'; ' if self.message else ''}{self.message}"


def recover_task(task_dir: Path, *, disk: Disk = DISK) -> list[Recovered]:
    """Recover a task: roll prepared takes forward, rebuild recorded ones, remove what is void.

    A take whose recorder still lives is left alone, and so is what cannot be read: the message says why. Idempotent;
    can be killed at any moment and run again.

    Raises:
        EpisodeError: the task cannot be read, or its lock not be had.
    """
    if not TaskPaths(task_dir).stagings():
        return []
    paths = TaskPaths.of(task_dir, current_info(TaskPaths(task_dir)))
    with task_lock(paths, disk=disk) as settled:
        found = [Recovered(k=one.number.k, action=one.action, message=one.message) for one in settled]
        done = {one.k for one in found}
        for number, folder, manifest in find_stagings(paths):
            if manifest is not None and number.k not in done and manifest.state == "recording":
                found.append(_recover(paths, folder, manifest, disk))
    return sorted(found, key=lambda one: one.k)


def _recover(paths: TaskPaths, folder: Path, manifest: Manifest, disk: Disk) -> Recovered:
    k = manifest.k
    if is_recorded(folder, manifest):
        return Recovered(k=k, action="kept", message=f"process {manifest.pid} is recording it")
    try:
        if manifest.clock is None:
            raise NothingWholeError("its recorder ended before the first row")
        committed = commit_locked(paths, folder, recovered=True, disk=disk)
    except NothingWholeError as error:
        disk.replace(folder / MANIFEST, msgspec.structs.replace(manifest, state="aborted").to_json())
        remove_staging(folder, disk)
        disk.sync(paths.task_dir)
        return Recovered(k=k, action="removed", message=str(error))
    except (EpisodeError, OSError, ValueError, pa.ArrowException) as error:
        return Recovered(k=k, action="kept", message=str(error))
    return Recovered(k=k, action="rebuilt", rows=committed.rows, message="; ".join(committed.warnings))
