"""The demo rig, recorded for real and judged by what stands in its pictures."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from episodes.reader import Episode, open_task
from episodes.validator import validate_task
from flows.session import Session
from flows.summary import TakeSummary
from rigs.registry import load_rig
from sources.virtual.counter import PictureStamp, read_stamp

pytestmark = pytest.mark.slow

HEAD = ("stereo_left", "stereo_right", "stereo_depth")


@pytest.fixture(scope="module")
def take(tmp_path_factory: pytest.TempPathFactory) -> tuple[TakeSummary, Episode]:
    root = tmp_path_factory.mktemp("demo")
    with Session(load_rig("demo"), root, "demo") as session:
        session.start(seconds=4)
        session.wait()
        summary = session.stop()
    return summary, open_task(root / "demo").episode(summary.k)


def stamps_of(episode: Episode, slot: str) -> list[PictureStamp]:
    reader = episode.depth(slot) if episode.kind(slot) == "depth" else episode.video(slot)
    with reader:
        found = [read_stamp(frame) for frame in reader]
    assert None not in found, f"{slot}: a picture's strip cannot be read"
    return [stamp for stamp in found if stamp is not None]


def counters_of(episode: Episode, slot: str) -> NDArray[np.int64]:
    return np.array([stamp.counter for stamp in stamps_of(episode, slot)], np.int64)


def test_every_row_is_there_and_the_deep_validation_finds_nothing(take: tuple[TakeSummary, Episode]) -> None:
    summary, episode = take
    assert episode.length == summary.rows
    # Four seconds of deadlines, each a row or counted as skipped; the last ones may be skipped past the end.
    assert summary.rows <= 121
    assert summary.rows + summary.skipped_ticks >= 120
    report = validate_task(episode.data_path.parents[2], deep=True)
    assert [finding for finding in report.findings if finding.severity == "error"] == []


def test_left_right_and_depth_of_a_row_show_the_same_frame(take: tuple[TakeSummary, Episode]) -> None:
    _summary, episode = take
    left, right, depth = (counters_of(episode, slot) for slot in HEAD)
    assert len(left) == episode.length
    assert np.array_equal(left, right)
    assert np.array_equal(left, depth)


def test_every_counter_is_in_order_and_every_hole_is_counted(take: tuple[TakeSummary, Episode]) -> None:
    summary, episode = take
    assert set(episode.slots) == {*HEAD, "gripper_rgb", "gripper_2_rgb"}
    for slot in episode.slots:
        steps = np.diff(counters_of(episode, slot))
        assert (steps >= 0).all(), slot
        counted = next(found for found in summary.slots if found.slot == slot)
        assert np.count_nonzero(steps == 0) == counted.repeats, slot
        assert int(np.maximum(steps - 1, 0).sum()) <= counted.dropped, slot


def test_the_clock_in_a_picture_is_its_stored_capture_time(take: tuple[TakeSummary, Episode]) -> None:
    _summary, episode = take
    for slot in episode.slots:
        drawn = np.array([stamp.clock_ms for stamp in stamps_of(episode, slot)], np.int64)
        stored = episode.frame_ns(slot) // 1_000_000 % 2**32
        off = stored - drawn
        # On a host clock receipt is all that is known: never before the capture, however late a busy machine made it.
        assert (off >= -1).all(), slot
        if slot in HEAD:
            # On a device clock the fit takes every frame's own delay out: one anchor for the whole take.
            assert np.ptp(off) <= 2, slot


def test_imu_samples_stand_on_the_row_of_their_frame_each_once(take: tuple[TakeSummary, Episode]) -> None:
    _summary, episode = take
    table = episode.rows(["imu_ts_ns", "raw_hw_ns", "observation.imu"])
    stamps, raw, values = (table.column(name).to_pylist() for name in table.column_names)
    flat = np.array([stamp for row in stamps for stamp in row], np.int64)
    assert len(flat) > episode.length
    assert (np.diff(flat) > 0).all()
    assert all(max(row) <= frame for row, frame in zip(stamps, raw, strict=True) if row)
    assert [len(row) for row in stamps] == [len(row) for row in values]


def test_three_trajectories_stand_side_by_side_each_in_its_frame(take: tuple[TakeSummary, Episode]) -> None:
    _summary, episode = take
    frames = {column: found.frame for column, found in episode.trajectories.items()}
    assert frames == {
        "observation.slam_trajectory": "down_left_forward",
        "observation.gripper_2_slam_trajectory": "down_left_forward",
        "observation.ego_slam_trajectory": "ego_cam_optical",
    }
    for found in episode.trajectories.values():
        assert found.host_ns is not None
        assert len(found.host_ns) == len(found.points) > episode.length // 2
        assert (np.diff(found.host_ns) > 0).all()


def test_force_matrices_decode_to_their_scale_and_agree_with_the_forces(take: tuple[TakeSummary, Episode]) -> None:
    _summary, episode = take
    matrices = episode.force_matrix("observation.gripper_left_force_matrix")
    totals, forces = [], []
    table = episode.rows(["observation.gripper_left_force"])
    for place, force in enumerate(table.column(0).to_pylist()):
        matrix = matrices[place]
        if matrix is not None and matrix.size and any(force):
            totals.append(float(matrix[..., 2].sum()))
            forces.append(force[2])
    assert len(totals) > 10
    # The twin's force is the sum of its matrix; 0.01 mN a cell of quantisation, and samples a few ms apart.
    assert np.corrcoef(totals, forces)[0, 1] > 0.98
