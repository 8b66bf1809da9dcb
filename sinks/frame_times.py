"""When each row's frame was captured, on the host's monotonic clock."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from episodes.streams import VideoStream
from operators.clock_fit import fit_clock

__all__ = ["FrameTimes", "frame_times"]


@dataclass(frozen=True, slots=True)
class FrameTimes:
    """The frames of one slot, a row each; all ns are int64, 0 for no stamp.

    Attributes:
        capture_ns: [rows] capture times, host monotonic: the stamp as it came, or fitted for a device-clock link.
        host_ns: [rows] receipts. device_ns: [rows] the device's stamps, verbatim. has_device_ns: any row has one.
        repeated: [rows] bool. gap: [rows] frames missing before this one, by device number; 0 where it gives none.
        ts_src: [rows] origin of the stamp. residual_max_ns: of the fit; None where nothing was fitted.
    """

    capture_ns: NDArray[np.int64]
    host_ns: NDArray[np.int64]
    device_ns: NDArray[np.int64]
    has_device_ns: bool
    repeated: NDArray[np.bool_]
    gap: NDArray[np.int64]
    ts_src: NDArray[np.int64]
    residual_max_ns: int | None


def frame_times(stream: VideoStream, journal: pa.Table, index: int) -> FrameTimes:
    """The capture times of a slot, from the journal's columns of stream number ``index``.

    A repeated frame has its own frame's stamp again. A device-clock link whose frames carry no numbers is taken by
    receipt; one that restarted inside the take is fitted piece by piece.
    """
    host, _ = _column(journal, f"{index}.host_ns")
    capture, has_capture = _column(journal, f"{index}.capture_ns")
    device, has_device = _column(journal, f"{index}.device_ns")
    seq, has_seq = _column(journal, f"{index}.seq")
    repeated = journal.column(f"{index}.repeated").to_numpy().astype(np.bool_)
    times = np.where(has_capture, capture, host)
    residual: int | None = None
    if stream.clock == "device":
        usable = has_seq & has_device
        fitted, residual = _fitted(seq, device, host, usable)
        times = np.where(usable, fitted, times)
    gap = np.zeros(len(host), np.int64)
    if len(host) > 1:
        known = has_seq[1:] & has_seq[:-1] & ~repeated[1:]
        gap[1:] = np.where(known, np.maximum(np.diff(seq) - 1, 0), 0)
    return FrameTimes(
        capture_ns=times,
        host_ns=host,
        device_ns=device,
        has_device_ns=bool(has_device.any()),
        repeated=repeated,
        gap=gap,
        ts_src=_column(journal, f"{index}.ts_src")[0],
        residual_max_ns=residual,
    )


def _fitted(
    seq: NDArray[np.int64], device: NDArray[np.int64], host: NDArray[np.int64], usable: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], int | None]:
    """Capture times of the usable rows, and the largest residual."""
    times = np.zeros(len(seq), np.int64)
    rows = np.flatnonzero(usable)
    if len(rows) == 0:
        return times, None
    # A number or a stamp that goes back is a device that started anew: its clock has nothing to do with the one before.
    back = (np.diff(seq[rows]) < 0) | (np.diff(device[rows]) < 0)
    residual = 0
    for piece in np.split(rows, np.flatnonzero(back) + 1):
        numbers, first = np.unique(seq[piece], return_index=True)
        fit = fit_clock(numbers, device[piece][first], host[piece][first])
        times[piece] = fit.at(seq[piece])
        residual = max(residual, fit.residual_max_ns)
    return times, residual


def _column(journal: pa.Table, name: str) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """A column's values, 0 where there is none, and where there is one. Never through floats."""
    column = journal.column(name).combine_chunks()
    valid = column.is_valid().to_numpy(zero_copy_only=False).astype(np.bool_)
    return column.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64), valid
