"""What follows the commit point: the renames of a prepared take, and the removal of staging folders."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

import msgspec
import structlog

from episodes.errors import CorruptFileError
from episodes.numbering import EpisodeNumber
from episodes.paths import TaskPaths
from episodes.staging import MANIFEST, Manifest, Move, find_stagings
from sinks.durable import Disk, crc32_of

__all__ = ["Settled", "is_void", "remove_staging", "roll_forward", "settle"]

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Settled:
    """A staging folder that was decided: its number, what became of it, more in words."""

    number: EpisodeNumber
    action: Literal["rolled forward", "removed", "kept"]
    message: str = ""


def settle(paths: TaskPaths, disk: Disk) -> list[Settled]:
    """Carry out what is decided: roll prepared takes forward, remove finished, aborted and empty staging folders.

    Under the task's lock. A folder that cannot be settled is kept: its number stays taken, nothing else waits.
    """
    found: list[Settled] = []
    for number, folder, manifest in find_stagings(paths):
        try:
            if manifest is None and not is_void(folder):
                raise CorruptFileError(folder / MANIFEST, "cannot be read, so nothing is done with its folder")
            if manifest is not None and manifest.k != number.k:
                raise CorruptFileError(folder / MANIFEST, f"is of take {manifest.k}, not {number.k}")
            if manifest is not None and manifest.state == "prepared":
                roll_forward(paths, folder, manifest, disk, verify=True)
                found.append(Settled(number, "rolled forward"))
            elif manifest is None or manifest.state in ("done", "aborted"):
                remove_staging(folder, disk)
                disk.sync(paths.task_dir)
                reason = "nothing was recorded" if manifest is None else f"it was {manifest.state}"
                found.append(Settled(number, "removed", reason))
        except (CorruptFileError, OSError) as error:
            _log.warning("staging kept", folder=str(folder), problem=str(error))
            found.append(Settled(number, "kept", str(error)))
    return found


def is_void(folder: Path) -> bool:
    """Whether a staging folder never had a manifest, so that nothing was recorded into it."""
    return not (folder / MANIFEST).exists() and not (folder / MANIFEST).is_symlink()


def roll_forward(paths: TaskPaths, folder: Path, manifest: Manifest, disk: Disk, *, verify: bool) -> None:
    """Rename a prepared take's files into place, and remove its staging; can be done again after a crash at any step.

    Args:
        verify: read every file first, to know that it is the one that was prepared.

    Raises:
        CorruptFileError: a file is neither in staging nor in place as the manifest has it; nothing was renamed then.
    """
    steps: list[tuple[Path, Path]] = []
    targets: list[Path] = []
    for move in manifest.moves:
        source, target = _inside(folder, move.source), _inside(paths.task_dir, move.target)
        targets.append(target)
        if _is_to_do(paths, move, source, target, verify=verify):
            steps.append((source, target))
    for source, target in steps:
        disk.make_folders(target.parent)
        disk.rename(source, target)
    for parent in dict.fromkeys(target.parent for target in targets):
        disk.sync(parent)
    disk.replace(folder / MANIFEST, msgspec.structs.replace(manifest, state="done").to_json())
    if paths.recycled.exists():
        disk.remove(paths.recycled)
    remove_staging(folder, disk)
    disk.sync(paths.task_dir)


def remove_staging(folder: Path, disk: Disk) -> None:
    """Remove a staging folder, its manifest last."""
    with os.scandir(folder) as entries:
        found = sorted((entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries)
    for name, is_folder in found:
        if is_folder:
            disk.remove_tree(folder / name)
        elif name != MANIFEST:
            disk.remove(folder / name)
    disk.remove(folder / MANIFEST)
    disk.remove_folder(folder)


def _is_to_do(paths: TaskPaths, move: Move, source: Path, target: Path, *, verify: bool) -> bool:
    """Whether the rename still has to be done."""
    if not source.is_file():
        # A file of the task, not of the episode, may have been changed since; a rename leaves it nowhere else.
        shared = target in (paths.info, paths.stats, paths.tasks)
        if not (target.is_file() if shared else _is(move, target)):
            raise CorruptFileError(source, f"was prepared for {move.target}, and is in neither place; restore it")
        return False
    if not verify:
        return True
    if not _is(move, source):
        raise CorruptFileError(source, "is not the file that was prepared; the disk has damaged it")
    if not target.exists():
        return True
    before = move.replaces is not None and crc32_of(target) == move.replaces
    # The file system may have kept both names of one file.
    if not before and not _is(move, target):
        raise CorruptFileError(target, f"was changed after the take was prepared; move it away for {source} to come")
    return True


def _is(move: Move, path: Path) -> bool:
    return path.is_file() and path.stat().st_size == move.size and crc32_of(path) == move.crc32


def _inside(folder: Path, relative: str) -> Path:
    """A manifest's path, below its folder.

    Raises:
        CorruptFileError: it leads out of the folder.
    """
    path = PurePosixPath(relative)
    found = folder / path
    if not relative or "\0" in relative or path.is_absolute() or ".." in path.parts:
        raise CorruptFileError(folder, f"its manifest names {relative!r}, which leaves the folder")
    if not found.parent.resolve().is_relative_to(folder.resolve()) or found.is_symlink():
        raise CorruptFileError(folder, f"its manifest names {relative!r}, which a link leads out of the folder")
    return found
