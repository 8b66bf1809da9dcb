"""Pairing by stamps: the nearest one in time, never the same row."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["nearest"]


def nearest(query_ns: ArrayLike, stamps_ns: ArrayLike, max_gap_ns: int | None = None) -> NDArray[np.int64]:
    """For each query the index of the stamp nearest in time, or -1.

    Args:
        query_ns: [m] int64, e.g. the capture times of a slot's frames. 0 is no stamp and finds nothing.
        stamps_ns: [n] int64 on the same clock, in any order. 0 is no stamp and is never found.
        max_gap_ns: a stamp further away than this is not found; None: however far.

    Returns:
        [m] int64, indices into ``stamps_ns``; -1 where there is none. Of two equally near ones the earlier in time,
        of equal ones the first.

    Raises:
        TypeError: stamps that are not integers: a float cannot hold nanoseconds.
    """
    query, stamps = _int64(query_ns), _int64(stamps_ns)
    known = np.flatnonzero(stamps)
    found = np.full(query.shape, -1, np.int64)
    asked = np.flatnonzero(query)
    if len(known) == 0 or len(asked) == 0:
        return found
    order = known[np.argsort(stamps[known], kind="stable")]
    times = stamps[order]
    wanted = query[asked]
    right = np.searchsorted(times, wanted, side="left")
    left = np.clip(right - 1, 0, len(times) - 1)
    right = np.minimum(right, len(times) - 1)
    to_left, to_right = _distance(wanted, times[left]), _distance(times[right], wanted)
    take = np.where(to_right < to_left, right, left)
    # Of equal stamps the first: `left` is the last of its run.
    take = np.searchsorted(times, times[take], side="left")
    chosen = order[take]
    if max_gap_ns is not None:
        if max_gap_ns < 0:
            raise ValueError(f"max_gap_ns {max_gap_ns} is negative")
        near = np.minimum(to_left, to_right) <= np.uint64(min(max_gap_ns, 2**64 - 1))
        chosen = np.where(near, chosen, -1)
    found[asked] = chosen
    return found


def _distance(later: NDArray[np.int64], earlier: NDArray[np.int64]) -> NDArray[np.uint64]:
    """|later - earlier|, exact for every pair of int64."""
    high, low = np.maximum(later, earlier), np.minimum(later, earlier)
    # Modulo 2**64 the difference of two int64 is right as uint64, where int64 itself would overflow.
    distance: NDArray[np.uint64] = high.view(np.uint64) - low.view(np.uint64)
    return distance


def _int64(values: ArrayLike) -> NDArray[np.int64]:
    array = np.asarray(values)
    if array.size == 0:
        return np.zeros(array.shape, np.int64)
    if array.dtype.kind not in "iu":
        raise TypeError(f"stamps are {array.dtype}, not integers: nanoseconds do not fit a float")
    return array.astype(np.int64)
