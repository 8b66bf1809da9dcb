"""The virtual world agrees with itself: pose, picture, depth, force, matrix and acceleration tell one story."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from sources.virtual.scene import Scene
from sources.virtual.touch import Touch
from sources.virtual.world import BLOCK_M, TABLE_M, Hand, World

WORLD = World(epoch_ns=1_000_000_000_000)
MOMENTS = [WORLD.epoch_ns + round(s * 1e9) for s in np.linspace(0.0, 12.0, 97)]
HANDS: tuple[Hand, ...] = ("left", "right")


def shift_between(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> tuple[int, int]:
    """Rows and columns by which the middle of one picture stands elsewhere in the other, by search."""
    patch = one[90:150, 20:80].astype(np.int64)
    found = min(
        (int(np.abs(other[90 + y : 150 + y, 20 + x : 80 + x].astype(np.int64) - patch).sum()), y, x)
        for y in range(-20, 21)
        for x in range(-20, 21)
    )
    return found[1], found[2]


def test_a_camera_that_moves_right_sees_the_table_move_left_by_focal_times_x_over_z() -> None:
    scene = Scene(240, 320, focal_px=160)
    assert shift_between(scene.colour((0.0, 0.0, 0.0)), scene.colour((0.05, 0.02, 0.0))) == (-3, -8)


def test_the_two_eyes_disparity_is_that_of_the_depth() -> None:
    scene, baseline = Scene(240, 320, focal_px=160), 0.1
    disparity = -shift_between(scene.colour((0.0, 0.0, 0.0)), scene.colour((baseline, 0.0, 0.0)))[1]
    assert disparity == round(160 * baseline / TABLE_M)
    near = scene.depth((0.0, 0.0, 0.0)) == round(BLOCK_M * 1000)
    near_moved = scene.depth((baseline, 0.0, 0.0)) == round(BLOCK_M * 1000)
    moved = np.flatnonzero(near.any(axis=0))[0] - np.flatnonzero(near_moved.any(axis=0))[0]
    assert moved == round(160 * baseline / BLOCK_M)


def test_the_block_stands_in_colour_where_it_stands_in_depth() -> None:
    scene, empty = Scene(240, 320, focal_px=160), Scene(240, 320, focal_px=160)
    empty._block = empty._block * 0
    for camera in ((0.0, 0.0, 0.0), (0.1, -0.05, 0.0), (-0.13, 0.1, 0.0)):
        black = (empty.colour(camera) == 0).all(axis=2)
        assert np.array_equal(black, scene.depth(camera) == round(BLOCK_M * 1000))


@pytest.mark.parametrize("hand", HANDS)
def test_a_finger_feels_force_when_its_gripper_is_closed_on_the_block_and_only_then(hand: Hand) -> None:
    felt = [WORLD.force(hand, "left", at)[2] > 0 for at in MOMENTS]
    assert any(felt)
    assert not all(felt)
    assert felt == [WORLD.opening(hand, at) < 40.0 for at in MOMENTS]
    assert felt == [WORLD.grip(hand, at) > 0 for at in MOMENTS]


@pytest.mark.parametrize("hand", HANDS)
def test_the_matrix_sums_up_to_the_force_and_sits_where_the_contact_is(hand: Hand) -> None:
    touch = Touch("none")
    for at in MOMENTS:
        force = WORLD.force(hand, "right", at)
        row, column = WORLD.contact(hand, "right", at)
        matrix = touch.matrix(force, row, column)
        assert matrix.shape == (250, 250, 3)
        assert matrix.dtype == np.float32
        assert matrix.sum(axis=(0, 1), dtype=np.float64) == pytest.approx(force, rel=1e-3, abs=1e-3)
        if force[2] > 0:
            assert int(matrix[..., 2].argmax()) == row * 250 + column


def test_noise_is_where_it_is_said_to_be() -> None:
    force = (0.0, 0.0, 2000.0)
    assert np.count_nonzero(Touch("none").matrix((0.0, 0.0, 0.0), 125, 125)) == 0
    quiet = Touch("quiet").matrix(force, 125, 125)
    assert np.count_nonzero(quiet[:50]) == 0
    assert np.count_nonzero(quiet[120:130, 120:130]) == 300
    assert Touch("noisy").matrix((0.0, 0.0, 0.0), 125, 125).std() == pytest.approx(0.5, rel=0.02)


def test_every_matrix_is_one_of_its_own() -> None:
    touch = Touch("noisy")
    first, second = (touch.matrix((0.0, 0.0, 0.0), 125, 125) for _ in range(2))
    assert not np.shares_memory(first, second)
    assert not np.array_equal(first, second)


def test_the_accelerometer_feels_the_second_derivative_of_the_pose() -> None:
    step = 1_000_000
    for at in MOMENTS:
        before, here, after = (np.array(WORLD.head(at + n * step)) for n in (-1, 0, 1))
        numeric = (after - 2 * here + before) / 1e-6
        assert WORLD.head_acceleration(at)[:2] == pytest.approx(numeric[:2], abs=1e-3)


@pytest.mark.parametrize("hand", HANDS)
def test_the_velocity_is_the_derivative_of_the_pose(hand: Hand) -> None:
    for at in MOMENTS:
        numeric = (np.array(WORLD.hand(hand, at + 500_000)) - np.array(WORLD.hand(hand, at - 500_000))) / 1e-3
        assert WORLD.hand_velocity(hand, at) == pytest.approx(numeric, abs=1e-5)


def test_all_poses_stay_where_the_scene_can_show_them() -> None:
    for at in MOMENTS:
        for x, y, z in (WORLD.head(at), WORLD.hand("left", at), WORLD.hand("right", at)):
            assert max(abs(x) + 0.1, abs(y)) < 0.30
            assert z == 0.0
