"""Reading a task directory: ``open_task(path)``, its episodes, their rows, videos, trajectories and matrices."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from episodes.episode import Episode
from episodes.errors import CorruptFileError, EpisodeError
from episodes.force_matrices import ForceMatrices
from episodes.info import read_info
from episodes.inside import check_inside
from episodes.legacy import Shards, glove_devices
from episodes.numbering import EpisodeNumber
from episodes.paths import TaskPaths
from episodes.stats import read_stats
from episodes.trajectory import Trajectory

__all__ = ["Episode", "ForceMatrices", "Task", "Trajectory", "open_task"]


def open_task(path: Path | str) -> Task:
    """Open a task directory, the one that holds ``meta/info.json``.

    Raises:
        UnknownFormatError: it is no task of this layout. CorruptFileError: its info.json is damaged.
        ContractError: its path templates cannot be used.
    """
    return Task(Path(path))


class Task:
    """A task directory: what its info.json declares, and the episodes that were committed to it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        at = TaskPaths(path).info
        if at.exists() or at.is_symlink():
            check_inside(path, at)
        self.info: dict[str, Any] = read_info(at)
        self.paths = TaskPaths.of(path, self.info)
        self._shards = Shards(self.paths)

    @property
    def name(self) -> str:
        """The task's name as it was given."""
        return str(self.info.get("task_name") or self.path.name)

    @property
    def stats(self) -> dict[str, Any]:
        """The blocks of stats.json; {} where there is none.

        Raises:
            CorruptFileError: it is damaged.
        """
        if self.paths.stats.exists() or self.paths.stats.is_symlink():
            check_inside(self.path, self.paths.stats)
        stats = read_stats(self.paths.stats)
        if stats is None:
            raise CorruptFileError(self.paths.stats, "is damaged; the next episode starts statistics afresh")
        return stats

    @property
    def gloves(self) -> dict[str, str]:
        """Glove column (``left_glove``) to device key, from whichever form the task's devices have."""
        return glove_devices(self.info)

    def numbers(self) -> list[EpisodeNumber]:
        """The episodes that are whole: those with both data and an episodes row, sorted; read from disk each time."""
        data = self.paths.data_numbers() | set(self._shards.data)
        return sorted(data & (self.paths.row_numbers() | set(self._shards.rows)))

    @property
    def episodes(self) -> tuple[Episode, ...]:
        """The episodes by number; nothing of them is opened yet."""
        return tuple(Episode(self.paths, self.info, number, self._shards) for number in self.numbers())

    def episode(self, k: int) -> Episode:
        """One episode by its 0-based number.

        Raises:
            EpisodeError: there is none, or it was never committed.
        """
        number = EpisodeNumber(k)
        episode = Episode(self.paths, self.info, number, self._shards)
        if not episode.data_path.exists() and not episode.data_path.is_symlink():
            raise EpisodeError(f"{self.path}: no episode {k}; {episode.data_path} is not there")
        if not episode.row_path.exists() and not episode.row_path.is_symlink():
            raise EpisodeError(f"{self.path}: episode {k} has data but no episodes row: it was never committed")
        return episode
