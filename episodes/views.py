"""What the validator's rules look at: a task, and one of its episodes, opened once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from episodes.data_file import DataFile
from episodes.episode import Episode
from episodes.episode_row import EpisodeRow
from episodes.legacy import Shards
from episodes.numbering import EpisodeNumber
from episodes.paths import TaskPaths
from episodes.report import Severity
from episodes.rules import Findings

__all__ = ["EpisodeView", "TaskView"]


@dataclass
class TaskView:
    """A task whose info.json was read.

    Attributes:
        whole: every episode was looked at and read, so sums over all of them can be judged.
        seen_columns, seen_slots: of the episodes that were looked at. raw_rows: rows of their files.
        imu_samples: of them. deep: every frame and matrix is decoded.
    """

    path: Path
    info: dict[str, Any]
    paths: TaskPaths
    findings: Findings
    whole: bool
    deep: bool
    seen_columns: set[str] = field(default_factory=set)
    seen_slots: set[str] = field(default_factory=set)
    raw_rows: int = 0
    imu_samples: int = 0
    rows: int = 0

    def __post_init__(self) -> None:
        self.shards = Shards(self.paths)
        self.data_numbers = self.paths.data_numbers()
        self.row_numbers = self.paths.row_numbers()
        self.video_numbers = self.paths.video_numbers()
        self.staged = dict(self.paths.stagings())

    def add(self, rule: str, path: Path, message: str, severity: Severity | None = None) -> None:
        """Note a finding of the whole task."""
        self.findings.add(rule, path, message, None, severity)

    def mapping(self, key: str) -> dict[str, Any]:
        """An object of info.json; {} where it is none."""
        found = self.info.get(key)
        return found if isinstance(found, dict) else {}

    def strings(self, key: str) -> list[str]:
        """The strings of a list of info.json."""
        found = self.info.get(key)
        return [item for item in found if isinstance(item, str)] if isinstance(found, list) else []

    @cached_property
    def numbers(self) -> list[EpisodeNumber]:
        """The episodes: those with data, and not still on their way."""
        return sorted((self.data_numbers | set(self.shards.data)) - set(self.staged))

    @property
    def total(self) -> int:
        """total_episodes, 0 where it is no number."""
        found = self.info.get("total_episodes")
        return found if type(found) is int else 0


class EpisodeView:
    """One episode: what could be opened of it. Rules look at what is not None."""

    def __init__(self, task: TaskView, number: EpisodeNumber) -> None:
        self.task = task
        self.number = number
        self.episode = Episode(task.paths, task.info, number, task.shards)
        self.data: DataFile | None = None
        self.light: pa.Table | None = None
        self.row: EpisodeRow | None = None

    def add(self, rule: str, path: Path, message: str, severity: Severity | None = None) -> None:
        """Note a finding of this episode."""
        self.task.findings.add(rule, path, message, self.number.k, severity)

    @property
    def path(self) -> Path:
        """The data file."""
        return self.episode.data_path

    @property
    def old(self) -> bool:
        """Written before the clock pair was: what such releases did otherwise is milder."""
        return self.row is not None and not self.row.clock

    @property
    def milder(self) -> Severity | None:
        """The severity of what an old release did otherwise."""
        return "warning" if self.old else None

    @property
    def newest(self) -> bool:
        """Whether info.json speaks of this episode: it has the highest number of all."""
        return bool(self.task.numbers) and self.number == self.task.numbers[-1]

    @property
    def columns(self) -> list[str]:
        """Of the data file."""
        return [] if self.data is None else self.data.columns

    @property
    def features(self) -> Mapping[str, Any]:
        """Of the task."""
        return self.task.mapping("features")

    @property
    def fps(self) -> float | None:
        """Of the task; None where it is no rate."""
        fps = self.task.info.get("fps")
        return float(fps) if isinstance(fps, (int, float)) and type(fps) is not bool and 0 < fps <= 1000 else None

    def array(self, name: str) -> NDArray[Any] | None:
        """A scalar column of numbers, nulls as 0; None where there is none of numbers."""
        if self.light is None or name not in self.light.column_names:
            return None
        column = self.light.column(name)
        if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
            return None
        values: NDArray[Any] = column.fill_null(0).to_numpy()
        return values

    def lists(self, name: str) -> tuple[NDArray[Any], NDArray[np.int64]] | None:
        """A column of lists of numbers: all values, and how many each row has."""
        if self.data is None or name not in self.columns or not pa.types.is_list(self.data.schema.field(name).type):
            return None
        return self.data.lists(name)
