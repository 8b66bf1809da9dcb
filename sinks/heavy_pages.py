"""Parquet data pages of a force-matrix column, laid out by hand: one page a row.

A row is one list of 187,500 values or an empty list. Its repetition and definition levels are then two or three runs,
where a general writer makes a level a value. Source: the Parquet format's encodings page (RLE / bit-packed hybrid,
BYTE_STREAM_SPLIT) and its thrift definitions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from episodes.force_matrix import SIZE, ForceMatrixEncoder
from sinks.thrift_compact import I32, STRUCT, Struct, write_struct

__all__ = ["Page", "PageMaker"]

_ENCODING_RLE = 3
_ENCODING_BYTE_STREAM_SPLIT = 9
_DATA_PAGE = 0


@dataclass(frozen=True, slots=True)
class Page:
    """One page: its bytes with header, its size before compression with header, its number of level entries."""

    content: bytes
    uncompressed: int
    values: int


def _run(count: int, level: int) -> bytes:
    """One RLE run of levels that fit one byte."""
    out = bytearray()
    head = count << 1
    while head > 0x7F:
        out.append(head & 0x7F | 0x80)
        head >>= 7
    out.append(head)
    out.append(level)
    return bytes(out)


def _levels(runs: bytes) -> bytes:
    return len(runs).to_bytes(4, "little") + runs


# list (optional) > list (repeated) > element (optional): repetition 0..1, definition 0..3; an empty list is level 1.
_FULL = _levels(_run(1, 0) + _run(SIZE - 1, 1)) + _levels(_run(SIZE, 3))
_EMPTY = _levels(_run(1, 0)) + _levels(_run(1, 1))


class PageMaker:
    """Makes the pages of one column; keeps its buffers, so it belongs to one thread.

    Args:
        scale: of the column, see `episodes.force_matrix.ForceMatrixEncoder`.
    """

    def __init__(self, scale: int) -> None:
        self._encoder = ForceMatrixEncoder(scale)
        self._raw = scale == 0
        self._values: NDArray[Any] = np.empty(SIZE, np.float32 if self._raw else np.int16)
        self._page = np.empty(len(_FULL) + 4 * SIZE, np.uint8)
        self._page[: len(_FULL)] = np.frombuffer(_FULL, np.uint8)
        self._streams = self._page[len(_FULL) :].reshape(4, SIZE)
        # zstd 1: measured three times as fast as 3 on this data, for a tenth more bytes.
        self._codec = pa.Codec("zstd", compression_level=1)

    def page(self, matrix: NDArray[np.float32] | None) -> Page:
        """The page of one row: [250, 250, 3] float32 mN, or None for a row without a sample."""
        if matrix is None:
            return self._finish(_EMPTY, len(_EMPTY), 1)
        self._encoder.encode(matrix, self._values)
        streams = self._streams
        parts = self._values.view(np.uint8).reshape(SIZE, -1)
        if self._raw:
            streams[:] = parts.T
        else:
            streams[0], streams[1] = parts[:, 0], parts[:, 1]
            # int16 is stored as INT32: the upper two bytes are the sign.
            np.right_shift(self._values, 15, out=self._values)
            streams[2] = self._values.view(np.uint8)[::2]
            streams[3] = streams[2]
        return self._finish(self._page, len(self._page), SIZE)

    def _finish(self, body: Any, size: int, values: int) -> Page:
        compressed = self._codec.compress(body, asbytes=True)
        header: Struct = {
            1: (I32, _DATA_PAGE),
            2: (I32, size),
            3: (I32, len(compressed)),
            5: (
                STRUCT,
                {
                    1: (I32, values),
                    2: (I32, _ENCODING_BYTE_STREAM_SPLIT),
                    3: (I32, _ENCODING_RLE),
                    4: (I32, _ENCODING_RLE),
                },
            ),
        }
        head = write_struct(header)
        return Page(head + compressed, len(head) + size, values)
