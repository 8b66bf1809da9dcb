"""The one seam through which a task's files are changed: every step can be made durable, and be made to fail."""

from __future__ import annotations

import os
import shutil
import zlib
from pathlib import Path

__all__ = ["DISK", "Disk", "crc32_of"]


class Disk:
    """Steps on the file system. Tests give another one, which crashes at a step or loses what was not synced."""

    def write(self, path: Path, content: bytes) -> None:
        """Create or replace a file's content; neither atomic nor durable by itself."""
        path.write_bytes(content)

    def sync(self, path: Path) -> None:
        """Make a file's content, or a folder's entries, durable."""
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

    def rename(self, source: Path, target: Path) -> None:
        """Put a file in its place, atomically; what stood there is replaced."""
        source.rename(target)

    def make_folder(self, path: Path) -> None:
        """Make a folder, exclusively.

        Raises:
            FileExistsError: it is there.
        """
        path.mkdir()

    def remove(self, path: Path) -> None:
        """Remove a file; one that is not there is fine."""
        path.unlink(missing_ok=True)

    def remove_tree(self, path: Path) -> None:
        """Remove a folder with everything in it; one that is not there is fine."""
        if path.exists():
            shutil.rmtree(path)

    def remove_folder(self, path: Path) -> bool:
        """Remove an empty folder; False when it is not empty, or not there."""
        try:
            path.rmdir()
        except OSError:
            return False
        return True

    def make_folders(self, path: Path) -> None:
        """Make a folder and its parents, each durable in its own parent."""
        missing = []
        while not path.is_dir():
            missing.append(path)
            path = path.parent
        for folder in reversed(missing):
            try:
                self.make_folder(folder)
            except FileExistsError:
                continue
            self.sync(folder.parent)

    def replace(self, path: Path, content: bytes) -> None:
        """Replace a file atomically and durably: temporary file, sync, rename, sync of the folder."""
        temporary = path.with_name(f".{path.name}.tmp")
        self.write(temporary, content)
        self.sync(temporary)
        self.rename(temporary, path)
        self.sync(path.parent)


DISK = Disk()
"""The real one."""


def crc32_of(path: Path, known: tuple[int, int] = (0, 0)) -> int:
    """The CRC-32 of a file's content; ``known``: a place in it, and the CRC-32 up to there."""
    at, value = known
    with path.open("rb") as file:
        file.seek(at)
        while block := file.read(1 << 20):
            value = zlib.crc32(block, value)
    return value
