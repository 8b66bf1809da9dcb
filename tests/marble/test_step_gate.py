"""step_gate in virtual time."""

from __future__ import annotations

import math

import pytest

from operators.events import Point
from operators.step_gate import StepGate, step_gate
from tests.marble.pictures import Picture, play

UPRIGHT = (0.0, 0.0, 0.0, 1.0)


def pose(t: float, x: float = 0.0, *, turn_deg: float = 0.0, norm: float = 1.0) -> Point:
    half = math.radians(turn_deg) / 2
    return Point(t, (x, 0.0, 0.0, 0.0, 0.0, norm * math.sin(half), norm * math.cos(half)), None)


def test_a_jump_of_metres_is_held_and_the_stream_goes_on() -> None:
    picture = Picture()
    places = {"a": 0.0, "b": 0.1, "X": 3.0, "c": 0.2}
    source = picture.hot("-a-b-j-c-|", lambda letter, second: pose(second / 30, places.get(letter, 3.0)))
    result = picture.result(lambda: source.pipe(step_gate()))
    expected = play("-a-b---c-|", [0.0, 0.1, 0.2])
    assert [(s, v if v == "|" else v.pose[0]) for s, v in result] == expected


@pytest.mark.parametrize(
    ("dt", "metres", "passes"),
    [(0.01, 0.079, True), (0.01, 0.081, False), (0.1, 0.349, True), (0.1, 0.351, False), (0.9, 0.351, False)],
)
def test_the_step_is_bounded_by_distance_and_speed(dt: float, metres: float, passes: bool) -> None:
    gate = StepGate()
    assert gate.passes(pose(0.0))
    assert gate.passes(pose(dt, metres)) is passes
    assert gate.held == (not passes)


@pytest.mark.parametrize(("dt", "degrees", "passes"), [(0.01, 30.7, True), (0.01, 30.9, False), (0.1, 127.9, True)])
def test_the_step_is_bounded_by_angle_and_its_speed(dt: float, degrees: float, passes: bool) -> None:
    gate = StepGate()
    assert gate.passes(pose(0.0))
    assert gate.passes(pose(dt, turn_deg=degrees)) is passes


def test_the_sign_and_norm_of_a_quaternion_mean_nothing() -> None:
    gate = StepGate()
    assert gate.passes(pose(0.0))
    assert gate.passes(Point(0.01, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -1.2), None))


@pytest.mark.parametrize(
    "bad",
    [
        pose(math.nan),
        pose(1.0, math.inf),
        pose(1.0, 10.0),
        pose(1.0, norm=0.5),
        pose(1.0, norm=1.5),
        pose(1.0, norm=0.0),
    ],
)
def test_what_is_no_pose_is_held_and_is_no_anchor(bad: Point) -> None:
    gate = StepGate()
    assert not gate.passes(bad)
    assert gate.held == 1
    assert gate.passes(pose(0.5))


def test_time_must_go_on() -> None:
    gate = StepGate()
    assert [gate.passes(pose(t)) for t in (5.0, 5.0, 4.9, 4.0, 5.1)] == [True, False, False, False, True]
    assert (gate.held, gate.restarts) == (3, 0)


def test_time_that_falls_back_by_more_than_a_second_is_a_restart() -> None:
    gate = StepGate()
    assert [gate.passes(p) for p in (pose(5.0), pose(3.9, 2.0), pose(3.95, 2.01))] == [True, True, True]
    assert (gate.held, gate.restarts) == (0, 1)


def test_a_tracker_that_found_itself_elsewhere_is_not_held_for_ever() -> None:
    gate = StepGate()
    assert gate.passes(pose(0.0))
    passed = [n for n in range(1, 100) if gate.passes(pose(n / 30, 5.0 + n / 1000))]
    assert passed == list(range(32, 100))
    assert (gate.held, gate.restarts) == (31, 1)


def test_a_tracker_that_jumps_about_stays_held() -> None:
    gate = StepGate()
    assert gate.passes(pose(0.0))
    assert not any(gate.passes(pose(n / 30, (1.0, 3.0)[n % 2])) for n in range(1, 300))
    assert gate.restarts == 0
