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


class StepGate:
    """Say of each pose whether it may follow the last one that passed.

    A pose passes when it is finite, nearer than 10 m to the origin, its quaternion's norm is in 0.5 to 1.5, its time
    is after the last one's, and its step is at most 0.05 m + 3 m/s · dt and 20° + 1080°/s · dt, dt at most 0.1 s. Time
    that falls back by more than a second is a tracker that started anew: counted in ``restarts``, and the gate takes
    its anchor there.

    Attributes:
        held: poses that did not pass. restarts: restarts seen.
    """

    def __init__(self) -> None:
        self._last: Point | None = None
        self.held = 0
        self.restarts = 0

    def passes(self, point: Point) -> bool:
        if not self._valid(point):
            self.held += 1
            return False
        last = self._last
        if last is not None and point.t < last.t - RESTART_S:
            self.restarts += 1
            last = None
        if last is not None and not self._follows(last, point):
            self.held += 1
            return False
        self._last = point
        return True

    @staticmethod
    def _valid(point: Point) -> bool:
        if not (math.isfinite(point.t) and all(map(math.isfinite, point.pose))):
            return False
        norm = math.hypot(*point.pose[3:])
        return math.hypot(*point.pose[:3]) < MAX_DISTANCE_M and NORM_RANGE[0] < norm < NORM_RANGE[1]

    @staticmethod
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
