"""Where the files of a task stand, and which numbers are taken."""

from __future__ import annotations

import os
import re
import string
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from episodes.errors import ContractError
from episodes.naming import check_slot
from episodes.numbering import EpisodeNumber
from episodes.recycled import read_recycled

__all__ = ["CHUNKS_SIZE", "DATA_PATH", "EPISODES_PATH", "VIDEO_PATH", "TaskPaths", "find_tasks", "next_number"]

CHUNKS_SIZE = 1000
DATA_PATH = "data/chunk-{c:03d}/episode-{f:03d}.parquet"
VIDEO_PATH = "videos/chunk-{c:03d}/{image_key}/episode-{f:03d}.{ext}"
EPISODES_PATH = "meta/episodes/chunk-{c:03d}/episode-{f:03d}.parquet"

_CHUNK = re.compile(r"chunk-(\d{1,9})", re.ASCII)
_DATA = re.compile(r"episode-(\d{1,9})\.parquet", re.ASCII)
_VIDEO = re.compile(r"episode-(\d{1,9})\.[a-z0-9]{1,8}", re.ASCII)
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

    def __post_init__(self) -> None:
        if not 1 <= self.chunks_size <= 10**6:
            raise ContractError(f"{self.info}: chunks_size {self.chunks_size} is not in 1 to 1000000")
        _check_template(self.info, "data_path", self.data_path, {"c", "f"})
        _check_template(self.info, "video_path", self.video_path, {"c", "f", "image_key", "ext"})
        _check_template(self.info, "episodes_path", self.episodes_path, {"c", "f"})

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
        c, f = number.chunk_file(self.chunks_size)
        return self.task_dir / self.data_path.format(c=c, f=f)

    def episode_row(self, number: EpisodeNumber) -> Path:
        c, f = number.chunk_file(self.chunks_size)
        return self.task_dir / self.episodes_path.format(c=c, f=f)

    def video(self, number: EpisodeNumber, slot: str, extension: str) -> Path:
        check_slot(slot)
        c, f = number.chunk_file(self.chunks_size)
        return self.task_dir / self.video_path.format(c=c, f=f, image_key=slot, ext=extension)

    def videos(self, number: EpisodeNumber) -> dict[str, Path]:
        """The episode's video files by slot, as they stand on disk."""
        c, f = number.chunk_file(self.chunks_size)
        found: dict[str, Path] = {}
        for slot in _names(self.task_dir / "videos" / f"chunk-{c:03d}"):
            if slot.startswith("."):
                continue
            folder = self.task_dir / "videos" / f"chunk-{c:03d}" / slot
            for extension in ("mp4", "mkv"):
                path = folder / f"episode-{f:03d}.{extension}"
                if path.is_file():
                    found[slot] = path
        return dict(sorted(found.items()))

    def stagings(self) -> list[tuple[EpisodeNumber, Path]]:
        """The staging folders of the task, by number."""
        found = []
        for name in _names(self.task_dir):
            match = _STAGING.fullmatch(name)
            if match:
                found.append((EpisodeNumber(int(match.group(1))), self.task_dir / name))
        return sorted(found)

    def data_numbers(self) -> set[EpisodeNumber]:
        """The numbers that have a data file."""
        return set(self._scan(self.task_dir / "data", _DATA))

    def row_numbers(self) -> set[EpisodeNumber]:
        """The numbers that have an episodes row of their own."""
        return set(self._scan(self.task_dir / "meta" / "episodes", _DATA))

    def video_numbers(self) -> set[EpisodeNumber]:
        """The numbers that have a video file in any slot."""
        found: set[EpisodeNumber] = set()
        for chunk in _names(self.task_dir / "videos"):
            match = _CHUNK.fullmatch(chunk)
            if match is None:
                continue
            for slot in _names(self.task_dir / "videos" / chunk):
                for name in _names(self.task_dir / "videos" / chunk / slot):
                    file = _VIDEO.fullmatch(name)
                    if file:
                        found.add(self._number(int(match.group(1)), int(file.group(1))))
        return found

    def taken_numbers(self) -> set[EpisodeNumber]:
        """Every number of which anything exists: data, video, episodes row or staging."""
        staged = {number for number, _path in self.stagings()}
        return self.data_numbers() | self.video_numbers() | self.row_numbers() | staged

    def _scan(self, folder: Path, pattern: re.Pattern[str]) -> Iterator[EpisodeNumber]:
        for chunk in _names(folder):
            match = _CHUNK.fullmatch(chunk)
            if match is None:
                continue
            for name in _names(folder / chunk):
                file = pattern.fullmatch(name)
                if file:
                    yield self._number(int(match.group(1)), int(file.group(1)))

    def _number(self, chunk: int, file: int) -> EpisodeNumber:
        return EpisodeNumber(min(chunk * self.chunks_size + file, 10**9 - 1))


def next_number(paths: TaskPaths, info: Mapping[str, Any] | None) -> EpisodeNumber:
    """The number of the next take: one above everything that was ever completed or stands on disk.

    An aborted take's number is taken again, if it is above every completed one and nothing of it is left.
    """
    taken = paths.taken_numbers()
    total = 0
    if info is not None:
        total = max(0, _typed(paths.task_dir, info, "total_episodes", int, 0))
    recycled = read_recycled(paths.recycled)
    if recycled is not None and recycled.n > total and recycled not in taken:
        return recycled
    return EpisodeNumber.from_n(1 + max([total, *(number.n for number in taken)]))


def find_tasks(root: Path) -> list[Path]:
    """The task directories below ``root``, sorted; names that begin with ``.`` or ``_`` are no tasks."""
    return [
        root / name
        for name in sorted(_names(root))
        if not name.startswith((".", "_")) and (root / name / "meta" / "info.json").is_file()
    ]


def _names(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry in entries]
    except (FileNotFoundError, NotADirectoryError):
        return []


def _typed(task_dir: Path, info: Mapping[str, Any], key: str, kind: type, default: Any) -> Any:
    value = info.get(key, default)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise ContractError(f"{task_dir / 'meta' / 'info.json'}: {key} is {value!r}, not {kind.__name__}")
    return value


def _check_template(info: Path, key: str, template: str, fields: set[str]) -> None:
    try:
        found = [
            (name, spec) for _text, name, spec, _conversion in string.Formatter().parse(template) if name is not None
        ]
    except ValueError as error:
        raise ContractError(f"{info}: {key} {template!r} is no path template: {error}") from error
    for name, spec in found:
        if name not in fields or not re.fullmatch(r"(0?\d?d)?", spec or "", re.ASCII):
            raise ContractError(f"{info}: {key} {template!r} has the unknown field {{{name}:{spec}}}")
    path = PurePosixPath(template)
    if path.is_absolute() or ".." in path.parts or "\\" in template or "\0" in template:
        raise ContractError(f"{info}: {key} {template!r} leaves the task directory")
