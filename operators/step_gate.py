"""step_gate: poses that a hand cannot have made are held back."""

from __future__ import annotations

import math
from collections.abc import Callable

import reactivex as rx
from reactivex import operators as ops

from operators.events import Point

__all__ = ["StepGate", "step_gate"]

MAX_DISTANCE_M = 10.0
NORM_RANGE = (0.5, 1.5)
STEP_M, SPEED_M_S = 0.05, 3.0
STEP_DEG, SPEED_DEG_S = 20.0, 1080.0
MAX_DT_S = 0.1
RESTART_S = 1.0
"""Time that falls back by more is a restart; a track elsewhere that holds together for longer is a new place."""


class StepGate:
    """Say of each pose whether it may follow the last one that passed.

    A pose passes when it is finite, nearer than 10 m to the origin, its quaternion's norm is in 0.5 to 1.5, its time
    is after the last one's, and its step is at most 0.05 m + 3 m/s · dt and 20° + 1080°/s · dt, dt at most 0.1 s.

    The gate takes a new anchor, counted in ``restarts``, when time falls back by more than a second (the tracker
    started anew), and when held poses have followed one another for more than a second (it found itself elsewhere): a
    tracker that is wrong for a moment is held, one that has moved on is not held for ever.

    Attributes:
        held: poses that did not pass. restarts: new anchors after the first.
    """

    def __init__(self) -> None:
        self._last: Point | None = None
        self._elsewhere: tuple[Point, Point] | None = None
        self.held = 0
        self.restarts = 0

    def passes(self, point: Point) -> bool:
        if not _valid(point):
            self.held += 1
            return False
        last = self._last
        if last is None or _follows(last, point):
            return self._anchor(point)
        if point.t < last.t - RESTART_S or self._settled_elsewhere(point):
            self.restarts += 1
            return self._anchor(point)
        self.held += 1
        return False

    def _anchor(self, point: Point) -> bool:
        self._last, self._elsewhere = point, None
        return True

    def _settled_elsewhere(self, point: Point) -> bool:
        first, newest = self._elsewhere or (point, point)
        if newest is not point and not _follows(newest, point):
            first = point
        self._elsewhere = (first, point)
        return point.t - first.t > RESTART_S


def _valid(point: Point) -> bool:
    if not (math.isfinite(point.t) and all(map(math.isfinite, point.pose))):
        return False
    norm = math.hypot(*point.pose[3:])
    return math.hypot(*point.pose[:3]) < MAX_DISTANCE_M and NORM_RANGE[0] < norm < NORM_RANGE[1]


def _follows(last: Point, point: Point) -> bool:
    if point.t <= last.t:
        return False
    dt = min(point.t - last.t, MAX_DT_S)
    distance = math.dist(last.pose[:3], point.pose[:3])
    norms = math.hypot(*last.pose[3:]) * math.hypot(*point.pose[3:])
    dot = abs(sum(a * b for a, b in zip(last.pose[3:], point.pose[3:], strict=True))) / norms
    angle = math.degrees(2 * math.acos(min(1.0, dot)))
    return distance <= STEP_M + SPEED_M_S * dt and angle <= STEP_DEG + SPEED_DEG_S * dt


def step_gate() -> Callable[[rx.Observable[Point]], rx.Observable[Point]]:
    """Hold back poses that cannot follow the one before.

    .. marble::

        source: -a-b-X-c-|      X a jump of metres
        result: -a-b---c-|
    """

    def operator(source: rx.Observable[Point]) -> rx.Observable[Point]:
        return rx.defer(lambda _scheduler: source.pipe(ops.filter(StepGate().passes)))

    return operator
