"""Old tasks are no errors, and no damage, wherever it is, makes validator or reader fail otherwise than by words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from episodes.errors import EpisodeError
from episodes.reader import open_task
from episodes.validator import validate_task
from tests.task_builder import ROWS, TaskBuilder, video_bytes


def old_task(path: Path) -> TaskBuilder:
    """What the first releases wrote: a row a slot, cut stamps, a row of ten columns, long GOPs, a phantom slot."""
    builder = TaskBuilder(path, depth="dual")
    parts = builder.episode(0)
    for key in ("clock", "slam_specs", "force_matrix_specs"):
        del parts.row[key]
    parts.row["drop_stats"] = {}
    for name in [name for name in parts.columns if name.endswith("_frame_ns")]:
        del parts.columns[name], builder.info["features"][name]
    for feature in builder.info["features"].values():
        for key in ("frame", "frame_axes", "time", "owner", "source_slot"):
            feature.pop(key, None)
    del builder.info["slam_frames"], builder.info["gripper_slam_frame"]
    builder.info["video_extensions"]["phantom_depth"] = "mp4"
    builder.info["devices"][2] = {"key": "ble:1", "kind": "ble_glove", "name": "", "slots": ["left_glove"]}
    builder.info["device_names"]["left_glove"] = "g"
    stamps = (2**31 - 100_000_000 + np.arange(ROWS) * 33_333_333).astype(np.int32)
    parts.set("hardware_ns", stamps, pa.int64())
    parts.set("observation.slam_pose", [[0.0] * 7] * ROWS, pa.list_(pa.float32()))
    parts.edit("observation.slam_trajectory_ns", 0, [])
    for slot in ("head_rgb", "gripper_rgb"):
        parts.videos[slot, "mp4"] = video_bytes("rgb", ROWS, gop=250)
    parts.videos["gripper_rgb", "mp4"] = video_bytes("rgb", ROWS - 1, gop=250)
    rows = np.repeat(np.arange(ROWS), 2)
    parts.columns = {name: column.take(pa.array(rows)) for name, column in parts.columns.items()}
    late = parts.columns["timestamp"].to_numpy() + (np.arange(2 * ROWS) % 2) * np.float32(0.0001)
    parts.set("timestamp", late, pa.float32())
    return builder


def test_an_old_task_has_warnings_and_no_error_and_is_read(tmp_path: Path) -> None:
    path = old_task(tmp_path / "old").write()
    report = validate_task(path, deep=True)
    assert [finding for finding in report.findings if finding.severity == "error"] == []
    found = {finding.rule for finding in report.findings}
    assert found >= {"old.rows-per-frame", "old.hardware-ns", "old.slam-pose", "old.frame", "old.row", "video.rows"}
    assert "task.unjudged" not in found
    episode = open_task(path).episode(0)
    assert episode.length == ROWS
    assert len(episode.warnings) == 1
    assert set(np.diff(episode.hardware_ns).tolist()) == {33_333_333}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> TaskBuilder:
    builder = TaskBuilder(tmp_path_factory.mktemp("damage") / "task")
    builder.episode(0, rows=4)
    builder.write()
    return builder


def read_everything(path: Path) -> None:
    """Whatever the reader gives; EpisodeError is its only way to refuse."""
    try:
        task = open_task(path)
        _ = task.stats
        for episode in task.episodes:
            for ask in (
                lambda e=episode: e.rows(),
                lambda e=episode: e.row,
                lambda e=episode: e.trajectories,
                lambda e=episode: [len(list(e.force_matrix(name))) for name in e.heavy_columns],
                lambda e=episode: [list(e.video(slot)) for slot in e.slots if e.kind(slot) == "rgb"],
                lambda e=episode: [list(e.depth(slot)) for slot in e.slots if e.kind(slot) == "depth"],
            ):
                try:
                    ask()
                except EpisodeError:
                    continue
    except EpisodeError:
        return


FILES = (
    "meta/info.json",
    "meta/stats.json",
    "meta/tasks.jsonl",
    "meta/episodes/chunk-000/episode-000.parquet",
    "data/chunk-000/episode-000.parquet",
    "videos/chunk-000/head_rgb/episode-000.mp4",
    "videos/chunk-000/head_depth/episode-000.mkv",
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    file=st.sampled_from(FILES),
    place=st.floats(0, 1),
    noise=st.binary(min_size=1, max_size=40),
    how=st.sampled_from(["overwrite", "cut", "insert", "replace"]),
)
def test_damage_anywhere_ends_in_words(whole: TaskBuilder, file: str, place: float, noise: bytes, how: str) -> None:
    path = whole.path / file
    content = path.read_bytes()
    at = int(place * len(content))
    damaged = {
        "overwrite": content[:at] + noise + content[at + len(noise) :],
        "cut": content[:at],
        "insert": content[:at] + noise + content[at:],
        "replace": noise,
    }[how]
    try:
        path.write_bytes(damaged)
        report = validate_task(whole.path, deep=True)
        assert "task.unjudged" not in {finding.rule for finding in report.findings}, report.findings
        read_everything(whole.path)
    finally:
        path.write_bytes(content)
