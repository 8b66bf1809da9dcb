"""The one lock of a task: whoever changes its info, statistics or numbers holds it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from filelock import FileLock, Timeout

from episodes.errors import TaskBusyError
from episodes.paths import TaskPaths
from sinks.durable import DISK, Disk
from sinks.roll_forward import Settled, settle

__all__ = ["task_lock"]

WAIT_S = 30.0
"""Longer than any commit takes; a deletion or a commit elsewhere is waited for."""


@contextmanager
def task_lock(paths: TaskPaths, *, disk: Disk = DISK, wait_s: float = WAIT_S) -> Iterator[list[Settled]]:
    """Hold the task's lock, between processes and threads; not re-entrant.

    Before anything else, what earlier holders had decided is carried out: a prepared take is rolled forward, an aborted
    or finished one removed (`sinks.roll_forward.settle`). So what is read under the lock is never halfway. It gives
    what was settled.

    Raises:
        TaskBusyError: another process held it for ``wait_s``.
    """
    disk.make_folders(paths.lock.parent)
    lock = FileLock(paths.lock)
    try:
        lock.acquire(timeout=wait_s)
    except Timeout as error:
        raise TaskBusyError(
            f"{paths.task_dir}: another process has held the task's lock for {wait_s:.0f} s; end it, then try again"
        ) from error
    try:
        yield settle(paths, disk)
    finally:
        lock.release()
