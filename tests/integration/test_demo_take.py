"""The demo rig's take: every column is there, and pictures, depth, forces and poses on disk tell one story.

What belongs together is read from the pictures themselves, from the counter and the clock in their pixels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from episodes.reader import Episode, open_task
from flows.session import Session, SessionOptions
from rigs.demo import HEAD_HEIGHT, HEAD_WIDTH, rig
from sources.virtual.counter import STRIP_HEIGHT, PictureStamp, read_stamp
from sources.virtual.glove import CURL_RAD, PRESSURE_FULL
from sources.virtual.scene import Scene
from sources.virtual.world import BLOCK_M, Hand, World
from tests.session_bench import deep_findings

SECONDS = 4.5
"""Longer than a cycle of the world's hands: both close once, whenever the take begins."""
HANDS: tuple[Hand, ...] = ("left", "right")
WORLD = World.now()
"""The world of the take: what it must have been like can be asked again."""


@pytest.fixture(scope="module")
def take(tmp_path_factory: pytest.TempPathFactory) -> Episode:
    options = SessionOptions(disk_reserve=1, disk_warning=1, app_version="0.0.0")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(World, "now", lambda: WORLD)
        demo = rig(noise="none", video_codec="libx264", depth_codec="ffv1")
    with Session(demo, tmp_path_factory.mktemp("recordings"), "demo", options=options) as session:
        session.start(seconds=SECONDS)
        session.wait(60)
        session.stop()
    assert deep_findings(session.task_dir) == []
    return open_task(session.task_dir).episode(0)


def stamps(take: Episode, slot: str) -> list[PictureStamp]:
    reader = take.depth(slot) if take.kind(slot) == "depth" else take.video(slot)
    with reader:
        read = [read_stamp(picture) for picture in reader]
    found = [stamp for stamp in read if stamp is not None]
    assert len(found) == len(read) == take.length
    return found


def column(take: Episode, name: str) -> list[Any]:
    values: list[Any] = take.rows([name]).column(name).to_pylist()
    return values


def ms(ns: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
    return np.asarray(ns, dtype=np.int64) // 1_000_000 % 2**32


def test_the_take_has_every_column_of_the_layouts_full_example(take: Episode) -> None:
    fingers = [
        f"{finger}_force{matrix}{ns}"
        for finger in ("left", "right")
        for matrix in ("", "_matrix")
        for ns in ("", "_ns")
    ]
    expected = {
        *("episode_index", "frame_index", "timestamp", "task_index", "wall_time", "hardware_ns", "raw_hw_ns", "action"),
        *("imu_ts_ns", "observation.imu"),
        *(f"observation.{side}_hand_pose" for side in ("left", "right")),
        *(f"observation.{side}_glove{end}" for side in ("left", "right") for end in ("", "_imu_quat", "_imu_valid")),
        *(f"observation.{prefix}gripper_state" for prefix in ("", "gripper_2_")),
        *(f"observation.{prefix}gripper_{finger}" for prefix in ("", "gripper_2_") for finger in fingers),
        *(f"observation.{prefix}slam_trajectory{ns}" for prefix in ("", "gripper_2_", "ego_") for ns in ("", "_ns")),
        *(f"status.gripper_{two}{port}" for two in ("", "2_") for port in ("pose", "force_left", "force_right")),
        *("status.left_glove", "status.right_glove"),
    }
    slots = {"stereo_left", "stereo_right", "stereo_depth", "gripper_rgb", "gripper_2_rgb"}
    assert set(take.slots) == slots
    assert set(take.columns) == expected | {f"observation.{slot}_frame_ns" for slot in slots - {"stereo_left"}}


def test_each_row_shows_one_moment_of_the_head(take: Episode) -> None:
    left = stamps(take, "stereo_left")
    assert left == stamps(take, "stereo_right") == stamps(take, "stereo_depth")
    assert np.all(np.diff([stamp.counter for stamp in left]) >= 0)


def test_what_the_counters_miss_or_repeat_is_counted(take: Episode) -> None:
    for slot in ("stereo_left", "gripper_rgb", "gripper_2_rgb"):
        steps = np.diff([stamp.counter for stamp in stamps(take, slot)])
        assert np.count_nonzero(steps == 0) == take.drop_stats.get(f"{slot}_repeat_count", 0)
        assert np.sum(steps[steps > 0] - 1) <= take.drop_stats.get(f"ext:{slot}", 0)


def test_capture_times_are_those_in_the_pictures(take: Episode) -> None:
    for slot in take.slots:
        late = ms(take.frame_ns(slot)) - np.array([stamp.clock_ms for stamp in stamps(take, slot)])
        # Grippers are stamped on receipt, the head by its own clock, fitted: no delivery shows but the quickest.
        assert late.min() >= -1
        if slot.startswith("stereo"):
            assert late.max() - late.min() <= 1
            assert late.max() <= 100


def test_inertial_samples_stand_on_the_row_of_their_frame_once(take: Episode) -> None:
    raw, samples = column(take, "raw_hw_ns"), column(take, "imu_ts_ns")
    values = column(take, "observation.imu")
    assert [len(row) for row in samples] == [len(row) for row in values]
    flat = [stamp for row in samples for stamp in row]
    assert flat == sorted(set(flat))
    for index in range(1, take.length):
        if raw[index] == raw[index - 1]:
            assert samples[index] == []
        else:
            assert all(raw[index - 1] < stamp <= raw[index] for stamp in samples[index])
            assert samples[index][-1] == raw[index]


def test_each_pose_pairs_with_the_frame_that_it_was_taken_from(take: Episode) -> None:
    clocks = {"": "gripper_rgb", "gripper_2_": "gripper_2_rgb", "ego_": "stereo_left"}
    for prefix, slot in clocks.items():
        trajectory = take.trajectories[f"observation.{prefix}slam_trajectory"]
        assert trajectory.host_ns is not None
        assert len(trajectory) >= take.length - 5
        seen = {stamp.clock_ms for stamp in stamps(take, slot)}
        taken = [int(stamp) in seen for stamp in ms(trajectory.host_ns)]
        # At both ends of the take a pose may have no frame in it; in between only those of counted losses.
        assert taken[5:-5].count(False) <= take.drop_stats.get(f"ext:{slot}", 0)
        t = trajectory.points[:, 0]
        assert np.diff(t) * 1e9 == pytest.approx(np.diff(trajectory.host_ns), abs=1000)


def test_the_block_stands_in_the_depth_where_the_heads_pose_puts_it(take: Episode) -> None:
    scene = Scene(HEAD_HEIGHT, HEAD_WIDTH, focal_px=HEAD_WIDTH / 2)
    trajectory = take.trajectories["observation.ego_slam_trajectory"]
    assert trajectory.host_ns is not None
    pose_at = dict(zip(ms(trajectory.host_ns).tolist(), trajectory.points[:, 1:4].tolist(), strict=True))
    clocks = [stamp.clock_ms for stamp in stamps(take, "stereo_depth")]
    compared = 0
    with take.depth("stereo_depth") as reader:
        for clock, depth in zip(clocks, reader, strict=True):
            pose = pose_at.get(clock)
            if pose is None:
                continue
            expected = scene.depth((pose[0], pose[1], pose[2]))
            assert np.array_equal(depth[STRIP_HEIGHT:], expected[STRIP_HEIGHT:])
            assert (depth[STRIP_HEIGHT:] == round(BLOCK_M * 1000)).any()
            compared += 1
    assert compared >= take.length - 5


@pytest.mark.parametrize(("prefix", "hand"), [("", "left"), ("gripper_2_", "right")])
def test_forces_matrices_and_states_are_those_of_the_world_at_a_beat_of_the_tracker(
    take: Episode, prefix: str, hand: Hand
) -> None:
    points = take.trajectories[f"observation.{prefix}slam_trajectory"]
    assert points.host_ns is not None
    beats = points.host_ns.tolist()
    period = (beats[-1] - beats[0]) // (len(beats) - 1)
    halves = [beat + half for beat in (beats[0] - period, *beats) for half in (0, period // 2)]
    y, x = points.points[:, 1], -points.points[:, 2]
    assert np.column_stack((x, y)) == pytest.approx(np.array([WORLD.hand(hand, beat)[:2] for beat in beats]))

    states = np.array([[WORLD.opening(hand, beat), WORLD.force(hand, "left", beat)[2]] for beat in beats])
    for opening, gripped, fz in column(take, f"observation.{prefix}gripper_state")[2:-2]:
        if opening > 0:
            assert np.abs(states - (opening, fz)).max(axis=1).min() < 0.01
            assert gripped == float(fz > 0)
    for finger in HANDS:
        name = f"observation.{prefix}gripper_{finger}_force"
        truth = np.array([WORLD.force(hand, finger, half) for half in halves])
        for force in column(take, name)[2:-2]:
            assert np.abs(truth - force).max(axis=1).min() < 0.05
        check_matrices(take, f"{name}_matrix", hand, finger, beats)


def check_matrices(take: Episode, name: str, hand: Hand, finger: Hand, beats: list[int]) -> None:
    """Each matrix sums up to the force of a beat, and its highest cell is where the contact was then."""
    truth = np.array([WORLD.force(hand, finger, beat) for beat in beats])
    pressed = 0
    for matrix in list(take.force_matrix(name))[2:-2]:
        if matrix is None or not matrix.any():
            continue
        total = matrix.sum(axis=(0, 1), dtype=np.float64)
        beat = int(np.abs(truth - total).max(axis=1).argmin())
        # Each of 14,641 cells was rounded to a hundredth.
        assert total == pytest.approx(truth[beat], abs=5.0)
        if total[2] < 500:
            continue
        row, middle = np.unravel_index(int(matrix[..., 2].argmax()), (250, 250))
        near = [
            WORLD.contact(hand, finger, b) for b in beats if np.abs(WORLD.force(hand, finger, b) - total).max() < 60
        ]
        assert min(abs(int(row) - r) + abs(int(middle) - c) for r, c in near) <= 6
        pressed += 1
    assert pressed >= 10


@pytest.mark.parametrize("side", HANDS)
def test_a_glove_presses_as_hard_as_its_fingers_are_bent(take: Episode, side: Hand) -> None:
    pressure = np.array(column(take, f"observation.{side}_glove")).max(axis=1)
    tips = np.array(column(take, f"observation.{side}_glove_imu_quat")).reshape(-1, 16, 4)[:, 3]
    compared = 0
    for pressed, tip in zip(pressure, tips, strict=True):
        assert pressed == 0 or 500 <= pressed <= 3000.1
        if pressed == 0 or not tip.any():
            continue
        grip = 2 * np.arctan2(tip[0], tip[3]) / CURL_RAD
        # A tick may fall between the two samples of a beat: then they are one beat, 17 ms, apart.
        assert pressed / PRESSURE_FULL == pytest.approx(grip, abs=0.1)
        compared += 1
    assert compared >= 10
    assert column(take, f"status.{side}_glove").count("connected") > take.length // 2
