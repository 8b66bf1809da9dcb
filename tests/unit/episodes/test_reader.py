from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from episodes.errors import ContractError, CorruptFileError, EpisodeError, UnknownFormatError
from episodes.reader import open_task
from tests.task_builder import MONO_NS, ROWS, WALL_S, TaskBuilder, colour_picture, depth_picture, matrix, matrix_spec

MATRIX = "observation.gripper_left_force_matrix"


@pytest.fixture
def builder(tmp_path: Path) -> TaskBuilder:
    return TaskBuilder(tmp_path / "task")


def test_episodes_are_found_on_disk_across_chunks_by_the_chunk_size_of_info(builder: TaskBuilder) -> None:
    builder.info["chunks_size"] = 2
    for k in (0, 1, 3, 5):
        builder.episode(k, rows=3)
    task = open_task(builder.write())
    assert [episode.k for episode in task.episodes] == [0, 1, 3, 5]
    assert [episode.n for episode in task.episodes] == [1, 2, 4, 6]
    assert task.episode(5).data_path == task.path / "data/chunk-002/episode-001.parquet"
    assert task.episode(5).rows(["episode_index"])["episode_index"][0].as_py() == 6


def test_paths_follow_the_templates_of_info(builder: TaskBuilder) -> None:
    builder.episode(0, rows=3)
    path = builder.write()
    builder.info["data_path"] = "rows/{c:02d}-{f:05d}.parquet"
    (path / "rows").mkdir()
    builder.data_path(0).rename(path / "rows/00-00000.parquet")
    (path / "meta/info.json").write_text(json.dumps(builder.info))
    assert open_task(path).episode(0).length == 3


def test_the_columns_are_those_of_the_episode_and_not_of_info(builder: TaskBuilder) -> None:
    del builder.episode(0).columns["observation.temperature"]
    builder.episode(1)
    task = open_task(builder.write())
    assert "observation.temperature" not in task.episode(0).columns
    assert "observation.temperature" in task.episode(1).columns
    with pytest.raises(EpisodeError, match=r"no column observation\.temperature"):
        task.episode(0).rows(["observation.temperature"])


def test_rows_leave_the_matrices_out_unless_named_and_keep_their_chunks_apart(builder: TaskBuilder) -> None:
    builder.episode(0, rows=40)
    episode = open_task(builder.write()).episode(0)
    assert episode.heavy_columns == (MATRIX,)
    assert MATRIX not in episode.rows().column_names
    assert episode.rows().num_rows == 40
    named = episode.rows(["frame_index", MATRIX])
    assert named.column_names == ["frame_index", MATRIX]
    assert [len(chunk) for chunk in named[MATRIX].chunks] == [32, 8]


def test_rows_come_in_the_order_that_was_asked_for(builder: TaskBuilder) -> None:
    builder.episode(0)
    episode = open_task(builder.write()).episode(0)
    assert episode.rows([MATRIX, "wall_time", "frame_index"]).column_names == [MATRIX, "wall_time", "frame_index"]


@pytest.mark.parametrize("group", [None, 3])
def test_force_matrices_decode_to_what_was_measured_in_any_order(builder: TaskBuilder, group: int | None) -> None:
    builder.episode(0).row_group_size = group
    episode = open_task(builder.write()).episode(0)
    with episode.force_matrix(MATRIX) as matrices:
        assert len(matrices) == ROWS
        for i in (5, 0, 6, 2, -2):
            found = matrices[i]
            assert found is not None
            assert found.dtype == np.float32
            assert np.array_equal(found, matrix(i % ROWS))
        assert matrices[ROWS - 1] is None
        assert [item is None for item in matrices] == [False] * (ROWS - 1) + [True]
        with pytest.raises(IndexError, match="no row 8"):
            matrices[ROWS]


def test_the_episode_says_how_its_matrices_are_coded_before_the_task_does(builder: TaskBuilder) -> None:
    parts = builder.episode(0, rows=3)
    builder.info["features"][MATRIX] = matrix_spec(10)
    path = builder.write()
    with open_task(path).episode(0).force_matrix(MATRIX) as matrices:
        assert np.array_equal(np.asarray(matrices[0]), matrix(0))
    parts.row["force_matrix_specs"] = {}
    builder.write()
    with open_task(path).episode(0).force_matrix(MATRIX) as matrices:
        assert np.allclose(np.asarray(matrices[0]), matrix(0) * 10, rtol=1e-6)
    del builder.info["features"][MATRIX]
    builder.write()
    with open_task(path).episode(0).force_matrix(MATRIX) as matrices:
        assert np.allclose(np.asarray(matrices[0]), matrix(0) * 100, rtol=1e-6)


def test_a_matrix_of_another_length_is_damage_of_its_row_alone(builder: TaskBuilder) -> None:
    builder.episode(0, rows=4).edit(MATRIX, 1, [1, 2, 3])
    with open_task(builder.write()).episode(0).force_matrix(MATRIX) as matrices:
        with pytest.raises(CorruptFileError, match="row 1 has 3 values"):
            matrices[1]
        assert np.array_equal(np.asarray(matrices[2]), matrix(2))


def test_slots_are_those_of_the_episode_own_files(builder: TaskBuilder) -> None:
    del builder.episode(0).videos["gripper_rgb", "mp4"]
    builder.episode(1)
    task = open_task(builder.write())
    assert task.episode(0).slots == ("head_depth", "head_rgb")
    assert task.episode(1).slots == ("gripper_rgb", "head_depth", "head_rgb")
    with pytest.raises(EpisodeError, match="no video slot 'gripper_rgb'"):
        task.episode(0).video("gripper_rgb")


def test_frame_i_is_picture_i_and_depth_i(builder: TaskBuilder) -> None:
    builder.episode(0)
    episode = open_task(builder.write()).episode(0)
    with episode.video("head_rgb") as video, episode.depth("head_depth") as depth:
        assert len(video) == len(depth) == episode.length
        for i in (7, 0, 3):
            assert np.abs(video[i].astype(int) - colour_picture(i).astype(int))[10:20, 5:20].max() <= 4
            assert np.array_equal(depth[i], depth_picture(i))


def test_depth_in_log_codes_is_back_in_millimetres_with_its_holes(tmp_path: Path) -> None:
    builder = TaskBuilder(tmp_path / "t", depth="gray12")
    builder.episode(0)
    with open_task(builder.write()).episode(0).depth("head_depth") as depth:
        found, true = depth[4].astype(int), depth_picture(4).astype(int)
    assert (found[:4, :4] == 0).all()
    assert np.abs(found - true).max() <= 1


def test_colour_and_depth_are_not_taken_for_each_other(builder: TaskBuilder) -> None:
    builder.episode(0)
    episode = open_task(builder.write()).episode(0)
    with pytest.raises(EpisodeError, match="holds depth"):
        episode.video("head_depth")
    with pytest.raises(EpisodeError, match="holds colour"):
        episode.depth("head_rgb")


def test_a_slot_that_info_forgot_is_known_by_its_file(builder: TaskBuilder) -> None:
    builder.episode(0)
    builder.info["video_extensions"] = {}
    builder.info["cameras"] = {}
    episode = open_task(builder.write()).episode(0)
    assert {slot: episode.kind(slot) for slot in episode.slots} == {
        "gripper_rgb": "rgb",
        "head_depth": "depth",
        "head_rgb": "rgb",
    }


def test_each_slot_has_its_own_capture_times(builder: TaskBuilder) -> None:
    builder.episode(0)
    episode = open_task(builder.write()).episode(0)
    master = episode.frame_ns("head_rgb")
    assert master.dtype == np.int64
    assert master[0] == MONO_NS
    assert (episode.frame_ns("gripper_rgb") - master == 11).all()
    assert (episode.frame_ns("head_depth") - master == 3).all()
    with pytest.raises(EpisodeError, match="no video slot"):
        episode.frame_ns("nothing")


def test_a_slot_whose_name_is_no_column_part_finds_its_times_by_the_feature(builder: TaskBuilder) -> None:
    parts = builder.episode(0)
    parts.videos["头_RGB", "mp4"] = parts.videos.pop(("gripper_rgb", "mp4"))
    parts.columns["observation.__rgb_frame_ns"] = parts.columns.pop("observation.gripper_rgb_frame_ns")
    builder.info["features"]["observation.__rgb_frame_ns"] = {"dtype": "int64", "shape": [1], "slot": "头_RGB"}
    episode = open_task(builder.write()).episode(0)
    assert (episode.frame_ns("头_RGB") - episode.frame_ns("head_rgb") == 11).all()


def test_stamps_of_a_sample_column(builder: TaskBuilder) -> None:
    builder.episode(0)
    episode = open_task(builder.write()).episode(0)
    assert (episode.stamps("observation.gripper_left_force") - episode.hardware_ns == 5).all()
    with pytest.raises(EpisodeError, match="have no stamps"):
        episode.stamps("observation.left_glove")
    with pytest.raises(EpisodeError, match="a stamp a point"):
        episode.stamps("observation.slam_trajectory")


def test_three_trajectories_side_by_side_keep_their_own_frames(builder: TaskBuilder) -> None:
    parts = builder.episode(0)
    second = "observation.gripper_2_slam_trajectory"
    parts.columns[second] = parts.columns["observation.slam_trajectory"]
    parts.columns[f"{second}_ns"] = parts.columns["observation.slam_trajectory_ns"]
    spec = {**parts.row["slam_specs"]["observation.slam_trajectory"], "frame": "bench", "frame_axes": {"+X": "up"}}
    parts.row["slam_specs"][second] = spec
    trajectories = open_task(builder.write()).episode(0).trajectories
    assert {name: trajectory.frame for name, trajectory in trajectories.items()} == {
        "observation.slam_trajectory": "down_left_forward",
        "observation.ego_slam_trajectory": "ego_cam_optical",
        second: "bench",
    }
    assert trajectories[second].frame_axes == {"+X": "up"}
    assert trajectories["observation.ego_slam_trajectory"].spec["owner"] == {"role": "ego"}


def test_the_episode_says_which_frame_a_trajectory_is_in_before_the_task_does(builder: TaskBuilder) -> None:
    builder.episode(0)
    builder.info["features"]["observation.slam_trajectory"]["frame"] = "renamed_later"
    trajectory = open_task(builder.write()).episode(0).trajectories["observation.slam_trajectory"]
    assert trajectory.frame == "down_left_forward"


def test_points_keep_their_rows_and_their_stamps_in_lockstep(builder: TaskBuilder) -> None:
    parts = builder.episode(0)
    lists = parts.columns["observation.slam_trajectory"].to_pylist()
    stamps = parts.columns["observation.slam_trajectory_ns"].to_pylist()
    trajectory = open_task(builder.write()).episode(0).trajectories["observation.slam_trajectory"]
    assert trajectory.points.shape == (sum(map(len, lists)) // 8, 8)
    assert trajectory.points.reshape(-1).tolist() == [value for row in lists for value in row]
    assert trajectory.host_ns is not None
    assert trajectory.host_ns.tolist() == [stamp for row in stamps for stamp in row]
    assert trajectory.rows.tolist() == [i for i, row in enumerate(stamps) for _ in row]


def test_a_trajectory_is_paired_with_frames_by_time_and_never_by_row(builder: TaskBuilder) -> None:
    builder.episode(0)
    episode = open_task(builder.write()).episode(0)
    trajectory = episode.trajectories["observation.slam_trajectory"]
    frames = episode.frame_ns("head_rgb")
    at = trajectory.at(frames, max_gap_ns=2_000)
    assert at.shape == (ROWS, 8)
    # Rows 2 and 5 came without a point, and none is within two microseconds of their frames.
    assert np.isnan(at[[2, 5]]).all()
    assert at[[0, 1, 3, 4], 0].tolist() == [0, 1, 3, 4]
    assert not np.isnan(trajectory.at(frames)).any()
    assert np.isnan(trajectory.at(np.zeros(2, np.int64))).all()


def test_a_trajectory_without_stamps_is_not_paired(builder: TaskBuilder) -> None:
    del builder.episode(0).columns["observation.slam_trajectory_ns"]
    trajectory = open_task(builder.write()).episode(0).trajectories["observation.slam_trajectory"]
    assert trajectory.host_ns is None
    with pytest.raises(EpisodeError, match="cannot be paired by time"):
        trajectory.at(np.array([1]))


def test_every_stamp_has_its_unix_time(builder: TaskBuilder) -> None:
    builder.episode(0)
    episode = open_task(builder.write()).episode(0)
    times = episode.unix_time([MONO_NS, 0, MONO_NS + 1_500_000_000])
    assert times[0] == pytest.approx(WALL_S + 0.01, abs=1e-6)
    assert np.isnan(times[1])
    assert times[2] - times[0] == pytest.approx(1.5, abs=1e-6)


def test_the_row_and_the_statistics_are_read(builder: TaskBuilder) -> None:
    builder.episode(0)
    task = open_task(builder.write())
    assert task.episode(0).drop_stats == {"imu_overflow": 0, "head_rgb_late_max_ms": 12}
    assert task.episode(0).row.duration_sec == pytest.approx(ROWS / 30)
    assert task.stats["observation.left_glove"]["count"] == ROWS
    assert task.gloves == {"left_glove": "usbglove:9"}
    assert task.name == "试验 one"


def test_an_episode_is_whole_only_with_its_row(builder: TaskBuilder) -> None:
    builder.episode(0, rows=3)
    builder.episode(1, rows=3)
    path = builder.write()
    builder.row_path(1).unlink()
    task = open_task(path)
    assert [episode.k for episode in task.episodes] == [0]
    with pytest.raises(EpisodeError, match="never committed"):
        task.episode(1)
    with pytest.raises(EpisodeError, match="no episode 9"):
        task.episode(9)


def test_another_format_is_refused_and_never_guessed(builder: TaskBuilder, tmp_path: Path) -> None:
    builder.info["format"] = "lerobot_v3"
    with pytest.raises(UnknownFormatError, match="lerobot_v3"):
        open_task(builder.write())
    with pytest.raises(UnknownFormatError, match="no task"):
        open_task(tmp_path)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe", b'{"format": ' * 5000, b"9" * 5000])
def test_a_damaged_info_is_refused(builder: TaskBuilder, content: bytes) -> None:
    builder.episode(0, rows=3)
    path = builder.write()
    (path / "meta/info.json").write_bytes(content)
    with pytest.raises(CorruptFileError, match=r"info\.json"):
        open_task(path)


def test_templates_that_leave_the_task_are_refused(builder: TaskBuilder) -> None:
    builder.info["data_path"] = "../{c}/{f}.parquet"
    with pytest.raises(ContractError, match="leaves the task"):
        open_task(builder.write())


@pytest.mark.parametrize("what", ["data", "row", "video"])
def test_links_out_of_the_task_are_refused(builder: TaskBuilder, tmp_path: Path, what: str) -> None:
    builder.episode(0, rows=3)
    path = builder.write()
    places = {"data": builder.data_path(0), "row": builder.row_path(0), "video": builder.video_path(0, "head_rgb")}
    outside = tmp_path / "outside"
    places[what].rename(outside)
    places[what].symlink_to(outside)
    episode = open_task(path).episode(0)
    asked = {"data": episode.rows, "row": lambda: episode.row, "video": lambda: episode.video("head_rgb")}
    ask: Callable[[], object] = asked[what]
    with pytest.raises(CorruptFileError, match="leaves the task directory"):
        ask()


def test_a_pipe_in_place_of_a_file_is_refused_and_not_waited_for(builder: TaskBuilder) -> None:
    builder.episode(0, rows=3)
    path = builder.write()
    builder.data_path(0).unlink()
    os.mkfifo(builder.data_path(0))
    with pytest.raises(CorruptFileError, match="no ordinary file"):
        open_task(path).episode(0).rows()
    (path / "meta/info.json").unlink()
    os.mkfifo(path / "meta/info.json")
    with pytest.raises(CorruptFileError, match="no ordinary file"):
        open_task(path)


@pytest.mark.parametrize("content", [b"", b"PAR1", b"\x89PNG\r\n\x1a\n" + b"x" * 500, b"PAR1" + b"\xff" * 64 + b"PAR1"])
def test_foreign_and_damaged_files_are_refused_by_name(builder: TaskBuilder, content: bytes) -> None:
    builder.episode(0, rows=3)
    path = builder.write()
    for file in (builder.data_path(0), builder.row_path(0), builder.video_path(0, "head_rgb")):
        file.write_bytes(content)
    episode = open_task(path).episode(0)
    with pytest.raises(CorruptFileError, match=r"data.chunk-000.episode-000\.parquet"):
        episode.rows()
    with pytest.raises(CorruptFileError, match=r"meta.episodes.chunk-000.episode-000\.parquet"):
        _ = episode.row
    with pytest.raises(CorruptFileError, match=r"head_rgb.episode-000\.mp4"):
        episode.video("head_rgb")


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9, 0.999])
def test_a_truncated_data_file_is_refused(builder: TaskBuilder, share: float) -> None:
    builder.episode(0, rows=3)
    path = builder.write()
    content = builder.data_path(0).read_bytes()
    builder.data_path(0).write_bytes(content[: int(len(content) * share)])
    with pytest.raises(CorruptFileError):
        open_task(path).episode(0).rows()


def test_a_data_file_without_frame_numbers_is_refused(builder: TaskBuilder) -> None:
    del builder.episode(0, rows=3).columns["frame_index"]
    with pytest.raises(CorruptFileError, match="no column frame_index"):
        open_task(builder.write()).episode(0).rows()


def test_an_empty_episode_has_no_rows_and_no_points(builder: TaskBuilder) -> None:
    parts = builder.episode(0, rows=2)
    parts.columns = {name: column.slice(0, 0) for name, column in parts.columns.items()}
    episode = open_task(builder.write()).episode(0)
    assert episode.length == 0
    assert episode.rows().num_rows == 0
    assert len(episode.trajectories["observation.slam_trajectory"]) == 0
    assert episode.hardware_ns.tolist() == []


def test_only_the_ego_has_a_trajectory(builder: TaskBuilder) -> None:
    parts = builder.episode(0)
    for name in ("observation.slam_trajectory", "observation.slam_trajectory_ns"):
        del parts.columns[name]
    del parts.row["slam_specs"]["observation.slam_trajectory"]
    assert list(open_task(builder.write()).episode(0).trajectories) == ["observation.ego_slam_trajectory"]


def test_a_column_of_stamps_with_nulls_reads_them_as_no_stamp(builder: TaskBuilder) -> None:
    parts = builder.episode(0, rows=3)
    parts.set("hardware_ns", [5, None, 7], pa.int64())
    assert open_task(builder.write()).episode(0).hardware_ns.tolist() == [5, 0, 7]
