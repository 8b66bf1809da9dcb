"""Rules of ``features``: the form of each, and none too many."""

from __future__ import annotations

from typing import Any

from episodes.columns import KEY_COLUMNS
from episodes.errors import ContractError
from episodes.expected import Expected, expected_of, is_evidence
from episodes.frames import FRAME_AXES
from episodes.legacy import is_abolished
from episodes.naming import check_column
from episodes.views import TaskView

__all__ = ["axes_problem", "check_features", "matrix_problems"]

_SCALES = {"row_diff_quantized": (1, 10, 100, 1000), "row_flat_raw": (1,)}


def check_features(task: TaskView) -> None:
    """Each feature by itself, without any episode."""
    features, sensors = task.mapping("features"), task.strings("sensors")
    slots = {*task.mapping("cameras"), *task.mapping("video_extensions")}
    for name, feature in features.items():
        if is_abolished(name):
            task.add("old.slam-pose", task.paths.info, f"feature {name} was abolished")
            continue
        if name in KEY_COLUMNS or name.startswith(("status.", "observation.images.")) or name in slots:
            task.add("feature.stray", task.paths.info, f"{name} is no column that features declare")
            continue
        if name != "action" and (is_evidence(name) or not name.startswith("observation.")):
            task.add("feature.stray", task.paths.info, f"{name} is no column that features declare")
            continue
        try:
            check_column(name)
        except ContractError as error:
            task.add("data.names", task.paths.info, str(error))
        for problem in _problems(name, feature, expected_of(name, features, sensors)):
            task.add("feature.form", task.paths.info, f"feature {name}: {problem}")
        if name.endswith("slam_trajectory") and isinstance(feature, dict):
            _check_axes(task, name, feature)


def _problems(name: str, feature: Any, expected: Expected | None) -> list[str]:
    if not isinstance(feature, dict):
        return ["is no object"]
    if expected is None or expected.shape is None:
        return [f"dtype {feature.get('dtype')!r} or shape {feature.get('shape')!r} is none that can be"]
    problems = []
    if feature.get("dtype") not in expected.dtypes:
        problems.append(f"dtype is {feature.get('dtype')!r}, not {' or '.join(expected.dtypes)}")
    if feature.get("shape") != list(expected.shape):
        problems.append(f"shape is {feature.get('shape')!r}, not {list(expected.shape)}")
    if expected.encodings and feature.get("encoding") not in expected.encodings:
        problems.append(f"encoding is {feature.get('encoding')!r}, not {' or '.join(expected.encodings)}")
    if name.endswith("_force_matrix"):
        problems += matrix_problems(feature)
    return problems


def matrix_problems(spec: dict[str, Any]) -> list[str]:
    """What is wrong with how a force matrix is said to be coded."""
    encoding, scale = spec.get("encoding"), spec.get("scale")
    scales = _SCALES.get(encoding) if isinstance(encoding, str) else None
    if scales is None:
        return [f"encoding {encoding!r} is none of {', '.join(_SCALES)}"]
    problems = []
    if isinstance(scale, bool) or not isinstance(scale, (int, float)) or scale not in scales:
        problems.append(f"scale is {scale!r}, none of {', '.join(map(str, scales))}")
    dtype = "int16" if encoding == "row_diff_quantized" else "float32"
    if spec.get("dtype") != dtype:
        problems.append(f"dtype is {spec.get('dtype')!r}, but {encoding} is {dtype}")
    return problems


def axes_problem(spec: dict[str, Any]) -> str | None:
    """What is wrong with the axes of a trajectory's frame."""
    frame, axes = spec.get("frame"), spec.get("frame_axes")
    registered = FRAME_AXES.get(frame) if isinstance(frame, str) else None
    if not isinstance(frame, str) or not frame:
        return f"frame is {frame!r}"
    if not isinstance(axes, dict) or set(axes) != {"+X", "+Y", "+Z"}:
        return f"frame {frame!r} has the axes {axes!r}, not one direction for each of +X, +Y, +Z"
    if registered is not None and axes != registered:
        return f"frame {frame!r} has the axes {axes!r}, it is registered with {registered!r}"
    return None


def _check_axes(task: TaskView, name: str, feature: dict[str, Any]) -> None:
    if "frame" not in feature:
        task.add("old.frame", task.paths.info, f"{name} declares no frame, so it is right_forward_up")
        return
    problem = axes_problem(feature)
    if problem is not None:
        task.add("slam.axes", task.paths.info, f"feature {name}: {problem}")
