from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray

from episodes.force_matrix import decode, encode
from episodes.streams import MatrixStream
from sinks.data_parquet import write_data_parquet
from sinks.heavy_chunks import HEAVY_FILE, HeavyChunks, RowGroup, read_row_groups

NAMES = ("observation.gripper_left_force_matrix", "observation.gripper_right_force_matrix")


def matrix(row: int) -> NDArray[np.float32]:
    rng = np.random.default_rng(row)
    found: NDArray[np.float32] = rng.normal(0, 20, (250, 250, 3)).astype(np.float32)
    found[row % 250] = 400.0 * (-1) ** row
    return found


def record(folder: Path, rows: int, group_rows: int, scales: tuple[int, int] = (100, 100)) -> list[RowGroup]:
    """Two heavy columns; the second one has no sample in odd rows."""
    streams = [MatrixStream(column=name, scale=scale) for name, scale in zip(NAMES, scales, strict=True)]
    chunks = HeavyChunks(folder, streams, group_rows)
    for row in range(rows):
        chunks.append({NAMES[0]: matrix(row), NAMES[1]: None if row % 2 else matrix(row + 1)})
    chunks.close()
    return read_row_groups(folder, NAMES, verify=True)


def light_table(rows: int) -> pa.Table:
    return pa.table(
        {
            "frame_index": pa.array(range(rows), pa.int64()),
            "timestamp": pa.array(np.arange(rows, dtype=np.float32)),
            "observation.imu": pa.array(
                [[[1.0] * 6] * (row % 3) for row in range(rows)], pa.list_(pa.list_(pa.float32(), 6))
            ),
            "observation.left_glove": pa.array(
                [[float(row)] * 256 for row in range(rows)], pa.list_(pa.float32(), 256)
            ),
            "status.gripper_pose": pa.array(["connected"] * rows),
        }
    )


ORDER = (
    "frame_index",
    "timestamp",
    NAMES[0],
    "observation.imu",
    NAMES[1],
    "observation.left_glove",
    "status.gripper_pose",
)
INT16 = dict.fromkeys(NAMES, pa.list_(pa.int16()))


def plain(light: pa.Table, rows: int, scale: int = 100) -> pa.Table:
    """The same table, as an ordinary writer would be given it."""
    kind = pa.list_(pa.float32() if scale == 0 else pa.int16())
    first = pa.array([encode(matrix(row), scale) for row in range(rows)], kind)
    second = pa.array([[] if row % 2 else encode(matrix(row + 1), scale) for row in range(rows)], kind)
    columns = {**{name: light.column(name) for name in light.column_names}, NAMES[0]: first, NAMES[1]: second}
    return pa.table({name: columns[name] for name in ORDER})


@pytest.mark.parametrize(("rows", "group_rows"), [(1, 4), (4, 4), (5, 4), (11, 4), (40, 2)])
def test_a_stitched_file_reads_as_one_written_at_once(tmp_path: Path, rows: int, group_rows: int) -> None:
    groups = record(tmp_path, rows, group_rows)
    light = light_table(rows)
    path = tmp_path / HEAVY_FILE
    write_data_parquet(path, light, INT16, groups, ORDER)
    table = pq.read_table(path)
    assert table.column_names == list(ORDER)
    assert table.equals(plain(light, rows))
    table.validate(full=True)


@pytest.mark.parametrize("scale", [0, 1, 1000])
def test_every_scale_reads_back_to_the_values_of_its_codec(tmp_path: Path, scale: int) -> None:
    groups = record(tmp_path, 3, 2, (scale, scale))
    kind = pa.list_(pa.float32() if scale == 0 else pa.int16())
    write_data_parquet(tmp_path / HEAVY_FILE, light_table(3), dict.fromkeys(NAMES, kind), groups, ORDER)
    table = pq.read_table(tmp_path / HEAVY_FILE)
    assert table.equals(plain(light_table(3), 3, scale))
    spec = {"encoding": "row_flat_raw" if scale == 0 else "row_diff_quantized", "scale": scale or 1}
    values = table.column(NAMES[0])[1].values.to_numpy()
    tolerance = 0.0 if scale == 0 else 0.501 / scale + 1e-3
    assert (
        np.abs(
            decode(values, spec) - np.clip(matrix(1), -32.767, 32.767)
            if scale == 1000
            else decode(values, spec) - matrix(1)
        ).max()
        <= tolerance
    )


def test_other_ways_of_reading_agree(tmp_path: Path) -> None:
    groups = record(tmp_path, 9, 4)
    path = tmp_path / HEAVY_FILE
    light = light_table(9)
    write_data_parquet(path, light, INT16, groups, ORDER)
    expected = plain(light, 9)
    file = pq.ParquetFile(path)
    assert file.metadata.num_rows == 9
    assert [file.metadata.row_group(g).num_rows for g in range(file.num_row_groups)] == [4, 4, 1]
    assert pa.Table.from_batches(file.iter_batches(batch_size=5)).equals(expected)
    assert (
        ds.dataset(path).to_table(columns=[NAMES[1], "frame_index"]).equals(expected.select([NAMES[1], "frame_index"]))
    )
    assert (
        file.read_row_group(1, columns=["observation.left_glove"]).column(0).to_pylist()
        == light.column(3).to_pylist()[4:8]
    )
    assert pq.read_table(path, memory_map=True, use_threads=False).equals(expected)


def test_a_cut_take_has_just_its_first_rows_and_can_be_made_again(tmp_path: Path) -> None:
    groups = record(tmp_path, 10, 4)
    path = tmp_path / HEAVY_FILE
    cut = [groups[0], groups[1].cut(2)]
    for _ in range(2):
        write_data_parquet(path, light_table(6), INT16, cut, ORDER, start=groups[-1].end)
        assert pq.read_table(path).equals(plain(light_table(6), 6))
        assert read_row_groups(tmp_path, NAMES, verify=True) == groups, "what was cut off must stay"


def test_without_heavy_columns_there_is_one_row_group(tmp_path: Path) -> None:
    light = light_table(50)
    write_data_parquet(tmp_path / "data.parquet", light, {}, [], light.column_names)
    file = pq.ParquetFile(tmp_path / "data.parquet")
    assert file.num_row_groups == 1
    assert file.metadata.row_group(0).column(0).compression == "ZSTD"
    assert file.read().equals(light)


def test_groups_that_the_disk_lost_or_spoiled_end_the_reading(tmp_path: Path) -> None:
    groups = record(tmp_path, 10, 4)
    path, index = tmp_path / HEAVY_FILE, tmp_path / "heavy.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[: groups[1].end - 1])
    assert read_row_groups(tmp_path, NAMES, verify=False) == groups[:1]
    spoiled = bytearray(whole)
    spoiled[groups[0].end + 100] ^= 1
    path.write_bytes(spoiled)
    assert read_row_groups(tmp_path, NAMES, verify=False) == groups
    assert read_row_groups(tmp_path, NAMES, verify=True) == groups[:1]
    path.write_bytes(whole)
    lines = index.read_bytes()
    index.write_bytes(lines[:-20])
    assert read_row_groups(tmp_path, NAMES, verify=True) == groups[:2]
    index.write_bytes(b"\xff\xfe nonsense\n" + lines)
    assert read_row_groups(tmp_path, NAMES, verify=True) == []
    index.write_bytes(lines.replace(b'"rows": 4', b'"rows": 5'))
    assert read_row_groups(tmp_path, NAMES, verify=True) == []
    index.write_bytes(lines.replace(NAMES[0].encode(), b"observation.other_force_matrix"))
    assert read_row_groups(tmp_path, NAMES, verify=True) == []


def test_rows_that_wait_behind_end_a_group_sooner(tmp_path: Path) -> None:
    chunks = HeavyChunks(tmp_path, [MatrixStream(column=NAMES[0])], 6)
    for row in range(5):
        chunks.append({NAMES[0]: matrix(row)}, hurry=4 if row == 1 else 0)
    chunks.close()
    groups = read_row_groups(tmp_path, NAMES[:1], verify=True)
    assert [group.rows for group in groups] == [2, 3]
    light = light_table(5).select(["frame_index"])
    path = tmp_path / HEAVY_FILE
    write_data_parquet(path, light, {NAMES[0]: INT16[NAMES[0]]}, groups, ("frame_index", NAMES[0]))
    assert pq.read_table(path).column("frame_index").to_pylist() == [0, 1, 2, 3, 4]
    assert pq.read_table(path).column(NAMES[0])[4].as_py() == encode(matrix(4), 100).tolist()
