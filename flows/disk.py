"""How much disk there is for recordings, and how long it lasts."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from flows.errors import SessionError

__all__ = ["DiskBudget", "folder_bytes"]

MIB = 1024**2


class DiskBudget:
    """The free space above a reserve, on the file system of a folder.

    Args:
        folder: the recordings' root; it need not exist yet. reserve, warning: bytes.
    """

    def __init__(self, folder: Path, *, reserve: int, warning: int) -> None:
        self._folder = folder
        self._reserve = reserve
        self._warning = warning

    def free(self) -> int:
        """Bytes above the reserve; negative below it.

        Raises:
            OSError: the folder cannot be looked at.
        """
        folder = self._folder.absolute()
        while not folder.exists() and folder != folder.parent:
            folder = folder.parent
        return shutil.disk_usage(folder).free - self._reserve

    def is_low(self, free: int) -> bool:
        """Whether an operator should be warned."""
        return free < self._warning

    def require(self) -> int:
        """Bytes above the reserve.

        Raises:
            SessionError: there are none, or the folder cannot be looked at.
        """
        try:
            free = self.free()
        except OSError as error:
            raise SessionError(f"{self._folder}: the disk cannot be looked at: {error.strerror or error}") from error
        if free <= 0:
            raise SessionError(
                f"{self._folder}: {(free + self._reserve) // MIB} MiB free, and {self._reserve // MIB} MiB are kept in "
                "reserve; delete something, or record to another disk with --root"
            )
        return free

    @property
    def reserve_mib(self) -> int:
        """The reserve, MiB."""
        return self._reserve // MIB


def folder_bytes(folder: Path) -> int:
    """Size of the files below a folder; those that vanish meanwhile count nothing."""
    total = 0
    for root, _folders, files in os.walk(folder):
        for name in files:
            try:
                total += (Path(root) / name).stat().st_size
            except OSError:
                continue
    return total
