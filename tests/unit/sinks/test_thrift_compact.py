from __future__ import annotations

import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sinks.parquet_footer import footer_bytes
from sinks.thrift_compact import BINARY, I32, I64, STRUCT, list_of, read_struct, skip, write_struct


def footer() -> bytes:
    sink = io.BytesIO()
    columns = {"number": list(range(100)), "text": ["ab", None] * 50, "lists": [[1.5], []] * 50, "yes": [True] * 100}
    pq.write_table(pa.table(columns), sink, compression="zstd", row_group_size=9)
    return footer_bytes(sink.getvalue())


def test_a_real_footer_is_written_back_byte_for_byte() -> None:
    content = footer()
    struct, end = read_struct(content)
    assert end == len(content)
    assert write_struct(struct) == content


def test_skipping_a_footer_ends_where_reading_does() -> None:
    content = footer()
    assert skip(content, 0, STRUCT) == len(content)


@pytest.mark.parametrize("value", [0, 1, -1, 63, -64, 64, 2**31, -(2**31), 2**62, -(2**63), 2**63 - 1])
def test_integers_of_any_size_come_back(value: int) -> None:
    assert read_struct(write_struct({1: (I64, value)}))[0] == {1: (I64, value)}


def test_fields_far_apart_and_long_lists_come_back() -> None:
    struct = {
        1: (I32, 3),
        40: (BINARY, b"x" * 300),
        41: list_of(I32, list(range(20))),
        2000: (1, True),
        2001: (2, False),
    }
    assert read_struct(write_struct(struct))[0] == struct


def test_the_bytes_of_a_struct_stand_for_it() -> None:
    inner = {1: (I32, 7), 3: (BINARY, b"name")}
    as_struct = write_struct({2: list_of(STRUCT, [inner, inner])})
    as_bytes = write_struct({2: list_of(STRUCT, [write_struct(inner)] * 2)})
    assert as_bytes == as_struct


def test_a_footer_that_breaks_off_anywhere_is_an_error_not_a_crash() -> None:
    content = footer()
    for end in range(0, len(content) - 1, 7):
        with pytest.raises(ValueError, match="thrift"):
            read_struct(content[:end])


def test_nesting_without_end_is_refused() -> None:
    with pytest.raises(ValueError, match="too deep"):
        read_struct(b"\x1c" * 1000)
