"""The errors of the on-disk contract; each names the file, what is wrong with it and what to do."""

from __future__ import annotations

from pathlib import Path

from operators.errors import RigflowError

__all__ = ["ContractError", "CorruptFileError", "EpisodeError", "TaskBusyError", "UnknownFormatError"]


class EpisodeError(RigflowError):
    """Root of what goes wrong with a task directory or an episode."""


class ContractError(EpisodeError):
    """Something that was to be recorded does not fit the contract: a name, a type, a shape, another fps."""


class CorruptFileError(EpisodeError):
    """A file under a task is damaged, truncated or foreign."""

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(f"{path}: {problem}")
        self.path = path
        self.problem = problem


class UnknownFormatError(EpisodeError):
    """A directory is not a task of the layout that rigflow reads; it is never guessed."""


class TaskBusyError(EpisodeError):
    """Another recorder works on the task, or the number is already taken."""
