from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from episodes.errors import CorruptFileError
from episodes.legacy import fold_rows, glove_devices, is_32_bit, unwrap_32_bit
from episodes.reader import Task, open_task
from tests.task_builder import FPS, ROWS, EpisodeParts, TaskBuilder, depth_picture, video_bytes, write_row

OLD_ROW_COLUMNS = ("episode_index", "task_index", "start_frame_index", "end_frame_index", "length", "created_at")


def made_old(builder: TaskBuilder, parts: EpisodeParts) -> None:
    """Take away from an episode what the first releases did not write."""
    for key in ("clock", "slam_specs", "force_matrix_specs"):
        del parts.row[key]
    for name in [name for name in parts.columns if name.endswith("_frame_ns")]:
        del parts.columns[name]
        builder.info["features"].pop(name, None)
    for feature in builder.info["features"].values():
        for key in ("frame", "frame_axes", "time", "owner", "source_slot"):
            feature.pop(key, None)
    for key in ("slam_frames", "gripper_slam_frame"):
        builder.info.pop(key, None)


def doubled(parts: EpisodeParts, *, agreeing: bool) -> None:
    """Write every row twice, as one row a slot and frame; the second has no IMU and, unless agreeing, other stamps."""
    rows = np.repeat(np.arange(parts.rows), 2)
    second = np.arange(2 * parts.rows) % 2 == 1
    for name, column in parts.columns.items():
        taken = column.take(pa.array(rows))
        if name in ("imu_ts_ns", "observation.imu"):
            values = [[] if second[i] else value for i, value in enumerate(taken.to_pylist())]
            taken = pa.array(values, taken.type)
        if name in ("timestamp", "hardware_ns") and not agreeing:
            shift = np.where(second, 1, 0) if name == "hardware_ns" else np.where(second, 0.001, 0)
            taken = pa.array((taken.to_numpy() + shift).astype(taken.to_numpy().dtype), taken.type)
        parts.columns[name] = taken


def test_rows_of_one_frame_that_agree_are_folded_without_a_word(tmp_path: Path) -> None:
    builder = TaskBuilder(tmp_path / "t")
    parts = builder.episode(0)
    doubled(parts, agreeing=True)
    episode = open_task(builder.write()).episode(0)
    assert episode.length == ROWS
    assert episode.rows(["frame_index"])["frame_index"].to_pylist() == list(range(ROWS))
    assert [len(row) for row in episode.rows(["imu_ts_ns"])["imu_ts_ns"].to_pylist()] == [2] * ROWS
    assert episode.warnings == ()


def test_of_rows_of_one_frame_that_differ_the_first_is_kept_with_a_warning(tmp_path: Path) -> None:
    builder = TaskBuilder(tmp_path / "t")
    parts = builder.episode(0)
    captured = parts.columns["hardware_ns"].to_pylist()
    doubled(parts, agreeing=False)
    episode = open_task(builder.write()).episode(0)
    assert episode.length == ROWS
    assert episode.hardware_ns.tolist() == captured
    assert len(episode.warnings) == 1
    assert f"{ROWS} frames" in episode.warnings[0]


def test_force_matrices_of_folded_rows_are_those_of_the_rows_that_were_kept(tmp_path: Path) -> None:
    builder = TaskBuilder(tmp_path / "t")
    parts = builder.episode(0, rows=4)
    name = "observation.gripper_left_force_matrix"
    plain = [None if not row else row[:5] for row in parts.columns[name].to_pylist()]
    doubled(parts, agreeing=True)
    episode = open_task(builder.write()).episode(0)
    chunked = episode.rows([name, "frame_index"])
    assert [row[:5] or None for row in chunked[name].to_pylist()] == plain
    with episode.force_matrix(name) as matrices:
        codes = [matrices.codes(i) for i in (3, 0, 2, 1)]
    assert [None if c is None else c[:5].tolist() for c in codes] == [plain[i] for i in (3, 0, 2, 1)]


def test_rows_are_put_in_the_order_of_their_frames() -> None:
    index = np.array([0, 1, 0, 2, 1, 2], np.int64)
    zeros = np.zeros(6, np.int64)
    fold = fold_rows(index, zeros.astype(np.float32), zeros)
    assert fold.rows is not None
    assert fold.rows.tolist() == [0, 1, 3]
    assert (fold.dropped, fold.disagreeing) == (3, 0)


def test_holes_alone_are_no_reason_to_fold() -> None:
    zeros = np.zeros(3, np.int64)
    assert fold_rows(np.array([0, 2, 5]), zeros.astype(np.float32), zeros).rows is None


@pytest.mark.parametrize(
    ("stamps", "cut"),
    [
        ([], False),
        ([0, 0], False),
        ([5, -5], True),
        ([-(2**31), 2**31 - 1], True),
        ([1, 2**31], False),
        ([1, 2_000_000_000], False),
        ([-5, 2**31], False),
        ([10**12, 10**12 + 33], False),
    ],
)
def test_stamps_cut_to_32_bits_are_told_from_whole_ones(stamps: list[int], cut: bool) -> None:
    assert is_32_bit(np.array(stamps, np.int64)) is cut


def test_stamps_cut_to_32_bits_are_made_continuous_and_zero_stays_no_stamp() -> None:
    true = 4_000_000_000 + np.arange(400, dtype=np.int64) * 33_333_333
    cut = true.astype(np.uint64).astype(np.uint32).astype(np.int32).astype(np.int64)
    cut[7] = 0
    unwrapped = unwrap_32_bit(cut)
    known = np.arange(400) != 7
    assert unwrapped[7] == 0
    assert (unwrapped[known] - unwrapped[0] == true[known] - true[0]).all()


def test_the_reader_gives_unwrapped_stamps_and_leaves_whole_ones(tmp_path: Path) -> None:
    builder = TaskBuilder(tmp_path / "t")
    for k in (0, 1):
        parts = builder.episode(k, rows=6)
        whole = (2**33 - 100_000_000) + np.arange(6, dtype=np.int64) * 50_000_000
        whole[4:] += 4_680_000_000
        parts.set("hardware_ns", whole.astype(np.int32) if k == 0 else whole, pa.int64())
    task = open_task(builder.write())
    cut, uncut = task.episode(0), task.episode(1)
    assert np.diff(cut.hardware_ns).tolist()[:3] == [50_000_000] * 3
    assert np.diff(uncut.hardware_ns).tolist()[3] == 4_730_000_000
    assert cut.rows(["hardware_ns"])["hardware_ns"].to_pylist() == cut.hardware_ns.tolist()


def shard(builder: TaskBuilder, ks: tuple[int, ...]) -> Task:
    """A task whose rows stand in one shard and whose data stands in file-NNN files."""
    path = builder.write()
    write_row(
        path / "meta/episodes/chunk-000/file-000.parquet",
        [{key: builder.episodes[k].row[key] for key in OLD_ROW_COLUMNS} for k in ks],
    )
    for k in ks:
        builder.row_path(k).unlink()
        data = builder.data_path(k)
        data.rename(data.with_name(f"file-{k:03d}.parquet"))
        for video in (path / "videos").rglob(f"episode-{k:03d}.*"):
            video.rename(video.with_name(video.name.replace("episode", "file")))
    return open_task(path)


def test_file_shards_of_many_rows_are_read(tmp_path: Path) -> None:
    builder = TaskBuilder(tmp_path / "t")
    for k in (0, 1):
        builder.episode(k, rows=4 + k)
    task = shard(builder, (0, 1))
    assert [episode.k for episode in task.episodes] == [0, 1]
    assert [episode.length for episode in task.episodes] == [4, 5]
    assert [episode.row.length for episode in task.episodes] == [4, 5]
    assert task.episode(1).slots == ("gripper_rgb", "head_depth", "head_rgb")
    assert len(task.episode(1).video("head_rgb")) == 5


def test_of_a_data_shard_of_several_episodes_each_has_its_own_rows(tmp_path: Path) -> None:
    builder = TaskBuilder(tmp_path / "t")
    for k in (0, 1):
        builder.episode(k, rows=4 + k)
    path = builder.write()
    tables = [pq.read_table(builder.data_path(k)) for k in (0, 1)]
    pq.write_table(pa.concat_tables(tables), path / "data/chunk-000/file-000.parquet")
    for k in (0, 1):
        builder.data_path(k).unlink()
    second = open_task(path).episode(1)
    assert second.length == 5
    assert set(second.rows(["episode_index"])["episode_index"].to_pylist()) == {2}
    assert len(second.trajectories["observation.slam_trajectory"]) > 0
    with second.force_matrix("observation.gripper_left_force_matrix") as matrices:
        first = matrices.codes(0)
    assert first is not None
    assert first.tolist() == tables[1]["observation.gripper_left_force_matrix"][0].as_py()


def test_slam_pose_is_ignored(tmp_path: Path) -> None:
    builder = TaskBuilder(tmp_path / "t")
    parts = builder.episode(0)
    parts.set("observation.slam_pose", [[0.0] * 7] * ROWS, pa.list_(pa.float32()))
    episode = open_task(builder.write()).episode(0)
    assert "observation.slam_pose" not in episode.columns
    assert "observation.slam_pose" not in episode.rows().column_names


def test_depth_beside_a_heat_map_in_one_file_is_read(tmp_path: Path) -> None:
    builder = TaskBuilder(tmp_path / "t", depth="dual")
    builder.episode(0)
    with open_task(builder.write()).episode(0).depth("head_depth") as depth:
        assert len(depth) == ROWS
        assert np.array_equal(depth[5], depth_picture(5))


def test_no_frame_key_means_right_forward_up_and_missing_columns_of_the_row_are_empty(tmp_path: Path) -> None:
    builder = TaskBuilder(tmp_path / "t")
    made_old(builder, builder.episode(0))
    episode = open_task(builder.write()).episode(0)
    assert episode.row.slam_specs == {}
    assert episode.clock == {}
    for trajectory in episode.trajectories.values():
        assert trajectory.frame == "right_forward_up"
        assert trajectory.frame_axes == {"+X": "right", "+Y": "forward", "+Z": "up"}


def test_a_row_of_points_with_an_empty_list_of_stamps_has_points_without_stamps(tmp_path: Path) -> None:
    builder = TaskBuilder(tmp_path / "t")
    parts = builder.episode(0)
    parts.edit("observation.slam_trajectory_ns", 1, [])
    trajectory = open_task(builder.write()).episode(0).trajectories["observation.slam_trajectory"]
    assert trajectory.host_ns is not None
    assert len(trajectory.host_ns) == len(trajectory.points)
    assert trajectory.host_ns[trajectory.rows == 1].tolist() == [0, 0]
    assert (trajectory.host_ns[trajectory.rows != 1] > 0).all()


def test_another_number_of_stamps_than_of_points_is_damage(tmp_path: Path) -> None:
    builder = TaskBuilder(tmp_path / "t")
    builder.episode(0).edit("observation.slam_trajectory_ns", 1, [5])
    episode = open_task(builder.write()).episode(0)
    with pytest.raises(CorruptFileError, match="another number of stamps"):
        _ = episode.trajectories


GLOVES: list[tuple[dict[str, Any], str]] = [
    ({"key": "g", "kind": "data_ble", "name": "x", "slots": [], "sensor_column": "right_glove"}, "right_glove"),
    ({"key": "g", "kind": "ble_glove", "name": "x", "slots": ["left_glove"]}, "left_glove"),
    ({"key": "g", "kind": "usb_glove", "name": "x", "slots": ["right_glove"]}, "right_glove"),
    ({"key": "g", "kind": "data_ble", "name": "USB 手套_left", "slots": []}, "left_glove"),
]


@pytest.mark.parametrize(("device", "sensor"), GLOVES)
def test_gloves_are_bound_to_their_column_in_every_form(device: dict[str, Any], sensor: str) -> None:
    info = {"devices": [{"key": "c", "kind": "uvc", "name": "_left", "slots": []}, device]}
    assert glove_devices({**info, "sensors": ["left_glove", "right_glove"]}) == {sensor: "g"}


def test_a_glove_that_says_nothing_is_bound_to_nothing() -> None:
    device = {"key": "g", "kind": "data_ble", "name": "glove", "slots": []}
    assert glove_devices({"devices": [device, 5], "sensors": ["left_glove"]}) == {}


def test_an_old_video_with_a_long_way_between_key_frames_is_read_by_number(tmp_path: Path) -> None:
    builder = TaskBuilder(tmp_path / "t")
    parts = builder.episode(0, rows=40)
    parts.videos["head_rgb", "mp4"] = video_bytes("rgb", 40, gop=250, fps=FPS)
    with open_task(builder.write()).episode(0).video("head_rgb") as video:
        for i in (39, 3, 21, 0):
            assert abs(int(video[i][20, 10, 0]) - (20 + 8 * (i % 28))) <= 4
