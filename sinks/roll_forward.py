"""What follows the commit point: the renames of a prepared take, and the removal of staging folders."""

from __future__ import annotations

from pathlib import Path

from episodes.paths import TaskPaths
from episodes.staging import Manifest
from sinks.durable import Disk

__all__ = ["remove_staging", "roll_forward", "settle"]


def settle(paths: TaskPaths, disk: Disk) -> list[tuple[Path, Manifest | None]]:
    """Carry out what is decided: roll prepared takes forward, remove finished, aborted and empty staging folders.

    Under the task's lock. Gives what was settled.
    """
    raise NotImplementedError


def roll_forward(paths: TaskPaths, folder: Path, manifest: Manifest, disk: Disk) -> None:
    """Rename a prepared take's files into place, and remove its staging; can be done again after a crash at any step.

    Raises:
        CorruptFileError: a file is neither in staging nor in place as the manifest has it.
    """
    raise NotImplementedError


def remove_staging(folder: Path, disk: Disk) -> None:
    """Remove a staging folder, its manifest last."""
    raise NotImplementedError
