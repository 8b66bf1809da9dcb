"""Judging a task directory against the contract: every rule of docs/validation.md."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from episodes.errors import ContractError, EpisodeError, UnknownFormatError
from episodes.info import read_info
from episodes.inside import check_inside
from episodes.numbering import EpisodeNumber
from episodes.paths import TaskPaths
from episodes.report import Finding, Report
from episodes.rules import Findings
from episodes.rules_features import check_features
from episodes.rules_force import check_forces
from episodes.rules_info import check_info, check_info_totals, check_keys
from episodes.rules_layout import check_layout
from episodes.rules_row import check_row
from episodes.rules_rows import check_columns, check_stamps, check_times, check_values
from episodes.rules_slam import check_trajectories
from episodes.rules_stats import check_stats
from episodes.rules_video import check_videos
from episodes.views import EpisodeView, TaskView

__all__ = ["Finding", "Report", "validate_task"]

View = TypeVar("View", TaskView, EpisodeView)

_EPISODE_RULES: tuple[Callable[[EpisodeView], None], ...] = (
    check_columns,
    check_values,
    check_times,
    check_stamps,
    check_trajectories,
    check_forces,
    check_row,
    check_videos,
)


def validate_task(path: Path | str, episodes: Iterable[int] | None = None, deep: bool = False) -> Report:
    """Judge a task directory.

    It opens nothing outside of the directory, changes nothing, and never raises for what stands in it.

    Args:
        path: the task directory. episodes: k of those to look at; None: all.
        deep: decode every frame of every video and every force matrix too.
    """
    path = Path(path)
    findings = Findings()
    task = _open(path, findings, None if episodes is None else set(episodes), deep)
    if task is None:
        return Report(path, tuple(findings.found), (), deep=deep)
    for rule in (check_layout, check_info, check_features):
        _judge(rule, task)
    wanted = task.numbers if episodes is None else [number for number in task.numbers if number.k in set(episodes)]
    for number in wanted:
        _validate_episode(task, number)
    for rule in (check_info_totals, check_stats):
        _judge(rule, task)
    # The task's first, then by episode; within one in the order of the rules.
    found = sorted(findings.found, key=lambda finding: -1 if finding.episode is None else finding.episode)
    return Report(path, tuple(found), tuple(number.k for number in wanted), task.rows, deep)


def _open(path: Path, findings: Findings, wanted: set[int] | None, deep: bool) -> TaskView | None:
    where = TaskPaths(path).info
    try:
        if where.exists() or where.is_symlink():
            check_inside(path, where)
        info = read_info(where)
    except UnknownFormatError as error:
        findings.add("task.format", where, str(error).removeprefix(f"{where}: "))
        return None
    except (EpisodeError, OSError, ValueError) as error:
        findings.add("info.corrupt", where, str(error).removeprefix(f"{where}: "))
        return None
    for problem in check_keys(info):
        findings.add("info.keys", where, problem)
    try:
        paths = TaskPaths.of(path, info)
    except ContractError as error:
        findings.add("info.paths", where, str(error).removeprefix(f"{where}: "))
        return None
    try:
        task = TaskView(path, info, paths, findings, whole=wanted is None, deep=deep)
    except (OSError, ValueError) as error:
        findings.add("task.unjudged", path, f"cannot be listed: {error}")
        return None
    existing = {number.k for number in task.numbers}
    for k in sorted((wanted or set()) - existing):
        findings.add("data.corrupt", path, f"there is no episode {k}", k)
    return task


def _validate_episode(task: TaskView, number: EpisodeNumber) -> None:
    view = EpisodeView(task, number)
    if number in task.row_numbers or number in task.shards.rows:
        _read_row(view)
    if not _read_data(view):
        # Sums over all episodes cannot be judged any more.
        task.whole = False
        return
    task.seen_columns.update(view.columns)
    task.seen_slots.update(view.episode.slots)
    for rule in _EPISODE_RULES:
        _judge(rule, view)


def _read_row(view: EpisodeView) -> None:
    try:
        check_inside(view.task.path, view.episode.row_path)
        view.row = view.episode.row
    except EpisodeError as error:
        where = view.episode.row_path
        rule = "row.number" if "0 rows for the episode" in str(error) else "row.corrupt"
        view.add(rule, where, str(error).removeprefix(f"{where}: "))


def _read_data(view: EpisodeView) -> bool:
    where = view.path
    try:
        data = view.episode.data
        fold = data.fold
        light = data.read([name for name in data.columns if name not in data.heavy])
    except EpisodeError as error:
        view.add("data.corrupt", where, str(error).removeprefix(f"{where}: "))
        return False
    view.data, view.light = data, light
    view.task.raw_rows += data.file_rows
    view.task.rows += data.length
    if fold.dropped:
        view.add(
            "old.rows-per-frame",
            where,
            f"{fold.dropped} rows repeat the number of a frame; {fold.disagreeing} frames have rows of differing times",
        )
    if not data.length:
        view.add("data.empty", where, "has no row")
    return True


def _judge(rule: Callable[[View], None], view: View) -> None:
    """Apply a rule. What it did not foresee becomes a finding: a foreign file must not stop the other rules."""
    try:
        rule(view)
    except Exception as error:  # noqa: BLE001 - see above
        where = view.path
        message = f"{rule.__name__} cannot judge this: {type(error).__name__}: {error}"
        view.add("task.unjudged", where, message[:300])
