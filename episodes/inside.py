"""Whether a path is an ordinary file of its task directory: no link out of it, no pipe, no device."""

from __future__ import annotations

import stat
from pathlib import Path

from episodes.errors import CorruptFileError

__all__ = ["check_inside"]


def check_inside(task_dir: Path, path: Path) -> None:
    """Refuse what must not be opened: a link that leaves the task directory, a pipe, a socket, a device, a folder.

    Raises:
        CorruptFileError: it names the file and what it is.
    """
    try:
        real = path.resolve(strict=True)
        mode = real.stat().st_mode
    except FileNotFoundError as error:
        raise CorruptFileError(path, "is not there") from error
    except (OSError, RuntimeError, ValueError) as error:
        raise CorruptFileError(path, f"cannot be read: {error}") from error
    if not real.is_relative_to(task_dir.resolve()):
        raise CorruptFileError(path, "is a link that leaves the task directory; put the file itself there")
    if not stat.S_ISREG(mode):
        raise CorruptFileError(path, "is no ordinary file")
