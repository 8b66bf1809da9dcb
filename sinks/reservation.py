"""A take's number and its staging folder: taken before anything is written, given back when the take is thrown away."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import structlog

from episodes.declaration import Declaration
from episodes.errors import ContractError, TaskBusyError
from episodes.naming import task_dir_name
from episodes.numbering import EpisodeNumber
from episodes.paths import TaskPaths, next_number
from episodes.recycled import recycled_json
from episodes.staging import MANIFEST, Clock, Manifest, boot_id, process_start, read_manifest, recorder_lives
from sinks.commit import read_task_info, remove_staging
from sinks.durable import Disk
from sinks.recovery import recover_locked
from sinks.task_lock import task_lock

__all__ = ["Reservation", "abort_take", "reserve", "task_paths"]

log = structlog.get_logger(__name__)


class Reservation(msgspec.Struct, frozen=True):
    """A number that is ours, and the folder in which its take is recorded."""

    paths: TaskPaths
    staging: Path
    manifest: Manifest

    @property
    def number(self) -> EpisodeNumber:
        """The take's number."""
        return self.manifest.number


def task_paths(root: Path, task_name: str) -> TaskPaths:
    """The paths of a task below the recordings root.

    Raises:
        ContractError: the name cannot be a directory's, or belongs to another task. CorruptFileError,
        UnknownFormatError: the task's info.json cannot be used.
    """
    task_dir = root / task_dir_name(task_name)
    info = read_task_info(task_dir)
    if info is not None and info.get("task_name") != task_name:
        raise ContractError(
            f"{task_dir}: holds the task {info.get('task_name')!r}, not {task_name!r}; choose another name"
        )
    return TaskPaths.of(task_dir, info)


def check_fits(paths: TaskPaths, info: Mapping[str, Any] | None, declaration: Declaration) -> None:
    """Refuse a rig that records otherwise than the task's first episode.

    Raises:
        ContractError: another fps.
    """
    if info is not None and info.get("fps") is not None and float(info["fps"]) != float(declaration.fps):
        raise ContractError(
            f"{paths.task_dir}: was recorded at {float(info['fps']):g} fps, the rig {declaration.rig!r} runs at "
            f"{declaration.fps:g}; one task has one rate: change the rig's fps or record into another task"
        )


def reserve(root: Path, declaration: Declaration, *, disk: Disk | None = None) -> Reservation:
    """Take the next number of a task: its staging folder is made exclusively, with a manifest in state ``recording``.

    What an earlier recorder left is recovered before.

    Raises:
        TaskBusyError: a recorder that lives works on the task. ContractError: see `task_paths` and `check_fits`.
    """
    disk = disk or Disk()
    paths = task_paths(root, declaration.task_name)
    check_fits(paths, read_task_info(paths.task_dir), declaration)
    with task_lock(paths):
        for number, staging in paths.stagings():
            manifest = read_manifest(staging)
            if manifest is not None and manifest.state == "recording" and recorder_lives(manifest):
                raise TaskBusyError(
                    f"{paths.task_dir}: process {manifest.pid} records episode {number.k} there; stop it first, "
                    f"or record into another task"
                )
        recover_locked(paths, disk=disk)
        info = read_task_info(paths.task_dir)
        number = next_number(paths, info)
        staging = paths.staging(number)
        try:
            disk.make_folder(staging)
        except FileExistsError as error:
            raise TaskBusyError(f"{staging}: is there already; run rigflow recover {paths.task_dir}") from error
        manifest = Manifest(
            state="recording",
            k=number.k,
            declaration=declaration,
            clock=Clock(time.monotonic_ns(), time.time()),
            boot_id=boot_id(),
            pid=os.getpid(),
            pid_start=process_start(),
        )
        disk.replace(staging / MANIFEST, manifest.to_json())
        disk.sync(paths.task_dir)
    log.info("number reserved", task=paths.task_dir.name, episode=number.k)
    return Reservation(paths, staging, manifest)


def started(reservation: Reservation, **changes: Any) -> Reservation:
    """Write what is known when the take starts (clock, sizes, extensions, video_codec) into its manifest."""
    manifest = msgspec.structs.replace(reservation.manifest, **changes)
    Disk().replace(reservation.staging / MANIFEST, manifest.to_json())
    return Reservation(reservation.paths, reservation.staging, manifest)


def abort_take(reservation: Reservation, *, disk: Disk | None = None) -> None:
    """Throw a take away: its number is free again."""
    disk = disk or Disk()
    paths, staging = reservation.paths, reservation.staging
    with task_lock(paths):
        aborted = msgspec.structs.replace(reservation.manifest, state="aborted")
        disk.replace(staging / MANIFEST, aborted.to_json())
        disk.make_folders(paths.recycled.parent)
        disk.replace(paths.recycled, recycled_json(reservation.number, time.time()).encode())
        remove_staging(staging, disk)
    log.info("take thrown away", task=paths.task_dir.name, episode=reservation.number.k)
