"""Every rule of the validator has a broken task that it finds, and that no other rule finds."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from episodes import validator
from episodes.rules import RULES
from episodes.validator import validate_task
from episodes.views import EpisodeView
from tests.task_builder import FPS, MONO_NS, ROWS, EpisodeParts, TaskBuilder, matrix_spec, stats_block, video_bytes

MATRIX = "observation.gripper_left_force_matrix"
SLAM = "observation.slam_trajectory"
Break = Callable[[TaskBuilder, EpisodeParts], None]


@dataclass(frozen=True)
class Case:
    """A broken task: ``before`` it is written or ``after``; ``also``: the rules that cannot but find it too."""

    rule: str
    before: Break | None = None
    after: Break | None = None
    also: frozenset[str] = frozenset()
    deep: bool = False
    depth: str = "ffv1"


CASES: list[Case] = []


def breaks(rule: str, *, after: bool = False, also: tuple[str, ...] = (), **rest: Any) -> Callable[[Break], Break]:
    def add(function: Break) -> Break:
        before, afterwards = (None, function) if after else (function, None)
        CASES.append(Case(rule, before, afterwards, frozenset(also), **rest))
        return function

    return add


# The task


@breaks("task.format")
def _another_format(builder: TaskBuilder, parts: EpisodeParts) -> None:
    builder.info["format"] = "lerobot_v3"


@breaks("task.format", after=True)
def _no_info(builder: TaskBuilder, parts: EpisodeParts) -> None:
    (builder.path / "meta/info.json").unlink()


@breaks("info.corrupt", after=True)
def _half_an_info(builder: TaskBuilder, parts: EpisodeParts) -> None:
    (builder.path / "meta/info.json").write_text('{"format": "pooled_episodes_v1", "fps": 3')


@breaks("info.corrupt", after=True)
def _info_with_a_number_too_long_to_read(builder: TaskBuilder, parts: EpisodeParts) -> None:
    text = '{"format": "pooled_episodes_v1", "total_episodes": ' + "9" * 6000 + "}"
    (builder.path / "meta/info.json").write_text(text)


@breaks("info.corrupt", after=True)
def _info_nested_without_end(builder: TaskBuilder, parts: EpisodeParts) -> None:
    (builder.path / "meta/info.json").write_text("[" * 100_000)


@breaks("info.corrupt", after=True)
def _info_is_a_pipe(builder: TaskBuilder, parts: EpisodeParts) -> None:
    (builder.path / "meta/info.json").unlink()
    os.mkfifo(builder.path / "meta/info.json")


@breaks("info.keys")
def _a_missing_key(builder: TaskBuilder, parts: EpisodeParts) -> None:
    del builder.info["app_version"]


@breaks("info.keys")
def _a_number_without_end(builder: TaskBuilder, parts: EpisodeParts) -> None:
    builder.info["created_at"] = float("inf")


@breaks("info.keys", also=("stats.count",))
def _huge_totals(builder: TaskBuilder, parts: EpisodeParts) -> None:
    builder.info["sensor_dim"] = 10**400
    builder.stats = {"observation.left_glove": stats_block(10**30)}


@breaks("info.paths")
def _a_template_that_leaves_the_task(builder: TaskBuilder, parts: EpisodeParts) -> None:
    builder.info["video_path"] = "../../{image_key}/{f}.{ext}"


@breaks("info.paths")
def _a_huge_chunk_size(builder: TaskBuilder, parts: EpisodeParts) -> None:
    builder.info["chunks_size"] = 10**18


@breaks("info.total-episodes")
def _a_total_below_the_highest_number(builder: TaskBuilder, parts: EpisodeParts) -> None:
    builder.info["total_episodes"] = 0


@breaks("info.cameras", also=("video.size",))
def _a_camera_without_size(builder: TaskBuilder, parts: EpisodeParts) -> None:
    del builder.info["cameras"]["head_rgb"]["height"]
    builder.info["cameras"]["head_rgb"]["width"] = -1


@breaks("info.video-extensions", also=("info.phantom-slot",))
def _a_slot_of_a_foreign_extension(builder: TaskBuilder, parts: EpisodeParts) -> None:
    builder.info["video_extensions"]["extra"] = "exe"


@breaks("info.video-extensions", also=("info.phantom-slot",))
def _a_slot_that_leaves_its_folder(builder: TaskBuilder, parts: EpisodeParts) -> None:
    builder.info["video_extensions"]["../../etc"] = "mp4"


@breaks("info.phantom-slot")
def _a_slot_that_never_was(builder: TaskBuilder, parts: EpisodeParts) -> None:
    builder.info["video_extensions"]["second_depth"] = "mp4"


@breaks("info.devices")
def _two_devices_of_one_slot(builder: TaskBuilder, parts: EpisodeParts) -> None:
    builder.info["devices"].append({"key": "uvc:2", "kind": "uvc", "name": "b", "slots": ["head_rgb"]})


@breaks("info.devices")
def _one_device_twice(builder: TaskBuilder, parts: EpisodeParts) -> None:
    builder.info["devices"].append({"key": "d435:1", "kind": "d435", "name": "b", "slots": []})


@breaks("info.devices")
def _a_device_that_is_a_number(builder: TaskBuilder, parts: EpisodeParts) -> None:
    builder.info["devices"].append(7)


@breaks("info.device-names")
def _a_slot_without_a_name(builder: TaskBuilder, parts: EpisodeParts) -> None:
    del builder.info["device_names"]["gripper_pose"]


@breaks("info.sensors")
def _a_glove_that_is_no_sensor(builder: TaskBuilder, parts: EpisodeParts) -> None:
    builder.info["sensors"] = []


@breaks("info.slam-frames")
def _slam_frames_of_another_table(builder: TaskBuilder, parts: EpisodeParts) -> None:
    builder.info["slam_frames"]["observation.ego_slam_trajectory"] = "down_left_forward"


@breaks("info.gripper-frame")
def _a_gripper_frame_with_only_an_ego(builder: TaskBuilder, parts: EpisodeParts) -> None:
    for name in (SLAM, f"{SLAM}_ns"):
        del builder.info["features"][name], parts.columns[name]
    del builder.info["slam_frames"][SLAM], parts.row["slam_specs"][SLAM]


@breaks("info.calibration")
def _a_calibration_of_text(builder: TaskBuilder, parts: EpisodeParts) -> None:
    builder.info["calibration"] = {"head_stereo": "lost"}


@breaks("info.tasks", after=True)
def _no_tasks(builder: TaskBuilder, parts: EpisodeParts) -> None:
    (builder.path / "meta/tasks.jsonl").unlink()


@breaks("info.tasks", after=True)
def _tasks_of_another_task(builder: TaskBuilder, parts: EpisodeParts) -> None:
    (builder.path / "meta/tasks.jsonl").write_text('{"task_index": 0, "task": "another"}\n')


@breaks("feature.form")
def _a_flat_glove(builder: TaskBuilder, parts: EpisodeParts) -> None:
    builder.info["features"]["observation.left_glove"]["shape"] = [256]


@breaks("feature.form")
def _a_trajectory_without_encoding(builder: TaskBuilder, parts: EpisodeParts) -> None:
    del builder.info["features"][SLAM]["encoding"]


@breaks("feature.form", also=("force.declared-otherwise",))
def _a_matrix_without_scale(builder: TaskBuilder, parts: EpisodeParts) -> None:
    del builder.info["features"][MATRIX]["scale"]


@breaks("feature.form")
def _a_feature_of_a_shape_that_cannot_be(builder: TaskBuilder, parts: EpisodeParts) -> None:
    builder.info["features"]["observation.temperature"]["shape"] = [10**9, 10**9]


@breaks("feature.stray", also=("feature.unused",))
def _a_feature_that_is_a_video(builder: TaskBuilder, parts: EpisodeParts) -> None:
    builder.info["features"]["observation.images.head"] = {"dtype": "video", "shape": [3, 48, 64]}


@breaks("feature.stray")
def _a_key_column_as_feature(builder: TaskBuilder, parts: EpisodeParts) -> None:
    builder.info["features"]["hardware_ns"] = {"dtype": "int64", "shape": [1]}


@breaks("feature.missing")
def _a_column_without_feature(builder: TaskBuilder, parts: EpisodeParts) -> None:
    del builder.info["features"]["observation.temperature"]


@breaks("feature.unused")
def _a_feature_without_column(builder: TaskBuilder, parts: EpisodeParts) -> None:
    builder.info["features"]["observation.humidity"] = {"dtype": "float32", "shape": [2]}


# Statistics


@breaks("stats.corrupt", after=True)
def _statistics_that_are_a_list(builder: TaskBuilder, parts: EpisodeParts) -> None:
    (builder.path / "meta/stats.json").write_text("[1, 2")


@breaks("stats.missing")
def _no_statistics(builder: TaskBuilder, parts: EpisodeParts) -> None:
    builder.stats = None


@breaks("stats.block")
def _a_mean_that_is_no_number(builder: TaskBuilder, parts: EpisodeParts) -> None:
    builder.stats = {"observation.left_glove": {**stats_block(2), "mean": [float("nan")] * 256}}


@breaks("stats.block")
def _a_mean_above_the_maximum(builder: TaskBuilder, parts: EpisodeParts) -> None:
    builder.stats = {"observation.left_glove": {**stats_block(2), "mean": [1.5] * 256}}


@breaks("stats.block")
def _a_block_of_two_widths(builder: TaskBuilder, parts: EpisodeParts) -> None:
    builder.stats = {"observation.left_glove": {**stats_block(2), "std": [0.0]}}


@breaks("stats.count")
def _an_episode_counted_twice(builder: TaskBuilder, parts: EpisodeParts) -> None:
    builder.stats = {"observation.left_glove": stats_block(2 * ROWS)}


@breaks("stats.count")
def _imu_samples_counted_twice(builder: TaskBuilder, parts: EpisodeParts) -> None:
    builder.stats = {"observation.imu": stats_block(2 * ROWS + 1, 6)}


@breaks("stats.column")
def _statistics_of_a_trajectory(builder: TaskBuilder, parts: EpisodeParts) -> None:
    builder.stats = {SLAM: stats_block(2, 8)}


# Layout


@breaks("layout.link", after=True, also=("video.corrupt",))
def _a_video_linked_from_outside(builder: TaskBuilder, parts: EpisodeParts) -> None:
    video = builder.video_path(0, "head_rgb")
    video.rename(builder.path.parent / "outside.mp4")
    video.symlink_to(builder.path.parent / "outside.mp4")


@breaks("layout.link", after=True, also=("data.corrupt",))
def _data_that_is_a_pipe(builder: TaskBuilder, parts: EpisodeParts) -> None:
    builder.data_path(0).unlink()
    os.mkfifo(builder.data_path(0))


@breaks("layout.link", after=True, also=("data.corrupt",))
def _data_that_links_to_itself(builder: TaskBuilder, parts: EpisodeParts) -> None:
    builder.data_path(0).unlink()
    builder.data_path(0).symlink_to(builder.data_path(0))


@breaks("layout.name", after=True, also=("data.corrupt",))
def _a_file_of_another_padding(builder: TaskBuilder, parts: EpisodeParts) -> None:
    data = builder.data_path(0)
    data.rename(data.with_name("episode-0.parquet"))


@breaks("layout.slot-name", after=True, also=("video.extension", "info.phantom-slot", "video.missing"))
def _a_slot_folder_of_a_foreign_name(builder: TaskBuilder, parts: EpisodeParts) -> None:
    folder = builder.video_path(0, "gripper_rgb").parent
    folder.rename(folder.with_name("gripper rgb;"))


@breaks("layout.orphan-data", after=True)
def _data_without_row(builder: TaskBuilder, parts: EpisodeParts) -> None:
    builder.row_path(0).unlink()


@breaks("layout.orphan-row", after=True, also=("layout.orphan-video",))
def _a_row_without_data(builder: TaskBuilder, parts: EpisodeParts) -> None:
    builder.data_path(0).unlink()


@breaks("layout.orphan-video", after=True)
def _a_video_alone(builder: TaskBuilder, parts: EpisodeParts) -> None:
    video = builder.video_path(0, "head_rgb")
    video.with_name("episode-001.mp4").write_bytes(video.read_bytes())
    info = {**builder.info, "total_episodes": 2}
    (builder.path / "meta/info.json").write_text(json.dumps(info))


@breaks("layout.staging", after=True)
def _a_staging_folder_with_nothing_in_it(builder: TaskBuilder, parts: EpisodeParts) -> None:
    (builder.path / ".1.recording").mkdir()


@breaks("layout.staging", after=True)
def _a_staging_folder_whose_manifest_is_a_pipe(builder: TaskBuilder, parts: EpisodeParts) -> None:
    (builder.path / ".1.recording").mkdir()
    os.mkfifo(builder.path / ".1.recording/manifest.json")


@breaks("layout.recycled", after=True)
def _a_marker_of_a_number_that_is_taken(builder: TaskBuilder, parts: EpisodeParts) -> None:
    (builder.path / "meta/recycled_episode.json").write_text('{"episode_index": 1}')


@breaks("layout.recycled", after=True)
def _a_marker_of_nothing(builder: TaskBuilder, parts: EpisodeParts) -> None:
    (builder.path / "meta/recycled_episode.json").write_text('{"episode_index": "first"}')


@breaks("layout.foreign", after=True)
def _a_foreign_file(builder: TaskBuilder, parts: EpisodeParts) -> None:
    (builder.path / "notes.txt").write_text("left glove was loose")


# Rows


@breaks("data.corrupt", after=True)
def _data_without_its_footer(builder: TaskBuilder, parts: EpisodeParts) -> None:
    content = builder.data_path(0).read_bytes()
    builder.data_path(0).write_bytes(content[:-100])


@breaks("data.corrupt", after=True)
def _data_that_is_a_picture(builder: TaskBuilder, parts: EpisodeParts) -> None:
    builder.data_path(0).write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(4000))


@breaks("data.empty", also=("row.length", "video.rows", "stats.count"))
def _no_rows(builder: TaskBuilder, parts: EpisodeParts) -> None:
    parts.columns = {name: column.slice(0, 0) for name, column in parts.columns.items()}


@breaks("data.keys", also=("feature.unused",))
def _no_action(builder: TaskBuilder, parts: EpisodeParts) -> None:
    del parts.columns["action"]


@breaks("data.names", also=("feature.missing",))
def _a_first_gripper_with_a_prefix(builder: TaskBuilder, parts: EpisodeParts) -> None:
    parts.set("observation.gripper_1_width", [0.1] * ROWS, pa.float64())


@breaks("data.names", also=("feature.missing",))
def _a_column_in_capitals(builder: TaskBuilder, parts: EpisodeParts) -> None:
    parts.set("observation.Width", [0.1] * ROWS, pa.float64())


@breaks("data.type")
def _a_float64_timestamp(builder: TaskBuilder, parts: EpisodeParts) -> None:
    parts.columns["timestamp"] = parts.columns["timestamp"].cast(pa.float64())


@breaks("data.type")
def _a_force_of_no_fixed_size(builder: TaskBuilder, parts: EpisodeParts) -> None:
    column = parts.columns["observation.gripper_left_force"]
    parts.columns["observation.gripper_left_force"] = pa.array(column.to_pylist(), pa.list_(pa.float32()))


@breaks("data.type")
def _a_rig_vector_that_is_not_as_declared(builder: TaskBuilder, parts: EpisodeParts) -> None:
    builder.info["features"]["observation.temperature"]["dtype"] = "float32"


@breaks("data.null")
def _a_null(builder: TaskBuilder, parts: EpisodeParts) -> None:
    parts.edit("observation.left_glove", 2, None)


@breaks("data.null")
def _a_null_inside_a_list(builder: TaskBuilder, parts: EpisodeParts) -> None:
    parts.edit("observation.gripper_left_force", 2, [1.0, None, 2.0])


@breaks("data.not-finite")
def _a_force_that_is_no_number(builder: TaskBuilder, parts: EpisodeParts) -> None:
    parts.edit("observation.gripper_left_force", 2, [1.0, float("nan"), 2.0])


@breaks("data.episode-index")
def _rows_of_another_episode(builder: TaskBuilder, parts: EpisodeParts) -> None:
    parts.edit("episode_index", 3, 9)


@breaks("data.frame-index")
def _a_hole_in_the_frames(builder: TaskBuilder, parts: EpisodeParts) -> None:
    parts.edit("frame_index", ROWS - 1, ROWS)


@breaks("data.timestamp", also=("data.wall-clock",))
def _time_that_stands(builder: TaskBuilder, parts: EpisodeParts) -> None:
    parts.edit("timestamp", 4, parts.columns["timestamp"][3].as_py())


@breaks("data.timestamp")
def _a_time_that_is_none(builder: TaskBuilder, parts: EpisodeParts) -> None:
    parts.edit("timestamp", 4, float("nan"))


@breaks("data.wall-time", also=("data.wall-clock",))
def _wall_time_that_goes_back(builder: TaskBuilder, parts: EpisodeParts) -> None:
    parts.edit("wall_time", 4, parts.columns["wall_time"][2].as_py())


@breaks("data.wall-clock")
def _wall_time_off_its_clock(builder: TaskBuilder, parts: EpisodeParts) -> None:
    parts.row["clock"]["wall_s"] += 0.5


@breaks("data.rate")
def _rows_that_were_lost(builder: TaskBuilder, parts: EpisodeParts) -> None:
    shift = np.where(np.arange(ROWS) < 4, 0.0, 0.3)
    parts.set("timestamp", parts.columns["timestamp"].to_numpy() + shift.astype(np.float32), pa.float32())
    parts.set("wall_time", parts.columns["wall_time"].to_numpy() + shift, pa.float64())


@breaks("data.hardware-ns")
def _capture_times_that_go_back(builder: TaskBuilder, parts: EpisodeParts) -> None:
    parts.edit("hardware_ns", 4, MONO_NS + 1)


@breaks("data.hardware-ns", also=("data.hardware-ns-span",))
def _a_capture_time_below_zero(builder: TaskBuilder, parts: EpisodeParts) -> None:
    parts.edit("hardware_ns", 0, -(2**40))


@breaks("data.hardware-ns-missing")
def _a_row_without_capture_time(builder: TaskBuilder, parts: EpisodeParts) -> None:
    parts.edit("hardware_ns", 3, 0)


@breaks("data.hardware-ns-span")
def _a_clock_that_runs_ten_times_too_fast(builder: TaskBuilder, parts: EpisodeParts) -> None:
    parts.set("hardware_ns", MONO_NS + np.arange(ROWS) * 333_333_333, pa.int64())


@breaks("data.frame-ns")
def _a_slot_whose_times_go_back(builder: TaskBuilder, parts: EpisodeParts) -> None:
    parts.edit("observation.gripper_rgb_frame_ns", 5, MONO_NS)


@breaks("data.raw-hw-ns")
def _device_stamps_that_are_none(builder: TaskBuilder, parts: EpisodeParts) -> None:
    parts.set("raw_hw_ns", [0] * ROWS, pa.int64())


@breaks("data.status")
def _a_status_of_its_own(builder: TaskBuilder, parts: EpisodeParts) -> None:
    parts.edit("status.left_glove", 1, "perhaps")


@breaks("data.evidence")
def _a_duplicate_of_two(builder: TaskBuilder, parts: EpisodeParts) -> None:
    parts.edit("rgb_dup", 1, 2)


@breaks("data.imu")
def _imu_stamps_out_of_lockstep(builder: TaskBuilder, parts: EpisodeParts) -> None:
    parts.edit("imu_ts_ns", 1, [21])


@breaks("data.imu")
def _imu_stamps_that_go_back(builder: TaskBuilder, parts: EpisodeParts) -> None:
    parts.edit("imu_ts_ns", 1, [31, 21])


@breaks("data.imu", also=("stats.missing",))
def _imu_without_stamps(builder: TaskBuilder, parts: EpisodeParts) -> None:
    del parts.columns["imu_ts_ns"]
    builder.stats = None


@breaks("data.unsampled")
def _a_trajectory_without_any_point(builder: TaskBuilder, parts: EpisodeParts) -> None:
    for name, kind in ((SLAM, pa.float64()), (f"{SLAM}_ns", pa.int64())):
        parts.set(name, [[]] * ROWS, pa.list_(kind))


# Trajectories


@breaks("slam.points")
def _a_point_of_seven(builder: TaskBuilder, parts: EpisodeParts) -> None:
    parts.edit(SLAM, 0, [0.0] * 7)


@breaks("slam.lockstep")
def _a_stamp_that_was_lost(builder: TaskBuilder, parts: EpisodeParts) -> None:
    parts.edit(f"{SLAM}_ns", 1, [MONO_NS])


@breaks("slam.lockstep", also=("slam.specs", "feature.unused"))
def _stamps_without_their_trajectory(builder: TaskBuilder, parts: EpisodeParts) -> None:
    del parts.columns[SLAM]


@breaks("slam.unstamped")
def _a_column_of_no_stamps(builder: TaskBuilder, parts: EpisodeParts) -> None:
    column = parts.columns[f"{SLAM}_ns"].to_pylist()
    parts.set(f"{SLAM}_ns", [[0] * len(row) for row in column], pa.list_(pa.int64()))


@breaks("slam.stamps")
def _stamps_that_go_back(builder: TaskBuilder, parts: EpisodeParts) -> None:
    parts.edit(f"{SLAM}_ns", 0, [MONO_NS + 4_000_000_000])


@breaks("slam.stamps")
def _stamps_of_another_clock(builder: TaskBuilder, parts: EpisodeParts) -> None:
    column = parts.columns[f"{SLAM}_ns"].to_pylist()
    parts.set(f"{SLAM}_ns", [[stamp - MONO_NS for stamp in row] for row in column], pa.list_(pa.int64()))


@breaks("slam.pose")
def _a_quaternion_of_zeros(builder: TaskBuilder, parts: EpisodeParts) -> None:
    parts.edit(SLAM, 0, [0.0] * 8)


@breaks("slam.pose")
def _a_pose_without_end(builder: TaskBuilder, parts: EpisodeParts) -> None:
    parts.edit(SLAM, 0, [0.0, float("inf"), 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])


@breaks("slam.specs")
def _a_trajectory_that_the_row_forgot(builder: TaskBuilder, parts: EpisodeParts) -> None:
    del parts.row["slam_specs"][SLAM]


@breaks("slam.specs")
def _a_spec_without_its_owner(builder: TaskBuilder, parts: EpisodeParts) -> None:
    del parts.row["slam_specs"][SLAM]["owner"]


@breaks("slam.axes", also=("slam.declared-otherwise",))
def _a_registered_frame_of_other_axes(builder: TaskBuilder, parts: EpisodeParts) -> None:
    parts.row["slam_specs"][SLAM]["frame_axes"]["+X"] = "up"


@breaks("slam.declared-otherwise")
def _a_trajectory_declared_in_two_ways(builder: TaskBuilder, parts: EpisodeParts) -> None:
    builder.info["features"][SLAM]["source_slot"] = "gripper_rgb"


# Force matrices


@breaks("force.specs")
def _a_matrix_of_no_spec(builder: TaskBuilder, parts: EpisodeParts) -> None:
    parts.row["force_matrix_specs"] = {}


@breaks("force.specs", also=("force.declared-otherwise",))
def _a_scale_that_is_none(builder: TaskBuilder, parts: EpisodeParts) -> None:
    parts.row["force_matrix_specs"][MATRIX]["scale"] = 7


@breaks("force.specs", also=("force.declared-otherwise",))
def _a_spec_of_another_type_than_the_column(builder: TaskBuilder, parts: EpisodeParts) -> None:
    spec = {**matrix_spec(1), "dtype": "float32", "encoding": "row_flat_raw"}
    parts.row["force_matrix_specs"][MATRIX] = spec


@breaks("force.declared-otherwise")
def _a_matrix_declared_in_two_scales(builder: TaskBuilder, parts: EpisodeParts) -> None:
    builder.info["features"][MATRIX]["scale"] = 10


@breaks("force.length")
def _a_matrix_of_another_length(builder: TaskBuilder, parts: EpisodeParts) -> None:
    parts.edit(MATRIX, 1, [1, 2, 3])


@breaks("force.decode", deep=True)
def _a_raw_matrix_that_is_no_number(builder: TaskBuilder, parts: EpisodeParts) -> None:
    spec = {"dtype": "float32", "shape": [250, 250, 3], "encoding": "row_flat_raw", "scale": 1}
    builder.info["features"][MATRIX] = spec
    parts.row["force_matrix_specs"][MATRIX] = dict(spec)
    values = np.zeros(187_500, np.float32)
    values[17] = np.nan
    parts.columns[MATRIX] = pa.array([values] * ROWS, pa.list_(pa.float32()))


@breaks("force.unstamped")
def _a_force_without_stamp(builder: TaskBuilder, parts: EpisodeParts) -> None:
    parts.edit("observation.gripper_left_force_ns", 3, 0)


# The episodes row


@breaks("row.corrupt", after=True)
def _half_a_row(builder: TaskBuilder, parts: EpisodeParts) -> None:
    content = builder.row_path(0).read_bytes()
    builder.row_path(0).write_bytes(content[: len(content) // 2])


@breaks("row.corrupt")
def _a_row_whose_json_is_none(builder: TaskBuilder, parts: EpisodeParts) -> None:
    parts.row["drop_stats"] = "{"


@breaks("row.number")
def _the_row_of_another_episode(builder: TaskBuilder, parts: EpisodeParts) -> None:
    parts.row["episode_index"] = 5


@breaks("row.length", also=("row.duration",))
def _a_length_that_is_not_the_rows(builder: TaskBuilder, parts: EpisodeParts) -> None:
    parts.row["length"] = ROWS + 1


@breaks("row.length")
def _an_end_that_is_not_the_last_frame(builder: TaskBuilder, parts: EpisodeParts) -> None:
    parts.row["end_frame_index"] = ROWS


@breaks("row.duration")
def _a_duration_by_the_wall_clock(builder: TaskBuilder, parts: EpisodeParts) -> None:
    parts.row["duration_sec"] = 0.31


@breaks("row.duration")
def _a_duration_that_is_no_number(builder: TaskBuilder, parts: EpisodeParts) -> None:
    parts.row["duration_sec"] = float("nan")


@breaks("row.drop-stats")
def _a_loss_below_zero(builder: TaskBuilder, parts: EpisodeParts) -> None:
    parts.row["drop_stats"]["ext:head_rgb"] = -1


@breaks("row.drop-stats")
def _more_repeats_than_rows(builder: TaskBuilder, parts: EpisodeParts) -> None:
    parts.row["drop_stats"]["head_rgb_repeat_count"] = ROWS + 1


@breaks("row.drop-stats")
def _no_imu_overflow(builder: TaskBuilder, parts: EpisodeParts) -> None:
    parts.row["drop_stats"] = {"tick_skip_count": 0}


@breaks("row.clock")
def _a_clock_without_monotonic_time(builder: TaskBuilder, parts: EpisodeParts) -> None:
    del parts.row["clock"]["mono_ns"]


# Video


@breaks("video.corrupt")
def _a_video_without_its_index(builder: TaskBuilder, parts: EpisodeParts) -> None:
    parts.videos["head_rgb", "mp4"] = video_bytes("rgb", ROWS)[:-400]


@breaks("video.corrupt")
def _a_video_that_is_text(builder: TaskBuilder, parts: EpisodeParts) -> None:
    parts.videos["head_rgb", "mp4"] = b"#EXTM3U\nfile:///etc/passwd\n"


@breaks("video.corrupt")
def _depth_that_is_only_a_heat_map(builder: TaskBuilder, parts: EpisodeParts) -> None:
    builder.info["video_extensions"]["head_depth"] = "mp4"
    parts.videos = {**parts.videos, ("head_depth", "mp4"): video_bytes("rgb", ROWS)}
    del parts.videos["head_depth", "mkv"]


@breaks("video.missing", also=("info.phantom-slot",))
def _a_slot_with_times_and_no_video(builder: TaskBuilder, parts: EpisodeParts) -> None:
    del parts.videos["gripper_rgb", "mp4"]


@breaks("video.extension")
def _another_extension_than_declared(builder: TaskBuilder, parts: EpisodeParts) -> None:
    builder.info["video_extensions"]["head_depth"] = "mp4"


@breaks("video.coding")
def _depth_of_millimetres_in_mp4_clothes(builder: TaskBuilder, parts: EpisodeParts) -> None:
    builder.info["video_extensions"]["head_depth"] = "mp4"
    parts.videos["head_depth", "mp4"] = parts.videos.pop(("head_depth", "mkv"))


@breaks("video.coding")
def _colour_that_is_depth(builder: TaskBuilder, parts: EpisodeParts) -> None:
    parts.videos["head_rgb", "mp4"] = video_bytes("gray12", ROWS)


@breaks("video.rows")
def _a_frame_too_few(builder: TaskBuilder, parts: EpisodeParts) -> None:
    parts.videos["head_rgb", "mp4"] = video_bytes("rgb", ROWS - 1)


@breaks("video.rows")
def _a_depth_frame_too_many(builder: TaskBuilder, parts: EpisodeParts) -> None:
    parts.videos["head_depth", "mkv"] = video_bytes("ffv1", ROWS + 1)


@breaks("video.grid")
def _a_video_of_another_rate(builder: TaskBuilder, parts: EpisodeParts) -> None:
    parts.videos["head_rgb", "mp4"] = video_bytes("rgb", ROWS, fps=FPS - 5)


@breaks("video.size")
def _a_video_of_another_size(builder: TaskBuilder, parts: EpisodeParts) -> None:
    builder.info["cameras"]["head_rgb"]["width"] = 640


@breaks("video.key-frames")
def _a_video_of_one_key_frame(builder: TaskBuilder, parts: EpisodeParts) -> None:
    del builder.episodes[0]
    longer = builder.episode(0, rows=20)
    longer.videos["head_rgb", "mp4"] = video_bytes("rgb", 20, gop=250)


@breaks("video.decode", after=True, deep=True)
def _a_frame_overwritten_with_noise(builder: TaskBuilder, parts: EpisodeParts) -> None:
    path = builder.video_path(0, "head_depth", "mkv")
    content = bytearray(path.read_bytes())
    middle = len(content) * 5 // 8
    content[middle : middle + 8] = bytes(b ^ 0x5A for b in content[middle : middle + 8])
    path.write_bytes(content)


@breaks("depth.beyond", depth="gray12")
def _a_wall_beyond_five_metres(builder: TaskBuilder, parts: EpisodeParts) -> None:
    parts.videos["head_depth", "mp4"] = video_bytes("gray12", ROWS, far=True)


# Old data


@breaks("old.rows-per-frame", also=("stats.count",))
def _two_rows_a_frame(builder: TaskBuilder, parts: EpisodeParts) -> None:
    rows = np.repeat(np.arange(ROWS), 2)
    parts.columns = {name: column.take(pa.array(rows)) for name, column in parts.columns.items()}
    builder.stats = {"observation.left_glove": stats_block(2 * ROWS + 1)}


@breaks("old.hardware-ns")
def _capture_times_cut_to_32_bits(builder: TaskBuilder, parts: EpisodeParts) -> None:
    stamps = 2**31 - 100_000_000 + np.arange(ROWS) * 33_333_333
    parts.set("hardware_ns", stamps.astype(np.int64).astype(np.int32), pa.int64())
    for name in ("slam_trajectory", "ego_slam_trajectory"):
        del parts.columns[f"observation.{name}_ns"], builder.info["features"][f"observation.{name}_ns"]


@breaks("old.slam-pose")
def _a_slam_pose(builder: TaskBuilder, parts: EpisodeParts) -> None:
    parts.set("observation.slam_pose", [[0.0] * 7] * ROWS, pa.list_(pa.float32()))


@breaks("old.frame", also=("info.slam-frames", "slam.declared-otherwise"))
def _a_trajectory_of_no_frame(builder: TaskBuilder, parts: EpisodeParts) -> None:
    del builder.info["features"]["observation.ego_slam_trajectory"]["frame"]


@breaks("old.shard", after=True)
def _a_row_in_a_shard(builder: TaskBuilder, parts: EpisodeParts) -> None:
    row = builder.row_path(0)
    row.rename(row.with_name("file-000.parquet"))


@breaks("old.row")
def _a_row_without_the_columns_of_today(builder: TaskBuilder, parts: EpisodeParts) -> None:
    for key in ("clock", "slam_specs"):
        del parts.row[key]


@breaks("old.glove")
def _a_glove_bound_to_nothing(builder: TaskBuilder, parts: EpisodeParts) -> None:
    del builder.info["devices"][2]["sensor_column"]


def built(case: Case, path: Path) -> Path:
    builder = TaskBuilder(path, depth=case.depth)
    parts = builder.episode(0)
    if case.before is not None:
        case.before(builder, parts)
    builder.write()
    if case.after is not None:
        case.after(builder, parts)
    return path


def name_of(case: Case) -> str:
    function = case.before or case.after
    assert function is not None
    return f"{case.rule}{function.__name__}"


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_a_broken_task_is_found_by_its_rule_and_by_no_other(tmp_path: Path, case: Case) -> None:
    report = validate_task(built(case, tmp_path / "task"), deep=case.deep)
    assert {finding.rule for finding in report.findings} == {case.rule} | case.also
    for finding in report.findings:
        assert finding.severity == RULES[finding.rule].severity
        assert finding.message
        assert finding.path.is_relative_to(tmp_path / "task")


def test_every_rule_has_its_broken_task() -> None:
    assert {case.rule for case in CASES} == set(RULES) - {"task.unjudged"}


@pytest.mark.parametrize("depth", ["ffv1", "gray12"])
@pytest.mark.parametrize("deep", [False, True])
def test_a_task_that_is_whole_has_no_finding(tmp_path: Path, depth: str, deep: bool) -> None:
    builder = TaskBuilder(tmp_path / "task", depth=depth)
    builder.episode(0)
    builder.episode(1, rows=5)
    report = validate_task(builder.write(), deep=deep)
    assert report.findings == ()
    assert (report.ok, report.episodes, report.rows) == (True, (0, 1), ROWS + 5)


def test_a_rule_that_fails_is_a_finding_and_the_others_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(view: EpisodeView) -> None:
        raise ZeroDivisionError("of course")

    monkeypatch.setattr(validator, "_EPISODE_RULES", (broken, *validator._EPISODE_RULES))
    builder = TaskBuilder(tmp_path / "task")
    builder.episode(0).edit("status.left_glove", 1, "perhaps")
    rules = [finding.rule for finding in validate_task(builder.write()).findings]
    assert rules == ["task.unjudged", "data.status"]


def test_only_the_episodes_that_were_asked_for_are_looked_at(tmp_path: Path) -> None:
    builder = TaskBuilder(tmp_path / "task")
    for k in (0, 1):
        builder.episode(k, rows=4).edit("status.left_glove", 1, "perhaps")
    report = validate_task(builder.write(), episodes=[1])
    assert [(finding.rule, finding.episode) for finding in report.findings] == [("data.status", 1)]
    missing = validate_task(tmp_path / "task", episodes=[1, 7])
    assert ("data.corrupt", 7) in [(finding.rule, finding.episode) for finding in missing.findings]


def test_known_litter_and_dotfiles_are_not_found(tmp_path: Path) -> None:
    builder = TaskBuilder(tmp_path / "task")
    builder.episode(0)
    path = builder.write()
    for name in ("_episodes_3_1.parquet", ".migrate_manifest.json", "meta/.stats_state.json", "meta/episodes/.lock"):
        (path / name).write_text("x")
    for name in ("_trash", "_migrate_backup_1", "meta/.x.tmp"):
        (path / name).mkdir()
    (path / "meta/recycled_episode.json.tmp123").write_text("x")
    (path / "data/chunk-000/.episode-001.parquet.tmp").write_text("x")
    assert validate_task(path).findings == ()


def test_nothing_is_changed_by_looking(tmp_path: Path) -> None:
    builder = TaskBuilder(tmp_path / "task")
    builder.episode(0)
    path = builder.write()
    before = {file: (file.stat().st_mtime_ns, file.stat().st_size) for file in sorted(path.rglob("*"))}
    validate_task(path, deep=True)
    assert {file: (file.stat().st_mtime_ns, file.stat().st_size) for file in sorted(path.rglob("*"))} == before


@pytest.mark.parametrize("place", ["nowhere", "file", "empty"])
def test_what_is_no_directory_of_a_task_is_a_finding(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "empty").mkdir()
    report = validate_task(tmp_path / place)
    assert not report.ok
    assert report.findings[0].rule in ("task.format", "info.corrupt")


def test_a_report_says_all_of_itself_in_json(tmp_path: Path) -> None:
    builder = TaskBuilder(tmp_path / "task")
    builder.episode(0).edit("status.left_glove", 1, "perhaps")
    said = json.loads(json.dumps(validate_task(builder.write()).as_json()))
    assert said["ok"] is False
    assert said["counts"] == {"error": 1, "warning": 0, "info": 0}
    assert said["findings"][0]["rule"] == "data.status"


def test_the_page_of_the_rules_is_the_table_of_the_rules() -> None:
    page = (Path(__file__).resolve().parents[3] / "docs" / "validation.md").read_text(encoding="utf-8")
    for rule in RULES.values():
        assert f"| `{rule.id}` | {rule.severity} | {rule.holds} | {rule.remedy} |\n" in page
    assert page.count("| `") == len(RULES)
