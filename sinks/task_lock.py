"""The writers' lock of a task."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from filelock import FileLock, Timeout

from episodes.errors import TaskBusyError
from episodes.paths import TaskPaths

__all__ = ["task_lock"]

TIMEOUT_S = 30.0


@contextmanager
def task_lock(paths: TaskPaths, timeout_s: float = TIMEOUT_S) -> Iterator[None]:
    """Hold the task's lock: one writer at a time for the read-merge-write of info.json and stats.json.

    Raises:
        TaskBusyError: another process held it for ``timeout_s``.
    """
    paths.lock.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(paths.lock)
    try:
        lock.acquire(timeout=timeout_s)
    except Timeout as error:
        raise TaskBusyError(f"{paths.task_dir}: another process has held its lock for {timeout_s:.0f} s") from error
    try:
        yield
    finally:
        lock.release()
