from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from episodes.errors import CorruptFileError
from episodes.streams import VectorStream
from operators.cells import Tick
from operators.events import Sample
from operators.oldest_frame import TickFrame
from operators.rows import Row
from sinks.journal import JOURNAL_FILE, JournalFile, read_journal
from sinks.journal_columns import frame_stamps
from tests import small_takes


def kept(row: Row) -> tuple[Tick, list[Any]]:
    """What the take writer hands to the journal."""
    values: list[Any] = list(row.values)
    for index, value in enumerate(values):
        if isinstance(value, TickFrame):
            values[index] = frame_stamps(value)
        elif isinstance(value, Sample) and value.value.shape == (250, 250, 3):
            values[index] = value.host_ns
    return row.tick, values


def write(folder: Path, rows: int, flush: int, counts: list[int] | None = None) -> None:
    counted = counts or [0]
    journal = JournalFile(
        folder, small_takes.declaration(), small_takes.START_NS, lambda: {"uvc:side_rgb": counted[-1]}
    )
    for first in range(0, rows, flush):
        counted.append(first)
        journal.append([kept(small_takes.row(i)) for i in range(first, min(first + flush, rows))])
    journal.close()


def test_rows_come_back_with_every_stamp_exact(tmp_path: Path) -> None:
    write(tmp_path, 10, 4)
    found = read_journal(tmp_path, small_takes.declaration())
    table = found.table
    assert table.num_rows == 10
    assert table.column("at_ns").to_pylist() == [small_takes.row(i).tick.at_ns for i in range(10)]
    assert table.column("time_s").to_pylist() == [
        (small_takes.row(i).tick.at_ns - small_takes.START_NS) / 1e9 for i in range(10)
    ]
    frames = [small_takes.row(i).values[0] for i in range(10)]
    assert all(isinstance(frame, TickFrame) for frame in frames)
    assert table.column("0.device_ns").to_pylist() == [f.frame.device_ns for f in frames if isinstance(f, TickFrame)]
    assert table.column("0.repeated").to_pylist() == [i % 3 == 2 for i in range(10)]
    assert table.column("2.device_ns").null_count == 10
    assert found.counters == {"uvc:side_rgb": 8}


def test_a_journal_cut_anywhere_gives_the_flushes_before(tmp_path: Path) -> None:
    write(tmp_path, 12, 4)
    path = tmp_path / JOURNAL_FILE
    whole = path.read_bytes()
    seen = set()
    for size in [*range(0, len(whole), 401), len(whole)]:
        path.write_bytes(whole[:size])
        table = read_journal(tmp_path, small_takes.declaration()).table
        assert table.num_rows % 4 == 0
        assert table.column("frame_index").to_pylist() == list(range(table.num_rows))
        seen.add(table.num_rows)
    assert seen == {0, 4, 8, 12}


def test_no_journal_is_no_row(tmp_path: Path) -> None:
    assert read_journal(tmp_path, small_takes.declaration()).table.num_rows == 0


def test_a_journal_of_another_declaration_is_refused(tmp_path: Path) -> None:
    write(tmp_path, 4, 4)
    with pytest.raises(CorruptFileError, match="other columns"):
        read_journal(tmp_path, small_takes.declaration(small_takes.LIGHT))


def test_rows_out_of_order_are_refused(tmp_path: Path) -> None:
    journal = JournalFile(tmp_path, small_takes.declaration(), small_takes.START_NS, dict)
    journal.append([kept(small_takes.row(0)), kept(small_takes.row(2))])
    journal.close()
    with pytest.raises(CorruptFileError, match="other rows"):
        read_journal(tmp_path, small_takes.declaration())


def test_nonsense_is_no_row_and_no_crash(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    write(tmp_path, 8, 4)
    path = tmp_path / JOURNAL_FILE
    whole = path.read_bytes()
    for number in range(60):
        spoiled = bytearray(whole)
        for place in rng.integers(0, len(spoiled), 1 + number % 20):
            spoiled[place] = int(rng.integers(0, 256))
        path.write_bytes(spoiled)
        try:
            table = read_journal(tmp_path, small_takes.declaration()).table
        except CorruptFileError:
            continue
        assert table.num_rows in (0, 4, 8)
        table.validate(full=True)


def test_a_value_of_another_shape_counts_as_no_sample(tmp_path: Path) -> None:
    streams = (VectorStream(column="observation.state", shape=(3,)),)
    declaration = small_takes.declaration(streams)
    journal = JournalFile(tmp_path, declaration, 0, dict)
    values = [np.ones(3, np.float32), np.ones(4, np.float32), np.array(["x", "y", "z"]), np.ones((3, 1))]
    for index, value in enumerate(values):
        journal.append([(Tick(index, index, index), [Sample(value, 1_000 + index)])])
    journal.close()
    found = read_journal(tmp_path, declaration)
    assert found.table.column("0.host_ns").to_pylist() == [1_000, None, None, 1_003]
    assert found.table.column("0.value").to_pylist() == [[1.0] * 3, None, None, [1.0] * 3]
    assert found.counters == {"state_refused_count": 2}


def test_every_dtype_of_a_vector_comes_back(tmp_path: Path) -> None:
    dtypes = ("float32", "float64", "int64", "int32", "int16", "int8", "uint8", "bool")
    streams = tuple(VectorStream(column=f"observation.{name}", dtype=name, shape=(2,)) for name in dtypes)
    streams += tuple(VectorStream(column=f"observation.one_{name}", dtype=name) for name in dtypes)
    declaration = small_takes.declaration(streams)
    journal = JournalFile(tmp_path, declaration, 0, dict)
    sample = [Sample(np.ones(stream.shape, stream.dtype), 7) for stream in streams]
    journal.append([(Tick(0, 0, 0), list(sample)), (Tick(1, 1, 1), [None] * len(streams))])
    journal.close()
    table = read_journal(tmp_path, declaration).table
    for index, stream in enumerate(streams):
        expected = [[1, 1], None] if stream.shape else [1, None]
        assert table.column(f"{index}.value").to_pylist() == expected
        kind = table.schema.field(f"{index}.value").type
        assert (kind.value_type if stream.shape else kind) == pa.from_numpy_dtype(np.dtype(stream.dtype))


def test_counters_written_after_the_last_row_are_the_newest(tmp_path: Path) -> None:
    counts = {"imu_overflow": 1}
    journal = JournalFile(tmp_path, small_takes.declaration(), 0, lambda: counts)
    journal.append([kept(small_takes.row(0))])
    counts["imu_overflow"] = 5
    journal.note_counters()
    journal.close()
    found = read_journal(tmp_path, small_takes.declaration())
    assert found.table.num_rows == 1
    assert found.counters == {"imu_overflow": 5}
