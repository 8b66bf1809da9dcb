"""Which task directories a path on the command line means."""

from __future__ import annotations

from pathlib import Path

from episodes.paths import TaskPaths, find_tasks
from launcher.words import UsageError

__all__ = ["tasks_below"]


def tasks_below(path: Path) -> list[Path]:
    """The task directory itself, or the tasks of a recordings root.

    A directory with recordings that were interrupted before their first commit is a task, though it has no info.json
    yet.

    Raises:
        UsageError: there is none.
    """
    if _is_task(path):
        return [path]
    found = find_tasks(path)
    found += [
        folder
        for folder in sorted(path.iterdir())
        if folder not in found and folder.is_dir() and not folder.is_symlink() and TaskPaths(folder).stagings()
    ]
    if not found:
        raise UsageError(f"{path}: neither a task directory (no meta/info.json) nor a folder of tasks")
    return sorted(found)


def _is_task(path: Path) -> bool:
    return TaskPaths(path).info.exists() or bool(TaskPaths(path).stagings())
