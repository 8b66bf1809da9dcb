from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from episodes.errors import ContractError
from episodes.force_matrix import SHAPE, SIZE, ForceMatrixEncoder, decode, encode, spec_of

VALUES = [0.125, -0.125, 12.345, 327.67, -327.68, 400.0, -0.005, 0.005, 0.015]


def _spec(scale: int) -> dict[str, Any]:
    return {"dtype": "int16", "shape": list(SHAPE), "encoding": "row_diff_quantized", "scale": scale}


def _matrix_with(values: list[float], row: int = 0) -> np.ndarray:
    matrix = np.zeros((250, 750), np.float32)
    matrix[row, : len(values)] = values
    return matrix.reshape(SHAPE)


def _noise(sigma: float, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, sigma, SHAPE).astype(np.float32)


@pytest.mark.parametrize(
    ("scale", "codes"),
    [
        (100, [12, -12, 1234, 32767, -32767, 32767, 0, 0, 2]),
        (10, [1, -1, 123, 3277, -3277, 4000, 0, 0, 0]),
        (1, [0, 0, 12, 328, -328, 400, 0, 0, 0]),
    ],
)
def test_known_values_have_their_codes(scale: int, codes: list[int]) -> None:
    stored = encode(_matrix_with(VALUES, row=3), scale).reshape(250, 750)
    assert stored.dtype == np.int16
    summed = np.cumsum(stored[3].astype(np.int64))[: len(codes)]
    assert ((summed - codes) % 65536 == 0).all()
    assert not stored[:3].any()
    assert not stored[4:].any()


def test_known_values_have_their_differences_wrapping_at_sixteen_bits() -> None:
    stored = encode(_matrix_with(VALUES), 100)
    assert stored[:9].tolist() == [12, -24, 1246, 31533, 2, -2, -32767, 0, 2]


@pytest.mark.parametrize("scale", [1, 10, 100, 1000])
def test_a_matrix_comes_back_to_half_a_code(scale: int) -> None:
    matrix = _noise(5.0)
    back = decode(encode(matrix, scale), _spec(scale))
    assert back.shape == SHAPE
    assert back.dtype == np.float32
    inside = np.abs(matrix) < 32767 / scale
    assert np.abs(back - matrix)[inside].max() <= 0.5 / scale + 1e-5


@pytest.mark.parametrize("scale", [1, 10, 100, 1000])
def test_extreme_values_clip_and_do_not_wrap(scale: int) -> None:
    matrix = np.zeros(SHAPE, np.float32)
    matrix[::2, ::2], matrix[1::2, 1::2] = 1e6, -1e6
    back = decode(encode(matrix, scale), _spec(scale))
    assert back.max() == np.float32(32767) / np.float32(scale)
    assert back.min() == -np.float32(32767) / np.float32(scale)


def test_rows_are_coded_independently() -> None:
    first, second = _noise(1.0), _noise(1.0, seed=1)
    second[7] = first[7]
    a, b = encode(first, 100).reshape(250, 750), encode(second, 100).reshape(250, 750)
    assert (a[7] == b[7]).all()
    assert (a[8] != b[8]).any()


def test_planes_are_interleaved() -> None:
    matrix = np.zeros(SHAPE, np.float32)
    matrix[2, 5] = [1.0, 2.0, 4.0]  # fx, fy, fz of one point
    stored = encode(matrix, 100).reshape(250, 750)
    assert stored[2, 15:19].tolist() == [100, 100, 200, -400]


def test_values_that_are_no_number_become_zero_and_infinite_ones_clip() -> None:
    matrix = _matrix_with([float("nan"), float("inf"), float("-inf"), 3e38, 1.0])
    back = decode(encode(matrix, 100), _spec(100)).reshape(-1)
    assert back[:5].tolist() == pytest.approx([0.0, 327.67, -327.67, 327.67, 1.0])


def test_raw_matrices_are_stored_as_they_are() -> None:
    matrix = _noise(3.0)
    stored = encode(matrix, 0)
    assert stored.dtype == np.float32
    assert (decode(stored, {"encoding": "row_flat_raw", "scale": 1}) == matrix).all()


def test_an_encoder_fills_the_given_buffer_and_keeps_nothing_of_earlier_matrices() -> None:
    encoder, out = ForceMatrixEncoder(100), np.empty(SIZE, np.int16)
    encoder.encode(_matrix_with([float("nan")] * 20), out)
    matrix = _noise(2.0)
    assert encoder.encode(matrix, out) is out
    assert (out == encode(matrix, 100)).all()


def test_the_given_matrix_is_left_as_it_was() -> None:
    matrix = _noise(2.0)
    before = matrix.copy()
    encode(matrix, 100)
    assert (matrix == before).all()


@pytest.mark.parametrize("scale", [-1, 2, 50, 10000])
def test_a_scale_outside_the_contract_is_refused(scale: int) -> None:
    with pytest.raises(ContractError, match="scale"):
        ForceMatrixEncoder(scale)


def test_a_matrix_of_another_shape_is_refused() -> None:
    with pytest.raises(ContractError, match=r"\(250, 250, 3\)"):
        encode(np.zeros((10, 10, 3), np.float32), 100)


def test_a_buffer_of_another_size_is_refused() -> None:
    with pytest.raises(ContractError, match="187500"):
        ForceMatrixEncoder(100).encode(_noise(1.0), np.empty(10, np.int16))


@pytest.mark.parametrize(
    ("values", "spec", "word"),
    [
        (np.zeros(SIZE - 1, np.int16), _spec(100), "187500"),
        (np.zeros(SIZE, np.int16), {**_spec(100), "encoding": "zigzag"}, "zigzag"),
        (np.zeros(SIZE, np.int16), {**_spec(100), "scale": "100"}, "scale"),
        (np.zeros(SIZE, np.int16), {**_spec(100), "scale": -10}, "scale"),
        (np.zeros(SIZE, np.int16), {**_spec(100), "scale": float("nan")}, "scale"),
    ],
)
def test_values_that_cannot_be_decoded_are_refused(values: np.ndarray, spec: dict[str, Any], word: str) -> None:
    with pytest.raises(ContractError, match=word):
        decode(values, spec)


def test_the_episode_says_how_a_column_is_coded_then_the_task_then_scale_one() -> None:
    column = "observation.gripper_left_force_matrix"
    episode, features = {column: _spec(1)}, {column: _spec(100)}
    assert spec_of(column, episode, features)["scale"] == 1
    assert spec_of(column, {}, features)["scale"] == 100
    assert spec_of(column, {column: "broken"}, features)["scale"] == 100
    assert spec_of(column, {}, {})["scale"] == 1
