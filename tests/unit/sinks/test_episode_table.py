from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from episodes.declaration import Declaration
from episodes.numbering import EpisodeNumber
from episodes.streams import Stream, TrajectoryStream, VectorStream, VideoStream
from operators.cells import Tick
from operators.events import Frame, Point, Sample
from operators.oldest_frame import TickFrame
from sinks.episode_table import EpisodeTable, episode_table
from sinks.journal import JournalFile, read_journal
from sinks.journal_columns import frame_stamps
from tests import small_takes

PERIOD_NS = 33_333_333
BIG_NS = 2**53 + 1  # a float cannot hold it


def table_of(folder: Path, streams: tuple[Stream, ...], rows: list[list[Any]]) -> EpisodeTable:
    declaration: Declaration = small_takes.declaration(streams)
    journal = JournalFile(folder, declaration, BIG_NS, dict)
    for index, values in enumerate(rows):
        at_ns = BIG_NS + index * PERIOD_NS
        journal.append([(Tick(index, at_ns, at_ns), values)])
    journal.close()
    found = read_journal(folder, declaration)
    return episode_table(found.table, declaration, EpisodeNumber(4), small_takes.CLOCK)


def stamps(host_ns: int, *, repeated: bool = False, **more: int) -> Any:
    return frame_stamps(TickFrame(Frame(np.zeros((2, 2, 3), np.uint8), "rgb24", host_ns, **more), repeated))


def column(table: EpisodeTable, name: str) -> list[Any]:
    found: list[Any] = table.light.column(name).to_pylist()
    return found


def test_capture_stamps_are_taken_as_they_come_and_receipt_where_there_is_none(tmp_path: Path) -> None:
    table = table_of(
        tmp_path,
        (VideoStream(slot="side_rgb"),),
        [[stamps(BIG_NS + 9, capture_ns=BIG_NS)], [stamps(BIG_NS + 20)], [stamps(BIG_NS + 20, repeated=True)]],
    )
    assert column(table, "hardware_ns") == [BIG_NS, BIG_NS + 20, BIG_NS + 20]
    assert "raw_hw_ns" not in table.order


def test_a_device_clock_is_fitted_over_the_episode_and_its_stamps_kept_verbatim(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    true = [BIG_NS + n * PERIOD_NS for n in range(60)]
    device = [7_000 + n * PERIOD_NS for n in range(60)]
    delay = rng.integers(0, 9_000_000, 60)
    delay[30] = 0
    rows = [[stamps(true[n] + int(delay[n]), device_ns=device[n], seq=500 + n)] for n in range(60)]
    table = table_of(tmp_path, (VideoStream(slot="head_rgb", clock="device"),), rows)
    assert column(table, "raw_hw_ns") == device
    assert np.abs(np.array(column(table, "hardware_ns")) - np.array(true)).max() < 1_000
    assert table.times["head_rgb"].residual_max_ns is not None
    assert table.times["head_rgb"].residual_max_ns < 1_000


def test_a_device_that_restarts_is_fitted_piece_by_piece(tmp_path: Path) -> None:
    rows = []
    for n in range(20):
        seq = n if n < 12 else n - 12
        rows.append([stamps(BIG_NS + n * PERIOD_NS, device_ns=5 + seq * PERIOD_NS, seq=seq)])
    table = table_of(tmp_path, (VideoStream(slot="head_rgb", clock="device"),), rows)
    expected = [BIG_NS + n * PERIOD_NS for n in range(20)]
    assert np.abs(np.array(column(table, "hardware_ns")) - np.array(expected)).max() < 1_000


def test_a_device_clock_without_frame_numbers_is_taken_by_receipt(tmp_path: Path) -> None:
    rows = [[stamps(BIG_NS + n, device_ns=77 + n)] for n in range(3)]
    table = table_of(tmp_path, (VideoStream(slot="head_rgb", clock="device"),), rows)
    assert column(table, "hardware_ns") == [BIG_NS, BIG_NS + 1, BIG_NS + 2]
    assert table.times["head_rgb"].residual_max_ns is None


def test_a_stamp_that_is_missing_on_some_rows_is_0_there(tmp_path: Path) -> None:
    rows = [[stamps(BIG_NS)], [stamps(BIG_NS + 1, device_ns=BIG_NS + 5)]]
    table = table_of(tmp_path, (VideoStream(slot="side_rgb"),), rows)
    assert column(table, "raw_hw_ns") == [0, BIG_NS + 5]


def test_a_rig_without_video_has_no_capture_time(tmp_path: Path) -> None:
    table = table_of(tmp_path, (VectorStream(column="observation.level"),), [[Sample(np.float32(1), 5)]])
    assert column(table, "hardware_ns") == [0]
    assert column(table, "observation.level") == [1.0]


def test_evidence_tells_repeats_and_frames_missing_by_device_number(tmp_path: Path) -> None:
    streams = (
        VideoStream(slot="d405_rgb", evidence=True),
        VideoStream(slot="d405_depth", kind="depth", master="d405_rgb"),
    )
    rows = [
        [stamps(1, seq=10, ts_src=2), stamps(101, seq=50)],
        [stamps(2, seq=11, ts_src=2), stamps(101, seq=50, repeated=True)],
        [stamps(2, seq=11, ts_src=2, repeated=True), stamps(103, seq=53)],
        [stamps(4, seq=15, ts_src=3), stamps(104, seq=54)],
    ]
    table = table_of(tmp_path, streams, rows)
    assert column(table, "rgb_dup") == [0, 0, 1, 0]
    assert column(table, "rgb_gap") == [0, 0, 0, 3]
    assert column(table, "depth_dup") == [0, 1, 0, 0]
    assert column(table, "depth_gap") == [0, 0, 2, 0]
    assert column(table, "depth_ns") == [101, 101, 103, 104]
    assert column(table, "host_ns") == [1, 2, 2, 4]
    assert column(table, "ts_src") == [2, 2, 2, 3]


def test_evidence_of_a_second_device_has_its_prefix(tmp_path: Path) -> None:
    streams = (VideoStream(slot="wrist_rgb", evidence=True, evidence_prefix="wrist_"),)
    table = table_of(tmp_path, streams, [[stamps(1)], [stamps(1, repeated=True)]])
    assert column(table, "wrist_rgb_dup") == [0, 1]
    assert "rgb_dup" not in table.order
    assert "wrist_depth_dup" not in table.order, "there is no depth slot"


def test_what_was_never_sampled_is_left_out_with_its_stamps(tmp_path: Path) -> None:
    streams = (
        VectorStream(column="observation.force", shape=(3,), stamp_column="observation.force_ns"),
        VectorStream(column="observation.other", shape=(3,)),
    )
    table = table_of(tmp_path, streams, [[None, Sample(np.ones(3), 5)], [None, None]])
    assert "observation.force" not in table.order
    assert "observation.force_ns" not in table.order
    assert column(table, "observation.other") == [[1.0] * 3, [0.0] * 3]
    assert set(table.stats) == {"observation.other"}
    assert table.stats["observation.other"].count == 1, "placeholders are no samples"
    assert table.stats["observation.other"].mean == [1.0] * 3


@pytest.mark.parametrize("stamped", [True, False])
def test_one_stamp_decides_over_the_stamps_of_the_whole_episode(tmp_path: Path, *, stamped: bool) -> None:
    stream = TrajectoryStream(
        column="observation.slam_trajectory",
        frame="down_left_forward",
        time={"t": "sensor_s"},
        owner={"role": "gripper", "rig": 1},
    )
    pose = (1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0)
    rows: list[list[Any]] = [
        [[Point(0.5, pose, None)]],
        [[]],
        [[Point(0.6, pose, BIG_NS if stamped else None), Point(0.7, pose, None)]],
    ]
    table = table_of(tmp_path, (stream,), rows)
    points = column(table, "observation.slam_trajectory")
    assert points == [[0.5, *pose], [], [0.6, *pose, 0.7, *pose]]
    if stamped:
        assert column(table, "observation.slam_trajectory_ns") == [[0], [], [BIG_NS, 0]]
    else:
        assert "observation.slam_trajectory_ns" not in table.order


def test_columns_and_types_are_those_of_the_contract(tmp_path: Path) -> None:
    paths, staging = small_takes.record(tmp_path, 6)
    declaration = small_takes.declaration()
    found = read_journal(staging, declaration)
    table = episode_table(found.table, declaration, EpisodeNumber(0), small_takes.CLOCK)
    assert table.order[:7] == (
        "episode_index",
        "frame_index",
        "timestamp",
        "task_index",
        "wall_time",
        "hardware_ns",
        "raw_hw_ns",
    )
    assert table.order[-1] == "status.gripper_pose"
    schema = table.light.schema
    assert schema.field("timestamp").type == pa.float32()
    assert schema.field("action").type == pa.list_(pa.float32(), 1)
    assert schema.field("observation.imu").type == pa.list_(pa.list_(pa.float32(), 6))
    assert schema.field("observation.left_hand_pose").type == pa.list_(pa.float32(), 63)
    assert table.heavy == {"observation.gripper_left_force_matrix": pa.list_(pa.int16())}
    assert column(table, "episode_index") == [1] * 6
    assert column(table, "wall_time") == [
        small_takes.CLOCK.wall_s + (small_takes.row(i).tick.at_ns - small_takes.START_NS) / 1e9 for i in range(6)
    ]
    assert paths.task_dir.exists()
