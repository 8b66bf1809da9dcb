"""Where the files of a task stand, and which numbers are taken."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from episodes.errors import ContractError
from episodes.naming import check_slot
from episodes.numbering import MAX_K, EpisodeNumber
from episodes.path_template import PathTemplate, names_in
from episodes.recycled import read_recycled

__all__ = ["CHUNKS_SIZE", "DATA_PATH", "EPISODES_PATH", "VIDEO_PATH", "TaskPaths", "find_tasks", "next_number"]

CHUNKS_SIZE = 1000
DATA_PATH = "data/chunk-{c:03d}/episode-{f:03d}.parquet"
VIDEO_PATH = "videos/chunk-{c:03d}/{image_key}/episode-{f:03d}.{ext}"
EPISODES_PATH = "meta/episodes/chunk-{c:03d}/episode-{f:03d}.parquet"

VIDEO_EXTENSIONS = ("mp4", "mkv")

_STAGING = re.compile(r"\.(\d{1,9})\.recording", re.ASCII)


@dataclass(frozen=True, slots=True)
class TaskPaths:
    """The paths of one task directory, from the templates of its info.json.

    Raises:
        ContractError: a template that leaves the task directory, or has other fields than c, f, image_key and ext.
    """

    task_dir: Path
    chunks_size: int = CHUNKS_SIZE
    data_path: str = DATA_PATH
    video_path: str = VIDEO_PATH
    episodes_path: str = EPISODES_PATH
    _data: PathTemplate = field(init=False, repr=False, compare=False)
    _video: PathTemplate = field(init=False, repr=False, compare=False)
    _row: PathTemplate = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not 1 <= self.chunks_size <= 10**6:
            raise ContractError(f"{self.info}: chunks_size {self.chunks_size} is not in 1 to 1000000")
        if self.data_path == self.episodes_path:
            raise ContractError(f"{self.info}: data_path and episodes_path are both {self.data_path!r}")
        try:
            object.__setattr__(self, "_data", PathTemplate(self.data_path, ("c", "f")))
            object.__setattr__(self, "_video", PathTemplate(self.video_path, ("c", "ext", "f", "image_key")))
            object.__setattr__(self, "_row", PathTemplate(self.episodes_path, ("c", "f")))
        except ContractError as error:
            raise ContractError(f"{self.info}: {error}") from error

    @classmethod
    def of(cls, task_dir: Path, info: Mapping[str, Any] | None) -> TaskPaths:
        """From a task's info.json; None for a task that has none yet."""
        if info is None:
            return cls(task_dir)
        return cls(
            task_dir,
            _typed(task_dir, info, "chunks_size", int, CHUNKS_SIZE),
            _typed(task_dir, info, "data_path", str, DATA_PATH),
            _typed(task_dir, info, "video_path", str, VIDEO_PATH),
            _typed(task_dir, info, "episodes_path", str, EPISODES_PATH),
        )

    @property
    def info(self) -> Path:
        """``meta/info.json``."""
        return self.task_dir / "meta" / "info.json"

    @property
    def stats(self) -> Path:
        """``meta/stats.json``."""
        return self.task_dir / "meta" / "stats.json"

    @property
    def tasks(self) -> Path:
        """``meta/tasks.jsonl``."""
        return self.task_dir / "meta" / "tasks.jsonl"

    @property
    def recycled(self) -> Path:
        """``meta/recycled_episode.json``: the number that an aborted take gave back."""
        return self.task_dir / "meta" / "recycled_episode.json"

    @property
    def lock(self) -> Path:
        """The writers' lock."""
        return self.task_dir / "meta" / "episodes" / ".lock"

    def staging(self, number: EpisodeNumber) -> Path:
        """The folder that a take is recorded in."""
        return self.task_dir / f".{number.k}.recording"

    def data(self, number: EpisodeNumber) -> Path:
        """The data parquet file."""
        return self._path(self._data, number)

    def episode_row(self, number: EpisodeNumber) -> Path:
        """The file of the episodes row."""
        return self._path(self._row, number)

    def video(self, number: EpisodeNumber, slot: str, extension: str) -> Path:
        """The video file of a slot.

        Raises:
            ContractError: a slot or an extension that cannot be part of a path.
        """
        check_slot(slot)
        if extension not in VIDEO_EXTENSIONS:
            raise ContractError(f"slot {slot!r}: extension {extension!r} is none of {', '.join(VIDEO_EXTENSIONS)}")
        return self._path(self._video, number, image_key=slot, ext=extension)

    def videos(self, number: EpisodeNumber) -> dict[str, Path]:
        """The episode's video files by slot, as they stand on disk."""
        c, f = number.chunk_file(self.chunks_size)
        found: dict[str, Path] = {}
        for extension in VIDEO_EXTENSIONS:
            for at in self._video.scan(self.task_dir, c=c, f=f, ext=extension):
                path = self._path(self._video, number, image_key=at["image_key"], ext=extension)
                if path.is_file():
                    found[at["image_key"]] = path
        return dict(sorted(found.items()))

    def video_files(self, number: EpisodeNumber) -> list[Path]:
        """Every file that bears the episode's number in any slot, half-written and foreign ones included."""
        c, f = number.chunk_file(self.chunks_size)
        found = (
            self._path(self._video, number, image_key=at["image_key"], ext=at["ext"])
            for at in self._video.scan(self.task_dir, c=c, f=f)
        )
        return sorted(path for path in found if not path.is_dir())

    def stagings(self) -> list[tuple[EpisodeNumber, Path]]:
        """The staging folders of the task, by number."""
        found = []
        for name in names_in(self.task_dir):
            match = _STAGING.fullmatch(name)
            if match:
                found.append((EpisodeNumber(int(match.group(1))), self.task_dir / name))
        return sorted(found)

    def data_numbers(self) -> set[EpisodeNumber]:
        """The numbers that have a data file."""
        return {EpisodeNumber(k) for k in self._scan(self._data)}

    def row_numbers(self) -> set[EpisodeNumber]:
        """The numbers that have an episodes row of their own."""
        return {EpisodeNumber(k) for k in self._scan(self._row)}

    def video_numbers(self) -> set[EpisodeNumber]:
        """The numbers that have a video file in any slot."""
        return {EpisodeNumber(k) for k in self._scan(self._video)}

    def taken_numbers(self) -> set[EpisodeNumber]:
        """Every number of which anything exists: data, video, episodes row or staging."""
        return {EpisodeNumber(k) for k in self._taken()}

    def _taken(self) -> set[int]:
        staged = {number.k for number, _path in self.stagings()}
        return staged.union(self._scan(self._data), self._scan(self._video), self._scan(self._row))

    def _scan(self, template: PathTemplate) -> set[int]:
        return {min(k, MAX_K) for k in template.numbers(self.task_dir, self.chunks_size)}

    def _path(self, template: PathTemplate, number: EpisodeNumber, **values: str) -> Path:
        c, f = number.chunk_file(self.chunks_size)
        return self.task_dir / template.path(c=c, f=f, **values)


def next_number(paths: TaskPaths, info: Mapping[str, Any] | None) -> EpisodeNumber:
    """The number of the next take: one above everything that was ever completed or stands on disk.

    An aborted take's number is taken again, if it is above every completed one and nothing of it is left.
    """
    taken = paths._taken()
    total = 0
    if info is not None:
        total = max(0, _typed(paths.task_dir, info, "total_episodes", int, 0))
    recycled = read_recycled(paths.recycled)
    if recycled is not None and recycled.n > total and recycled.k not in taken:
        return recycled
    return EpisodeNumber.from_n(1 + max([total, *(k + 1 for k in taken)]))


def find_tasks(root: Path) -> list[Path]:
    """The task directories below ``root``, sorted; names that begin with ``.`` or ``_`` are no tasks."""
    return [
        root / name
        for name in sorted(names_in(root))
        if not name.startswith((".", "_")) and (root / name / "meta" / "info.json").is_file()
    ]


def _typed(task_dir: Path, info: Mapping[str, Any], key: str, kind: type, default: Any) -> Any:
    value = info.get(key, default)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise ContractError(f"{task_dir / 'meta' / 'info.json'}: {key} is {value!r}, not {kind.__name__}")
    return value
