from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from episodes.columns import slam_spec
from episodes.episode_row import EPISODE_SCHEMA, EpisodeRow, read_episode_row
from episodes.errors import CorruptFileError
from episodes.numbering import EpisodeNumber

from .appendix_b import ego_trajectory, gripper_trajectory

ROW = EpisodeRow(
    number=EpisodeNumber(1000),
    length=90,
    created_at=1790000000.5,
    duration_sec=3.0,
    drop_stats={"imu_overflow": 0, "uvc:头_rgb": 2},
    video_codec={"encoder": "libx264"},
    calibration={"head_stereo": {"baseline": 0.095}},
    force_matrix_specs={"observation.gripper_left_force_matrix": {"dtype": "int16", "scale": 100}},
    slam_specs={s.column: slam_spec(s) for s in (gripper_trajectory(1), ego_trajectory())},
    clock={"mono_ns": 2**53 + 1, "wall_s": 1790000000.25},
)


def write(path: Path, **columns: Any) -> Path:
    pq.write_table(pa.table({name: [value] for name, value in columns.items()}), path)
    return path


def test_a_row_comes_back_from_its_parquet_file(tmp_path: Path) -> None:
    path = tmp_path / "row.parquet"
    path.write_bytes(ROW.to_parquet())

    assert read_episode_row(path) == ROW
    assert read_episode_row(path, EpisodeNumber(1000)) == ROW


def test_the_file_has_one_row_of_the_layouts_columns(tmp_path: Path) -> None:
    path = tmp_path / "row.parquet"
    path.write_bytes(ROW.to_parquet())
    table = pq.read_table(path)
    row = table.to_pylist()[0]

    assert table.schema.equals(EPISODE_SCHEMA)
    assert table.num_rows == 1
    assert (row["episode_index"], row["start_frame_index"], row["end_frame_index"], row["length"]) == (1001, 0, 89, 90)
    assert row["task_index"] == 0
    assert pq.ParquetFile(path).metadata.row_group(0).column(0).compression == "ZSTD"


def test_an_old_row_without_the_newer_columns_has_their_defaults(tmp_path: Path) -> None:
    path = write(tmp_path / "row.parquet", episode_index=3, length=5, drop_stats="", video_codec=None)

    row = read_episode_row(path)

    assert row == EpisodeRow(number=EpisodeNumber(2), length=5)


def test_a_row_is_picked_by_number_from_an_old_shard(tmp_path: Path) -> None:
    path = tmp_path / "file-000.parquet"
    pq.write_table(pa.table({"episode_index": [1, 2, 3], "length": [10, 20, 30]}), path)

    assert read_episode_row(path, EpisodeNumber(1)).length == 20
    with pytest.raises(CorruptFileError, match="3 rows"):
        read_episode_row(path)
    with pytest.raises(CorruptFileError, match="0 rows"):
        read_episode_row(path, EpisodeNumber(7))


@pytest.mark.parametrize(
    "columns",
    [
        {"episode_index": 0, "length": 1},
        {"episode_index": 2**62, "length": 1},
        {"episode_index": None, "length": 1},
        {"episode_index": "1", "length": 1},
        {"episode_index": 1, "length": -1},
        {"episode_index": 1},
        {"episode_index": 1, "length": 1, "created_at": "yesterday"},
        {"episode_index": 1, "length": 1, "slam_specs": "{"},
        {"episode_index": 1, "length": 1, "slam_specs": "[]"},
        {"episode_index": 1, "length": 1, "clock": "[" * 100_000},
        {"episode_index": 1, "length": 1, "drop_stats": {"a": 1}},
    ],
)
def test_a_row_that_cannot_be_is_refused(tmp_path: Path, columns: dict[str, Any]) -> None:
    path = write(tmp_path / "row.parquet", **columns)

    with pytest.raises(CorruptFileError, match=r"row\.parquet"):
        read_episode_row(path)


@pytest.mark.parametrize("text", [b"", b"PAR1", b"x" * 1000])
def test_a_file_that_is_no_parquet_is_named(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "row.parquet"
    path.write_bytes(text)

    with pytest.raises(CorruptFileError, match=r"row\.parquet"):
        read_episode_row(path)


def test_every_truncation_of_a_row_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "row.parquet"
    whole = ROW.to_parquet()
    for size in range(0, len(whole), 37):
        path.write_bytes(whole[:size])
        with pytest.raises(CorruptFileError):
            read_episode_row(path)


def test_a_missing_row_is_named(tmp_path: Path) -> None:
    with pytest.raises(CorruptFileError, match=r"row\.parquet"):
        read_episode_row(tmp_path / "row.parquet")


def test_a_row_file_that_unpacks_to_gigabytes_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("episodes.episode_row.MAX_BYTES", 100_000)
    path = write(tmp_path / "row.parquet", episode_index=1, length=1, clock="{" + " " * 200_000 + "}")

    with pytest.raises(CorruptFileError, match="bytes together"):
        read_episode_row(path)


def test_an_episode_without_rows_ends_at_frame_zero() -> None:
    table = pq.read_table(pa.BufferReader(EpisodeRow(number=EpisodeNumber(0), length=0).to_parquet()))

    assert table.to_pylist()[0]["end_frame_index"] == 0
