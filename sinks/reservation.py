"""Reserving a take's number, and giving it back."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from episodes.declaration import Declaration
from episodes.errors import ContractError, TaskBusyError
from episodes.info import read_info
from episodes.paths import TaskPaths, next_number
from episodes.recycled import recycled_json
from episodes.staging import MANIFEST, Manifest, boot_id, find_stagings, process_start, read_manifest, recorder_lives
from sinks.durable import DISK, Disk
from sinks.roll_forward import remove_staging
from sinks.task_lock import task_lock

__all__ = ["abort_take", "check_fps", "current_info", "is_recorded", "release", "reserve"]

_held: set[Path] = set()
_held_lock = threading.Lock()


def reserve(paths: TaskPaths, declaration: Declaration, *, disk: Disk = DISK) -> Path:
    """Reserve the next number: make its staging folder, exclusively, with a manifest that says who records.

    Raises:
        TaskBusyError: another recorder works on the task, or the number is already taken.
        ContractError: fps differs from what the task's first episode fixed, or the declaration could not be written.
    """
    declaration.check()
    with task_lock(paths, disk=disk):
        info = current_info(paths)
        check_fps(paths, info, declaration)
        for number, folder, manifest in find_stagings(paths):
            if manifest is not None and manifest.state == "recording" and is_recorded(folder, manifest):
                raise TaskBusyError(
                    f"{paths.task_dir}: process {manifest.pid} records episode {number.k} of this task; "
                    f"wait for it, or record into another task"
                )
        number = next_number(paths, info)
        folder = paths.staging(number)
        manifest = Manifest(
            state="recording",
            k=number.k,
            declaration=declaration,
            boot_id=boot_id(),
            pid=os.getpid(),
            pid_start=process_start(),
        )
        try:
            disk.make_folder(folder)
        except FileExistsError as error:
            raise TaskBusyError(f"{folder}: the number {number.k} is already taken; run `rigflow recover`") from error
        with _held_lock:
            _held.add(folder.resolve())
        try:
            disk.replace(folder / MANIFEST, manifest.to_json())
            disk.sync(paths.task_dir)
        except BaseException:
            release(folder)
            raise
        return folder


def current_info(paths: TaskPaths) -> dict[str, Any] | None:
    """The task's info.json as it stands; None where the task has none yet."""
    return read_info(paths.info) if paths.info.exists() else None


def check_fps(paths: TaskPaths, info: Mapping[str, Any] | None, declaration: Declaration) -> None:
    """Refuse another fps than the task's.

    Raises:
        ContractError: it differs.
    """
    fps = declaration.fps if info is None else info.get("fps", declaration.fps)
    if fps != declaration.fps:
        raise ContractError(
            f"{paths.task_dir}: its episodes have {fps} rows a second, the rig {declaration.rig!r} gives "
            f"{declaration.fps}; set the rig's fps to {fps}, or record into another task"
        )


def is_recorded(folder: Path, manifest: Manifest) -> bool:
    """Whether somebody records into the folder now; for this process, whether it still holds it."""
    if not recorder_lives(manifest):
        return False
    if manifest.pid != os.getpid():
        return True
    with _held_lock:
        return folder.resolve() in _held


def release(folder: Path) -> None:
    """This process records into the folder no more; what is in it can be recovered."""
    with _held_lock:
        _held.discard(folder.resolve())


def abort_take(paths: TaskPaths, folder: Path, *, disk: Disk = DISK) -> None:
    """Throw a take away: its number is free again.

    Raises:
        TaskBusyError: the task's lock could not be had.
    """
    release(folder)
    with task_lock(paths, disk=disk):
        manifest = read_manifest(folder)
        if manifest is None or manifest.state != "recording":
            return
        disk.replace(folder / MANIFEST, msgspec.structs.replace(manifest, state="aborted").to_json())
        # The marker comes before the removal: a crash between the two leaves a number that is free, and says so.
        disk.replace(paths.recycled, recycled_json(manifest.number, time.time()).encode())
        remove_staging(folder, disk)
        disk.sync(paths.task_dir)
