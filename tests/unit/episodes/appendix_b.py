"""The layout's example rig, declared: two grippers, an S80C on the head, two USB gloves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from episodes.columns import columns_of
from episodes.declaration import Declaration, DeviceEntry
from episodes.info import next_info
from episodes.naming import gripper_prefix
from episodes.numbering import EpisodeNumber
from episodes.streams import (
    ImuStream,
    MatrixStream,
    StatusStream,
    Stream,
    TrajectoryStream,
    VectorStream,
    VideoStream,
)

GRIPPER_KEYS = {1: "gripper:CC:BA:97:25:B4:44", 2: "gripper:68:EE:8F:C6:0D:BC"}
HEAD_KEY = "s80m:000000000001@1-3.4.1"
SIZES = {
    "stereo_left": (800, 1280),
    "stereo_right": (800, 1280),
    "gripper_rgb": (960, 1280),
    "gripper_2_rgb": (960, 1280),
}
EXTENSIONS = dict.fromkeys(("stereo_left", "stereo_right", "stereo_depth", "gripper_rgb", "gripper_2_rgb"), "mp4")
CREATED = 1790000000.0


def seed_info() -> dict[str, Any]:
    """info.json of the layout document's appendix B, as it stands there."""
    found: dict[str, Any] = json.loads(Path(__file__).with_name("appendix_b.json").read_text(encoding="utf-8"))
    return found


def head() -> tuple[Stream, ...]:
    return (
        VideoStream(slot="stereo_left", clock="device"),
        VideoStream(slot="stereo_right", clock="device"),
        VideoStream(slot="stereo_depth", kind="depth", master="stereo_left", clock="device"),
        ImuStream(),
        ego_trajectory(),
    )


def ego_trajectory() -> TrajectoryStream:
    return TrajectoryStream(
        column="observation.ego_slam_trajectory",
        frame="ego_cam_optical",
        time={"t": "sensor_s", "clock": "camera_sensor", "epoch": "first_frame"},
        owner={"role": "ego", "device_key": HEAD_KEY},
        source_slot="stereo_left",
    )


def gripper_trajectory(rig: int) -> TrajectoryStream:
    return TrajectoryStream(
        column=f"observation.{gripper_prefix(rig)}slam_trajectory",
        frame="down_left_forward",
        time={"t": "sensor_s", "clock": "camera_sensor", "epoch": "enter_press"},
        owner={"role": "gripper", "rig": rig, "device_key": GRIPPER_KEYS[rig]},
        source_slot=f"{gripper_slots(rig)}_stereo_left",
    )


def gripper_slots(rig: int) -> str:
    return "gripper" if rig == 1 else f"gripper_{rig}"


def gripper(rig: int) -> tuple[Stream, ...]:
    at, slots = f"observation.{gripper_prefix(rig)}gripper", gripper_slots(rig)
    sides = ("left", "right")
    return (
        VideoStream(slot=f"{slots}_rgb"),
        VectorStream(column=f"{at}_state", shape=(3,)),
        *(VectorStream(column=f"{at}_{s}_force", shape=(3,), stamp_column=f"{at}_{s}_force_ns") for s in sides),
        *(
            MatrixStream(column=f"{at}_{s}_force_matrix", scale=10, stamp_column=f"{at}_{s}_force_matrix_ns")
            for s in sides
        ),
        gripper_trajectory(rig),
        *(StatusStream(id=f"{slots}_{what}") for what in ("pose", "force_left", "force_right")),
    )


def glove(sensor: str) -> tuple[Stream, ...]:
    side = sensor.removesuffix("_glove")
    return (
        VectorStream(column=f"observation.{sensor}", shape=(16, 16)),
        VectorStream(column=f"observation.{sensor}_imu_quat", shape=(16, 4)),
        VectorStream(column=f"observation.{sensor}_imu_valid", shape=(16,)),
        VectorStream(column=f"observation.{side}_hand_pose", shape=(21, 3)),
        StatusStream(id=sensor),
    )


def declaration(**changes: Any) -> Declaration:
    """The whole rig; ``changes`` replace fields."""
    info = seed_info()
    fields: dict[str, Any] = {
        "rig": "example",
        "task_name": info["task_name"],
        "fps": 30.0,
        "streams": (*head(), *gripper(1), *gripper(2), *glove("left_glove"), *glove("right_glove")),
        "master": "stereo_left",
        "devices": tuple(_device(entry) for entry in info["devices"]),
        "sensors": ("left_glove", "right_glove"),
        "calibration": info["calibration"],
        "app_version": info["app_version"],
    }
    return Declaration(**{**fields, **changes})


def column_names(declared: Declaration) -> list[str]:
    return [column.name for column in columns_of(declared.streams, master=declared.master)]


def info_of(declared: Declaration, old: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    """info.json after episode 0 of ``declared`` in which every column was sampled."""
    arguments: dict[str, Any] = {
        "number": EpisodeNumber(0),
        "columns_written": column_names(declared),
        "cameras": {video.slot: SIZES.get(video.slot, (480, 640)) for video in declared.videos if video.kind == "rgb"},
        "video_extensions": {video.slot: "mp4" for video in declared.videos},
        "now": CREATED,
    }
    return next_info(old, declared, **{**arguments, **changes})


def _device(entry: dict[str, Any]) -> DeviceEntry:
    key: str = entry["key"]
    rig = {value: number for number, value in GRIPPER_KEYS.items()}.get(key)
    side = entry["name"].rsplit("_", 1)[-1]
    return DeviceEntry(
        key=key,
        kind=entry["kind"],
        name=entry["name"],
        slots=tuple(entry["slots"]),
        sensor_column=f"{side}_glove" if entry["kind"] == "data_ble" else None,
        sensor_columns=()
        if rig is None
        else tuple(f"{gripper_prefix(rig)}gripper_{s}_force" for s in ("left", "right")),
        rig=rig,
    )
