"""A trajectory of an episode: its points, their stamps, and the frame they are in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from episodes.errors import EpisodeError
from episodes.matching import nearest

__all__ = ["Trajectory"]


@dataclass(frozen=True, slots=True, eq=False)
class Trajectory:
    """All points of one trajectory column, in order.

    Trajectories of one episode are in different frames with different origins; compare them by the words of
    ``frame_axes``, never by the letters of the axes.

    Attributes:
        column: e.g. ``observation.ego_slam_trajectory``.
        points: [n, 8] float64: t, x, y, z, qx, qy, qz, qw. t is the tracker's own clock, seconds, metres; only
            differences of t mean anything.
        host_ns: [n] int64, host monotonic clock, the same as ``hardware_ns``; 0 = this point has no stamp. None: the
            episode has no stamps of this trajectory, and its points pair with frames only roughly, by ``rows``.
        rows: [n] int64: the row that each point came on.
        frame: id of the coordinate frame. frame_axes: where its axes point, {} if not known.
        spec: the whole declaration: frame, frame_axes, time, owner, source_slot, as far as there are any.
    """

    column: str
    points: NDArray[np.float64]
    host_ns: NDArray[np.int64] | None
    rows: NDArray[np.int64]
    frame: str
    frame_axes: Mapping[str, str]
    spec: Mapping[str, Any]

    def __len__(self) -> int:
        return len(self.points)

    def nearest(self, frame_ns: ArrayLike, max_gap_ns: int | None = None) -> NDArray[np.int64]:
        """The index of the point nearest to each frame, -1 where there is none; see `episodes.matching.nearest`.

        Raises:
            EpisodeError: the trajectory has no stamps.
        """
        if self.host_ns is None:
            raise EpisodeError(f"{self.column}: this episode has no stamps of it, so it cannot be paired by time")
        return nearest(frame_ns, self.host_ns, max_gap_ns)

    def at(self, frame_ns: ArrayLike, max_gap_ns: int | None = None) -> NDArray[np.float64]:
        """The point nearest to each frame.

        Args:
            frame_ns: [m] int64, the capture times of a slot: ``Episode.frame_ns(slot)``.
            max_gap_ns: a point further away counts as none.

        Returns:
            [m, 8] float64 as ``points``; NaN where there is none. Nothing is interpolated.

        Raises:
            EpisodeError: the trajectory has no stamps.
        """
        found = self.nearest(frame_ns, max_gap_ns)
        poses = np.full((len(found), 8), np.nan)
        poses[found >= 0] = self.points[found[found >= 0]]
        return poses
