"""Rules of the directory: what stands where, orphans, takes left behind."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from episodes.errors import ContractError, EpisodeError
from episodes.inside import check_inside
from episodes.naming import check_slot
from episodes.numbering import EpisodeNumber
from episodes.recycled import read_recycled
from episodes.staging import MANIFEST, read_manifest, recorder_lives
from episodes.views import TaskView

__all__ = ["check_layout"]

_LITTER = re.compile(r"(_episodes_.*\.parquet|_trash|_migrate_backup_.*|recycled_episode\.json.*|.*\.tmp\d*)", re.ASCII)
_CHUNK = re.compile(r"chunk-\d{1,9}", re.ASCII)
_PARQUET = re.compile(r"(episode|file)-\d{1,9}\.parquet", re.ASCII)
_VIDEO = re.compile(r"(episode|file)-\d{1,9}\.[a-z0-9]{1,8}", re.ASCII)
_TOP = ("data", "videos", "meta")
_META = ("info.json", "stats.json", "tasks.jsonl", "episodes")
_STATES = {
    "recording": "its recorder is gone; what it saved can be made an episode",
    "prepared": "its commit was not finished",
    "done": "its commit was finished, only the folder is left",
    "aborted": "it was given up, only the folder is left",
}


def check_layout(task: TaskView) -> None:
    """Every rule of the directory."""
    _check_files(task)
    _check_names(task)
    _check_orphans(task)
    _check_stagings(task)
    _check_recycled(task)
    for path in task.shards.files():
        task.add("old.shard", path, "is a shard of the first releases")


def _check_files(task: TaskView) -> None:
    for entry in _entries(task.path):
        if entry.name not in _TOP:
            task.add("layout.foreign", Path(entry.path), "belongs to no place of the layout")
    for entry in _entries(task.path / "meta"):
        if entry.name not in _META:
            task.add("layout.foreign", Path(entry.path), "belongs to no place of the layout")
        elif entry.name != "episodes":
            _ordinary(task, Path(entry.path))
    for top in ("data", "meta/episodes"):
        for chunk in _folders(task, task.path / top):
            _check_folder(task, chunk, _PARQUET)
    for chunk in _folders(task, task.path / "videos"):
        for slot in _entries(chunk):
            path = Path(slot.path)
            if not path.is_dir() or not _inside(task, path):
                task.add("layout.link", path, "is no folder of a slot inside the task")
                continue
            try:
                check_slot(slot.name)
            except ContractError as error:
                task.add("layout.slot-name", path, str(error))
            _check_folder(task, path, _VIDEO)


def _folders(task: TaskView, folder: Path) -> Iterator[Path]:
    for entry in _entries(folder):
        path = Path(entry.path)
        if not _CHUNK.fullmatch(entry.name):
            task.add("layout.foreign", path, "belongs to no place of the layout")
        elif not path.is_dir() or not _inside(task, path):
            task.add("layout.link", path, "is no folder inside the task")
        else:
            yield path


def _check_folder(task: TaskView, folder: Path, pattern: re.Pattern[str]) -> None:
    for entry in _entries(folder):
        if pattern.fullmatch(entry.name):
            if entry.is_symlink() or not entry.is_file(follow_symlinks=False):
                _ordinary(task, Path(entry.path))
        else:
            task.add("layout.foreign", Path(entry.path), "belongs to no place of the layout")


def _ordinary(task: TaskView, path: Path) -> None:
    try:
        check_inside(task.path, path)
    except EpisodeError as error:
        task.add("layout.link", path, str(error).removeprefix(f"{path}: "))


def _inside(task: TaskView, folder: Path) -> bool:
    try:
        return folder.resolve(strict=True).is_relative_to(task.path.resolve())
    except (OSError, RuntimeError):
        return False


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    """What stands in a folder, sorted; dotfiles and known litter are not there."""
    try:
        with os.scandir(folder) as found:
            entries = [entry for entry in found if not entry.name.startswith(".") and not _LITTER.fullmatch(entry.name)]
    except OSError:
        return []
    return sorted(entries, key=lambda entry: entry.name)


def _check_names(task: TaskView) -> None:
    """A number that the scan saw, but whose file is not where the templates put it."""
    for numbers, path_of, what in (
        (task.data_numbers, task.paths.data, "data file"),
        (task.row_numbers, task.paths.episode_row, "episodes row"),
    ):
        for number in sorted(numbers):
            path = path_of(number)
            if not path.exists() and not path.is_symlink():
                task.add("layout.name", path, f"episode {number.k} has a {what}, but not where the template puts it")
    slots: dict[int, list[str]] = {}
    for number in sorted(task.video_numbers):
        c, _f = number.chunk_file(task.paths.chunks_size)
        if c not in slots:
            slots[c] = [entry.path for entry in _entries(task.path / "videos" / f"chunk-{c:03d}")]
        if not _any_video(task, number, slots[c]):
            task.add(
                "layout.name",
                task.path / "videos",
                f"episode {number.k} has a video, but not where the template puts it, or not as mp4 or mkv",
            )


def _any_video(task: TaskView, number: EpisodeNumber, slots: Iterable[str]) -> bool:
    _c, f = number.chunk_file(task.paths.chunks_size)
    return any(
        os.path.lexists(Path(slot) / f"episode-{f:03d}.{extension}") for slot in slots for extension in ("mp4", "mkv")
    )


def _check_orphans(task: TaskView) -> None:
    staged = set(task.staged)
    data = (task.data_numbers | set(task.shards.data)) - staged
    rows = (task.row_numbers | set(task.shards.rows)) - staged
    for number in _ordered(data - rows):
        task.findings.add(
            "layout.orphan-data", task.paths.data(number), "has no episodes row: it was never committed", number.k
        )
    for number in _ordered(rows - data):
        if number not in task.shards.rows:
            task.findings.add("layout.orphan-row", task.paths.episode_row(number), "has no data file", number.k)
    for number in _ordered(task.video_numbers - staged - data):
        task.findings.add("layout.orphan-video", task.path / "videos", f"episode {number.k} has no data", number.k)


def _ordered(numbers: Iterable[EpisodeNumber]) -> list[EpisodeNumber]:
    return sorted(numbers)


def _check_stagings(task: TaskView) -> None:
    for number, folder in task.staged.items():
        try:
            check_inside(task.path, folder / MANIFEST)
            manifest = read_manifest(folder)
        except EpisodeError:
            manifest = None
        if manifest is None:
            message = "a take was left behind before anything of it was saved"
        elif manifest.state == "recording" and recorder_lives(manifest):
            task.findings.add("layout.staging", folder, f"process {manifest.pid} is recording", number.k, "info")
            continue
        else:
            message = f"take {manifest.k} was left behind: {_STATES[manifest.state]}"
        task.findings.add("layout.staging", folder, message, number.k)


def _check_recycled(task: TaskView) -> None:
    where = task.paths.recycled
    if not where.exists() and not where.is_symlink():
        return
    try:
        check_inside(task.path, where)
        number = read_recycled(where)
    except EpisodeError as error:
        task.add("layout.recycled", where, str(error))
        return
    taken = task.data_numbers | task.row_numbers | task.video_numbers | set(task.staged)
    if number is None:
        task.add("layout.recycled", where, "names no number that can be")
    elif number.n <= task.total or number in taken:
        task.add("layout.recycled", where, f"names number {number.n}, which is not free")
