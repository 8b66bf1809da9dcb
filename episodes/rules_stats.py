"""Rules of stats.json."""

from __future__ import annotations

import math

from episodes.errors import EpisodeError
from episodes.inside import check_inside
from episodes.stats import read_stats
from episodes.views import TaskView

__all__ = ["check_stats"]

_FIELDS = ("mean", "std", "min", "max")


def check_stats(task: TaskView) -> None:
    """The file, each block, and the counts against what was seen on disk."""
    where = task.paths.stats
    if not where.exists() and not where.is_symlink():
        if task.numbers:
            task.add("stats.missing", where, "is not there, though the task has episodes")
        return
    try:
        check_inside(task.path, where)
        stats = read_stats(where)
    except EpisodeError as error:
        task.add("stats.corrupt", where, str(error))
        return
    if stats is None:
        task.add("stats.corrupt", where, "is no JSON object")
        return
    # Deleting an episode leaves its statistics, so counts can be judged only where none was deleted.
    undeleted = task.whole and len(task.numbers) >= task.total
    for name, block in stats.items():
        problem = _problem(block)
        if problem is not None:
            task.add("stats.block", where, f"{name}: {problem}")
            continue
        if name.endswith(("slam_trajectory", "_ns", "_force_matrix")):
            task.add("stats.column", where, f"{name} is no column that is counted")
        possible = task.imu_samples if name == "observation.imu" else task.raw_rows
        if undeleted and block["count"] > possible:
            task.add("stats.count", where, f"{name} counts {block['count']} samples, the episodes have {possible}")


def _problem(block: object) -> str | None:
    if not isinstance(block, dict):
        return "is no block"
    count = block.get("count")
    if isinstance(count, bool) or not isinstance(count, int) or count < 0:
        return f"count is {count!r}"
    lists = [block.get(field) for field in _FIELDS]
    if not all(isinstance(values, list) for values in lists):
        return "lacks one of mean, std, min, max"
    mean, std, low, high = ([_float(value) for value in values] for values in lists if isinstance(values, list))
    if len({len(mean), len(std), len(low), len(high)}) != 1:
        return "mean, std, min and max differ in width"
    if not all(math.isfinite(value) for values in (mean, std, low, high) for value in values):
        return "a value is not finite"
    if any(value < 0 for value in std):
        return "a std is negative"
    if count and any(
        # float32 samples and merged means: a mean may stand a rounding outside of its samples
        not lowest - slack <= middle <= highest + slack
        for lowest, middle, highest in zip(low, mean, high, strict=True)
        for slack in [1e-6 * (1 + abs(lowest) + abs(highest))]
    ):
        return "a mean is not between min and max"
    return None


def _float(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf
