from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from episodes.episode_row import read_episode_row
from episodes.errors import ContractError, EpisodeError, TaskBusyError
from episodes.staging import MANIFEST, find_stagings, read_manifest
from episodes.validator import validate_task
from sinks.commit import commit_staging
from sinks.recovery import recover_task
from sinks.reservation import abort_take, reserve
from tests import small_takes
from tests.small_takes import LIGHT


def test_a_committed_take_is_valid_to_the_last_picture(tmp_path: Path) -> None:
    paths, staging = small_takes.record(tmp_path, 31)
    commit_staging(paths, staging)
    report = validate_task(paths.task_dir, deep=True)
    assert [finding for finding in report.findings if finding.severity in ("error", "warning")] == []


def test_the_counters_of_the_take_and_of_its_rows_stand_in_drop_stats(tmp_path: Path) -> None:
    counts = {"uvc:side_rgb": 4, "side_rgb_gap_max_ms": 120, "side_rgb_wrong_size": 0, "tick_skip_count": 99}
    paths, staging = small_takes.record(tmp_path, 9, LIGHT, lambda: counts)
    committed = commit_staging(paths, staging)
    assert committed.drop_stats == {
        "imu_overflow": 0,
        "uvc:side_rgb": 4,
        "side_rgb_gap_max_ms": 120,
        "side_rgb_repeat_count": 3,
        "tick_skip_count": 2,
    }
    row = read_episode_row(paths.episode_row(committed.number))
    assert row.drop_stats == committed.drop_stats
    assert row.length == 9
    assert row.duration_sec == 9 / small_takes.FPS
    assert row.clock == {"mono_ns": small_takes.CLOCK.mono_ns, "wall_s": small_takes.CLOCK.wall_s}


def test_the_row_has_the_specs_of_just_what_was_written(tmp_path: Path) -> None:
    paths, staging = small_takes.record(tmp_path, 4)
    row = read_episode_row(paths.episode_row(commit_staging(paths, staging).number))
    assert row.force_matrix_specs == {
        "observation.gripper_left_force_matrix": {
            "dtype": "int16",
            "shape": [250, 250, 3],
            "encoding": "row_diff_quantized",
            "scale": 100,
        }
    }
    assert row.slam_specs["observation.slam_trajectory"]["frame"] == "down_left_forward"
    assert row.video_codec["encoder"] == "libx264"
    paths, staging = small_takes.record(tmp_path, 1)
    row = read_episode_row(paths.episode_row(commit_staging(paths, staging).number))
    assert row.slam_specs == {}, "the first row has no point"


def test_statistics_of_two_takes_are_merged_and_info_counts_both(tmp_path: Path) -> None:
    for rows in (5, 7):
        paths, staging = small_takes.record(tmp_path, rows, LIGHT)
        commit_staging(paths, staging)
    stats = json.loads(paths.stats.read_text())
    assert stats["observation.level"]["count"] == 3 + 4
    assert stats["observation.level"]["max"] == [6.0]
    info = json.loads(paths.info.read_text())
    assert info["total_episodes"] == 2
    assert paths.tasks.read_text() == '{"task_index": 0, "task": "pour water"}\n'


def test_keys_of_others_in_info_stay(tmp_path: Path) -> None:
    paths, staging = small_takes.record(tmp_path, 2, LIGHT)
    commit_staging(paths, staging)
    info = json.loads(paths.info.read_text())
    paths.info.write_text(json.dumps({**info, "of_another_program": [1, 2]}))
    paths, staging = small_takes.record(tmp_path, 2, LIGHT)
    commit_staging(paths, staging)
    after = json.loads(paths.info.read_text())
    assert after["of_another_program"] == [1, 2]
    assert after["created_at"] == info["created_at"]


def test_damaged_statistics_start_afresh_and_are_told(tmp_path: Path) -> None:
    paths, staging = small_takes.record(tmp_path, 2, LIGHT)
    commit_staging(paths, staging)
    paths.stats.write_text("{ no")
    paths, staging = small_takes.record(tmp_path, 6, LIGHT)
    committed = commit_staging(paths, staging)
    assert "damaged" in committed.warnings[0]
    assert json.loads(paths.stats.read_text())["observation.level"]["count"] == 3


def test_another_fps_than_the_tasks_is_refused_before_a_number_is_taken(tmp_path: Path) -> None:
    paths, staging = small_takes.record(tmp_path, 2, LIGHT)
    commit_staging(paths, staging)
    with pytest.raises(ContractError, match=r"30\.0 rows a second"):
        reserve(small_takes.paths(tmp_path), small_takes.declaration(LIGHT, fps=25.0))
    assert find_stagings(paths) == []


def test_another_depth_codec_than_the_tasks_is_refused_and_the_take_kept(tmp_path: Path) -> None:
    paths, staging = small_takes.record(tmp_path, 2)
    commit_staging(paths, staging)
    info = json.loads(paths.info.read_text())
    info["video_extensions"]["head_depth"] = "mp4"
    paths.info.write_text(json.dumps(info))
    paths, staging = small_takes.record(tmp_path, 2)
    with pytest.raises(ContractError, match=r"head_depth is stored as \.mp4"):
        commit_staging(paths, staging)
    assert (staging / MANIFEST).exists()


def test_a_number_whose_files_stand_there_is_refused_and_nothing_touched(tmp_path: Path) -> None:
    paths, staging = small_takes.record(tmp_path, 2, LIGHT)
    manifest = read_manifest(staging)
    assert manifest is not None
    foreign = paths.video(manifest.number, "other_rgb", "mp4")
    foreign.parent.mkdir(parents=True)
    foreign.write_bytes(b"foreign")
    with pytest.raises(TaskBusyError, match="episode 0 is taken"):
        commit_staging(paths, staging)
    assert foreign.read_bytes() == b"foreign"
    assert not paths.info.exists()
    foreign.unlink()
    assert commit_staging(paths, staging).rows == 2


def test_a_take_that_could_not_be_committed_can_be_recovered_by_the_same_process(tmp_path: Path) -> None:
    paths, staging = small_takes.record(tmp_path, 3, LIGHT)
    (staging / "videos" / "side_rgb.mp4").rename(tmp_path / "kept.mp4")
    with pytest.raises(EpisodeError, match="no row is whole: side_rgb has 0 of 3 rows"):
        commit_staging(paths, staging)
    (tmp_path / "kept.mp4").rename(staging / "videos" / "side_rgb.mp4")
    assert [one.action for one in recover_task(paths.task_dir)] == ["rebuilt"]


def test_a_folder_without_a_recorded_take_is_refused(tmp_path: Path) -> None:
    paths = small_takes.paths(tmp_path)
    staging = reserve(paths, small_takes.declaration(LIGHT))
    with pytest.raises(EpisodeError, match="holds no recorded take"):
        commit_staging(paths, staging)
    abort_take(paths, staging)
    with pytest.raises(EpisodeError, match="holds no recorded take"):
        commit_staging(paths, staging)


def test_a_manifest_that_does_not_say_how_a_slot_was_stored_is_refused(tmp_path: Path) -> None:
    paths, staging = small_takes.record(tmp_path, 2, LIGHT)
    manifest = read_manifest(staging)
    assert manifest is not None
    for wrong in ({}, {"side_rgb": "../../mp4"}):
        (staging / MANIFEST).write_bytes(msgspec.structs.replace(manifest, extensions=wrong).to_json())
        with pytest.raises(EpisodeError, match="side_rgb"):
            commit_staging(paths, staging)


def test_numbers_go_on_over_chunks(tmp_path: Path) -> None:
    paths, staging = small_takes.record(tmp_path, 2, LIGHT)
    commit_staging(paths, staging)
    info = json.loads(paths.info.read_text())
    paths.info.write_text(json.dumps({**info, "chunks_size": 1, "total_episodes": 4}))
    paths, staging = small_takes.record(tmp_path, 2, LIGHT)
    committed = commit_staging(paths, staging)
    assert committed.number.k == 4
    assert committed.data_path.relative_to(paths.task_dir).as_posix() == "data/chunk-004/episode-000.parquet"
    assert json.loads(paths.info.read_text())["chunks_size"] == 1
