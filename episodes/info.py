"""``meta/info.json``: the task's declaration, and how an episode's goes into it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from episodes.columns import columns_of
from episodes.declaration import Declaration
from episodes.errors import UnknownFormatError
from episodes.json_form import json_text, read_json_object
from episodes.naming import gripper_prefix
from episodes.numbering import EpisodeNumber
from episodes.paths import CHUNKS_SIZE, DATA_PATH, EPISODES_PATH, VIDEO_PATH

__all__ = ["FORMAT", "SENSOR_DIM", "json_text", "next_info", "read_info", "tasks_jsonl"]

FORMAT = "pooled_episodes_v1"
CODEBASE_VERSION = "v3.0"
SENSOR_DIM = 256
GRIPPER_TRAJECTORIES = tuple(f"observation.{gripper_prefix(rig)}slam_trajectory" for rig in (1, 2))
"""Old readers know one frame only: the first of these that the task has."""
COLUMN_CODES: dict[str, Any] = {
    "ts_src": {"0": "none", "1": "sensor timestamp", "2": "frame timestamp", "3": "host"},
    "rgb_dup": {"0": "a new frame", "1": "the frame of the row before, repeated"},
    "depth_dup": {"0": "a new frame", "1": "the frame of the row before, repeated"},
    "rgb_gap": "frames missing before this one, by device number",
    "depth_gap": "frames missing before this one, by device number",
    "host_ns": "receipt, host monotonic clock, ns",
    "depth_ns": "capture time of the depth frame, on the clock of hardware_ns",
}


def read_info(path: Path) -> dict[str, Any]:
    """A task's info.json.

    Raises:
        UnknownFormatError: there is none, or it is of another format. CorruptFileError: it is damaged.
    """
    try:
        found = read_json_object(path)
    except FileNotFoundError as error:
        raise UnknownFormatError(f"{path}: not there, so {path.parent.parent} is no task of rigflow's") from error
    if found.get("format") != FORMAT:
        raise UnknownFormatError(f"{path}: format is {found.get('format')!r}, only {FORMAT!r} is read")
    return found


def next_info(
    old: Mapping[str, Any] | None,
    declaration: Declaration,
    *,
    number: EpisodeNumber,
    columns_written: Iterable[str],
    cameras: Mapping[str, tuple[int, int]],
    video_extensions: Mapping[str, str],
    now: float,
) -> dict[str, Any]:
    """The task's info.json after this episode.

    Args:
        old: the task's info before, None for the first episode; keys that are not known stay.
        columns_written: the columns that stand in the episode's parquet file: only they are declared.
        cameras: slot to (height, width) of each colour slot. video_extensions: slot to ``mp4`` or ``mkv``, depth too.
        now: Unix time, becomes ``created_at`` of the first episode.
    """
    old = old or {}
    written = set(columns_written)
    features: dict[str, Any] = {
        column.name: column.feature
        for column in columns_of(declaration.streams, master=declaration.master)
        if column.feature is not None and column.name in written
    }
    info: dict[str, Any] = dict(old)
    info.update(
        format=FORMAT,
        chunks_size=old.get("chunks_size", CHUNKS_SIZE),
        data_path=old.get("data_path", DATA_PATH),
        video_path=old.get("video_path", VIDEO_PATH),
        episodes_path=old.get("episodes_path", EPISODES_PATH),
        codebase_version=old.get("codebase_version", CODEBASE_VERSION),
        app_version=declaration.app_version,
        fps=old.get("fps", float(declaration.fps)),
        task_name=declaration.task_name,
        features={**_mapping(old, "features"), **features},
        cameras={**_mapping(old, "cameras"), **_cameras(declaration, cameras)},
        video_extensions={**_mapping(old, "video_extensions"), **video_extensions},
        devices=[device.as_info() for device in declaration.devices],
        device_names={
            **_mapping(old, "device_names"),
            **{slot: device.name for device in declaration.devices for slot in device.slots},
        },
        sensors=sorted({*_list(old, "sensors"), *_sensors_written(declaration, written)}),
        sensor_dim=SENSOR_DIM,
        calibration=declaration.calibration,
        total_episodes=max(_int(old, "total_episodes"), number.n),
        created_at=old.get("created_at", now),
    )
    info["video"] = bool(info["cameras"] or info["video_extensions"])
    _declare_frames(info)
    codes = {
        video.evidence_prefix + name: text
        for video in declaration.videos
        if video.evidence and video.kind == "rgb"
        for name, text in COLUMN_CODES.items()
        if video.evidence_prefix + name in written
    }
    if codes:
        info["column_codes"] = {**_mapping(old, "column_codes"), **codes}
    return info


def tasks_jsonl(task_name: str) -> str:
    """``meta/tasks.jsonl``."""
    return json.dumps({"task_index": 0, "task": task_name or "default recording"}, ensure_ascii=False) + "\n"


def _cameras(declaration: Declaration, sizes: Mapping[str, tuple[int, int]]) -> dict[str, dict[str, Any]]:
    rates = {video.slot: video.source_fps for video in declaration.videos}
    depth = {video.slot for video in declaration.videos if video.kind == "depth"}
    cameras: dict[str, dict[str, Any]] = {}
    for slot, (height, width) in sizes.items():
        if slot in depth:
            continue
        cameras[slot] = {"height": height, "width": width}
        rate = rates.get(slot)
        if rate is not None and rate != declaration.fps:
            cameras[slot]["source_fps"] = rate
    return cameras


def _sensors_written(declaration: Declaration, written: set[str]) -> list[str]:
    return [sensor for sensor in declaration.sensors if f"observation.{sensor}" in written]


def _declare_frames(info: dict[str, Any]) -> None:
    """``slam_frames`` and ``gripper_slam_frame``, from the features themselves, so that they cannot differ."""
    frames = {
        name: feature["frame"]
        for name, feature in info["features"].items()
        if name.endswith("slam_trajectory") and isinstance(feature, dict) and "frame" in feature
    }
    if not frames:
        return
    info["slam_frames"] = {**_mapping(info, "slam_frames"), **frames}
    for column in GRIPPER_TRAJECTORIES:
        if column in frames:
            info["gripper_slam_frame"] = frames[column]
            break


def _mapping(info: Mapping[str, Any], key: str) -> dict[str, Any]:
    found = info.get(key)
    return dict(found) if isinstance(found, dict) else {}


def _list(info: Mapping[str, Any], key: str) -> list[str]:
    found = info.get(key)
    return [item for item in found if isinstance(item, str)] if isinstance(found, list) else []


def _int(info: Mapping[str, Any], key: str) -> int:
    found = info.get(key)
    return found if isinstance(found, int) and not isinstance(found, bool) else 0
