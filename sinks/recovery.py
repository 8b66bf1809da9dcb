"""Recovery: what recorders left behind becomes an episode, or goes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sinks.durable import DISK, Disk

__all__ = ["Recovered", "recover_task"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovered:
    """What became of one staging folder.

    Attributes:
        k: its number. action: ``rolled forward``: its commit was decided, and is carried out; ``rebuilt``: an episode was
            made of what was recorded; ``removed``: aborted, finished or empty; ``kept``: it is recorded now, or cannot
            be read.
        rows: of the episode; 0 where none was made. message: more, for an operator.
    """

    k: int
    action: Literal["rolled forward", "rebuilt", "removed", "kept"]
    rows: int = 0
    message: str = ""

    def __str__(self) -> str:
        rows = f", {self.rows} rows" if self.rows else ""
        return f"episode {self.k}: {self.action}{rows}{'; ' if self.message else ''}{self.message}"


def recover_task(task_dir: Path, *, disk: Disk = DISK) -> list[Recovered]:
    """Recover a task: roll prepared takes forward, rebuild recorded ones, remove what is void.

    A take whose recorder still lives is left alone. Idempotent; can be killed at any moment and run again.

    Raises:
        EpisodeError: the task cannot be read, or its lock not be had.
    """
    raise NotImplementedError
