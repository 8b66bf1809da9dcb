"""The commit of a take: everything is finished in staging, one manifest decides, renames follow."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from episodes.numbering import EpisodeNumber
from episodes.paths import TaskPaths
from sinks.durable import DISK, Disk

__all__ = ["Committed", "commit_staging"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Committed:
    """An episode that stands in the task.

    Attributes:
        number: of it. rows: its length. drop_stats: as in its episodes row.
        cut: slot to frames that were recorded beyond what is whole for all slots; empty for a whole take.
        cut_rows: rows that went with them. clock_residual_ns: slot to the largest distance of a device stamp from its
            fitted clock, ns; slots of device-clock links only.
        warnings: what an operator should read. data_path: its data parquet.
    """

    number: EpisodeNumber
    rows: int
    drop_stats: dict[str, int]
    cut: dict[str, int]
    cut_rows: int
    clock_residual_ns: dict[str, int]
    warnings: tuple[str, ...]
    data_path: Path


def commit_staging(paths: TaskPaths, staging: Path, *, recovered: bool = False, disk: Disk = DISK) -> Committed:
    """Commit what stands in a staging folder, live or after a crash: the only way into a task.

    The take is cut to the rows that are whole in the journal, the heavy columns and every video; what is cut is counted.

    Args:
        recovered: its recorder is gone; counted in ``drop_stats``.

    Raises:
        EpisodeError: no row is whole. CorruptFileError: staging is damaged. TaskBusyError: the lock could not be had,
        or files of the number stand in the task. ContractError: fps or a depth slot's extension differ from the task's.
        The staging folder stays then, for ``recover``.
    """
    raise NotImplementedError
