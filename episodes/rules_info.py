"""Rules of info.json: its keys, cameras, devices, frames."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

from episodes.errors import ContractError
from episodes.info import SENSOR_DIM
from episodes.inside import check_inside
from episodes.legacy import glove_devices
from episodes.naming import check_slot
from episodes.views import TaskView

__all__ = ["check_info", "check_info_totals", "check_keys"]

MAX_EPISODES = 10**9
MAX_UNIX_S = 1e11
MAX_SIDE = 65536
MAX_TASKS_BYTES = 1024 * 1024


def _integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(_as_float(value))


def _as_float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _text(value: object) -> bool:
    return isinstance(value, str)


_KEYS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "chunks_size": ("a whole number", _integer),
    "data_path": ("text", _text),
    "video_path": ("text", _text),
    "episodes_path": ("text", _text),
    "codebase_version": ("text", _text),
    "app_version": ("text", _text),
    "fps": ("a rate above 0 and up to 1000", lambda value: _number(value) and 0 < value <= 1000),
    "video": ("true or false", lambda value: isinstance(value, bool)),
    "task_name": ("text", _text),
    "features": ("an object", lambda value: isinstance(value, dict)),
    "cameras": ("an object", lambda value: isinstance(value, dict)),
    "video_extensions": ("an object", lambda value: isinstance(value, dict)),
    "devices": ("a list", lambda value: isinstance(value, list)),
    "device_names": ("an object", lambda value: isinstance(value, dict)),
    "sensors": (
        "a list of text",
        lambda value: isinstance(value, list) and all(isinstance(item, str) for item in value),
    ),
    "sensor_dim": (f"{SENSOR_DIM}", lambda value: _integer(value) and value == SENSOR_DIM),
    "calibration": ("an object", lambda value: isinstance(value, dict)),
    "total_episodes": (
        f"a whole number up to {MAX_EPISODES}",
        lambda value: _integer(value) and 0 <= value <= MAX_EPISODES,
    ),
    "created_at": ("Unix seconds", lambda value: _number(value) and 0 <= value < MAX_UNIX_S),
}


def check_keys(info: dict[str, Any]) -> list[str]:
    """What is wrong with the keys of info.json, one sentence each."""
    problems = []
    for key, (what, fits) in _KEYS.items():
        if key not in info:
            problems.append(f"key {key} is missing")
        elif not fits(info[key]):
            problems.append(f"key {key} is {_short(info[key])}, not {what}")
    return problems


def check_info(task: TaskView) -> None:
    """The rules that need nothing but info.json and tasks.jsonl."""
    _check_cameras(task)
    _check_devices(task)
    _check_frames(task)
    for key, value in task.mapping("calibration").items():
        if not isinstance(value, dict):
            task.add("info.calibration", task.paths.info, f"calibration {key!r} is {_short(value)}, no object")
    _check_tasks(task)


def check_info_totals(task: TaskView) -> None:
    """The rules that compare info.json with what stands on disk."""
    numbers = task.data_numbers | task.row_numbers | task.video_numbers | set(task.shards.rows) | set(task.shards.data)
    highest = max((number.n for number in numbers - set(task.staged)), default=0)
    if task.total < highest:
        task.add(
            "info.total-episodes", task.paths.info, f"total_episodes is {task.total}, but episode {highest} exists"
        )
    if not task.whole:
        return
    for slot in task.mapping("video_extensions"):
        if task.numbers and slot not in task.seen_slots:
            task.add("info.phantom-slot", task.paths.info, f"no episode has a video of slot {slot!r}")
    for name in task.mapping("features"):
        if task.numbers and name not in task.seen_columns:
            task.add("feature.unused", task.paths.info, f"no episode has the column {name}")


def _check_cameras(task: TaskView) -> None:
    where = task.paths.info
    cameras, extensions = task.mapping("cameras"), task.mapping("video_extensions")
    for slot, camera in cameras.items():
        size = [camera.get("height"), camera.get("width")] if isinstance(camera, dict) else []
        if not size or not all(isinstance(side, int) and 0 < side <= MAX_SIDE for side in size):
            task.add("info.cameras", where, f"camera {slot!r} has no height and width that can be: {_short(camera)}")
        if slot not in extensions:
            task.add("info.video-extensions", where, f"camera {slot!r} is not in video_extensions")
        if slot == "depth" or slot.endswith("_depth"):
            task.add("info.cameras", where, f"depth slot {slot!r} stands in cameras")
    for slot, extension in extensions.items():
        if extension not in ("mp4", "mkv"):
            task.add("info.video-extensions", where, f"slot {slot!r} has the extension {_short(extension)}")
        try:
            check_slot(slot)
        except ContractError as error:
            task.add("info.video-extensions", where, str(error))


def _check_devices(task: TaskView) -> None:
    where = task.paths.info
    devices = task.info.get("devices")
    keys: set[str] = set()
    owners: dict[str, str] = {}
    for device in devices if isinstance(devices, list) else []:
        if not isinstance(device, dict) or not all(_text(device.get(name)) for name in ("key", "kind", "name")):
            task.add("info.devices", where, f"a device has no key, kind and name: {_short(device)}")
            continue
        key, slots = device["key"], device.get("slots")
        if key in keys:
            task.add("info.devices", where, f"device {key} is there twice")
        keys.add(key)
        if not isinstance(slots, list) or not all(_text(slot) for slot in slots):
            task.add("info.devices", where, f"device {key}: slots is {_short(slots)}, no list of text")
            continue
        for slot in slots:
            if owners.setdefault(slot, key) != key:
                task.add("info.devices", where, f"slot {slot!r} belongs to both {owners[slot]} and {key}")
            if slot not in task.mapping("device_names"):
                task.add("info.device-names", where, f"slot {slot!r} of {key} has no name in device_names")
    declared = {
        name.removeprefix("observation.")
        for name in task.mapping("features")
        if name.startswith("observation.") and name.endswith("_glove")
    }
    for sensor in sorted(declared - set(task.strings("sensors"))):
        task.add("info.sensors", where, f"glove column {sensor!r} is not in sensors")
    for sensor in sorted((declared | set(task.strings("sensors"))) - set(glove_devices(task.info))):
        task.add("old.glove", where, f"no device says that it writes {sensor!r}")


def _check_frames(task: TaskView) -> None:
    where = task.paths.info
    features, frames = task.mapping("features"), task.info.get("slam_frames")
    columns = {
        name: feature
        for name, feature in features.items()
        if name.endswith("slam_trajectory") and isinstance(feature, dict)
    }
    if frames is not None:
        declared = {name: feature.get("frame") for name, feature in columns.items() if "frame" in feature}
        if frames != declared:
            task.add("info.slam-frames", where, f"slam_frames is {_short(frames)}, the features say {_short(declared)}")
    grippers: dict[int, Any] = {}
    for name, feature in columns.items():
        owner = feature.get("owner")
        role = owner.get("role") if isinstance(owner, dict) else ("ego" if ".ego_" in name else "gripper")
        if role == "gripper" and "frame" in feature:
            rig = owner.get("rig") if isinstance(owner, dict) else None
            by_name = 2 if ".gripper_2_" in name else 1
            grippers[rig if isinstance(rig, int) else by_name] = feature["frame"]
    wanted = grippers[min(grippers)] if grippers else None
    found = task.info.get("gripper_slam_frame")
    if found != wanted:
        task.add("info.gripper-frame", where, f"gripper_slam_frame is {_short(found)}, the trajectories say {wanted!r}")


def _check_tasks(task: TaskView) -> None:
    where = task.paths.tasks
    try:
        check_inside(task.path, where)
        with where.open("rb") as file:
            lines = file.read(MAX_TASKS_BYTES).decode().splitlines()
        text = json.loads(lines[0])["task"] if lines else None
    except Exception as error:  # noqa: BLE001 - whatever a foreign file makes of it
        task.add("info.tasks", where, f"cannot be read: {error}")
        return
    name = task.info.get("task_name")
    if not isinstance(text, str) or (name and text != name):
        task.add("info.tasks", where, f"says the task is {_short(text)}, info.json says {_short(name)}")


def _short(value: object) -> str:
    try:
        text = repr(value)
    except (ValueError, RecursionError):
        return "a value that cannot be shown"
    return text if len(text) <= 120 else text[:117] + "…"
