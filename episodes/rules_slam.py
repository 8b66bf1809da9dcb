"""Rules of trajectories: points, stamps in lockstep, frames."""

from __future__ import annotations

import numpy as np

from episodes.rules_features import axes_problem
from episodes.views import EpisodeView

__all__ = ["check_trajectories"]

SPEC_KEYS = {"frame", "frame_axes", "time", "owner", "source_slot"}
NORM_SLACK = 0.01
"""Trackers print quaternions with four decimals and less."""
STAMP_SLACK_NS = 5_000_000_000
"""A point may lie this far before the first frame or behind the last one."""


def check_trajectories(view: EpisodeView) -> None:
    """Every trajectory column, its ``_ns``, and what the episodes row and info.json say of it."""
    columns = [name for name in view.columns if name.endswith("slam_trajectory")]
    for name in columns:
        _check_points(view, name)
    for name in view.columns:
        if name.endswith("slam_trajectory_ns") and name.removesuffix("_ns") not in columns:
            view.add("slam.lockstep", view.path, f"{name} has no trajectory beside it")
    _check_specs(view, columns)


def _check_points(view: EpisodeView, name: str) -> None:
    found = view.lists(name)
    if found is None or found[0].dtype != np.float64:
        return
    values, counts = found
    if (counts % 8).any():
        at = int(np.flatnonzero(counts % 8)[0])
        view.add("slam.points", view.path, f"{name}: row {at} has {int(counts[at])} values, no multiple of 8")
        return
    points, per_row = values.reshape(-1, 8), counts // 8
    if not np.isfinite(points).all():
        view.add("slam.pose", view.path, f"{name}: a point is not finite")
    elif len(points):
        off = np.abs(np.linalg.norm(points[:, 4:], axis=1) - 1)
        if (off > NORM_SLACK).any():
            at = int(np.argmax(off))
            view.add("slam.pose", view.path, f"{name}: point {at} has no unit quaternion (off by {off[at]:.3f})")
    stamps = view.lists(f"{name}_ns")
    if stamps is None:
        return
    if not np.array_equal(stamps[1], per_row):
        at = int(np.flatnonzero(stamps[1] != per_row)[0])
        # Old files decided row by row whether points have stamps: an empty list beside points is theirs.
        mild = view.milder if not (stamps[1] != per_row)[stamps[1] != 0].any() else None
        view.add(
            "slam.lockstep",
            view.path,
            f"{name}: row {at} has {int(per_row[at])} points and {int(stamps[1][at])} stamps",
            mild,
        )
        return
    known = stamps[0][stamps[0] != 0].astype(np.int64)
    if len(stamps[0]) and not len(known):
        view.add("slam.unstamped", view.path, f"{name}_ns has no stamp at all")
    elif (np.diff(known) < 0).any():
        view.add("slam.stamps", view.path, f"{name}_ns goes back")
    else:
        _check_within(view, name, known)


def _check_within(view: EpisodeView, name: str, known: np.ndarray[tuple[int], np.dtype[np.int64]]) -> None:
    frames = view.array("hardware_ns")
    if frames is None or not len(known) or view.old:
        return
    frames = frames[frames != 0]
    if len(frames) and (
        int(known[0]) < int(frames.min()) - STAMP_SLACK_NS or int(known[-1]) > int(frames.max()) + STAMP_SLACK_NS
    ):
        view.add("slam.stamps", view.path, f"{name}_ns lies outside of the take's time")


def _check_specs(view: EpisodeView, columns: list[str]) -> None:
    if view.row is None:
        return
    specs = view.row.slam_specs
    if view.old and not specs:
        return
    where = view.episode.row_path
    if set(specs) != set(columns):
        view.add("slam.specs", where, f"slam_specs has {sorted(specs)}, the episode has {columns}")
    for name, spec in specs.items():
        if not isinstance(spec, dict) or set(spec) != SPEC_KEYS:
            keys = sorted(spec) if isinstance(spec, dict) else spec
            view.add("slam.specs", where, f"slam_specs of {name} has {keys}, not exactly {sorted(SPEC_KEYS)}")
            continue
        problem = axes_problem(spec)
        if problem is not None:
            view.add("slam.axes", where, f"slam_specs of {name}: {problem}")
        feature = view.features.get(name)
        if view.newest and isinstance(feature, dict):
            differing = [key for key in sorted(SPEC_KEYS) if spec.get(key) != feature.get(key)]
            if differing:
                view.add("slam.declared-otherwise", where, f"{name}: {', '.join(differing)} differ from the feature")
