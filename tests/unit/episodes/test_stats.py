from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from episodes.json_form import json_text
from episodes.stats import ACTION_BLOCK, Block, block_of, merge_blocks, merge_stats, read_stats

SAMPLES = hnp.arrays(
    np.float64, st.tuples(st.integers(0, 20), st.just(3)), elements=st.floats(-1e6, 1e6, allow_subnormal=False)
)


def test_a_block_holds_count_mean_population_std_min_and_max() -> None:
    block = block_of(np.array([[1.0, 10.0], [3.0, 10.0]], np.float32))

    assert block == Block(2, [2.0, 10.0], [1.0, 0.0], [1.0, 10.0], [3.0, 10.0])


def test_samples_of_any_shape_count_flat() -> None:
    assert len(block_of(np.zeros((5, 16, 16), np.float32)).mean) == 256
    assert block_of(np.array([1, 2, 3], np.int64)) == Block(3, [2.0], [np.sqrt(2 / 3)], [1.0], [3.0])


@pytest.mark.parametrize("shape", [(0,), (0, 3), (0, 16, 16)])
def test_no_samples_give_mean_zero_and_std_one(shape: tuple[int, ...]) -> None:
    width = int(np.prod(shape[1:]))

    assert block_of(np.zeros(shape)) == Block(0, [0.0] * width, [1.0] * width, [0.0] * width, [0.0] * width)


def test_samples_that_are_not_finite_do_not_count() -> None:
    block = block_of(np.array([[1.0, 2.0], [np.nan, 2.0], [3.0, np.inf]]))

    assert (block.count, block.mean) == (1, [1.0, 2.0])


@given(SAMPLES, SAMPLES)
def test_merging_two_blocks_is_the_block_of_both(first: np.ndarray, second: np.ndarray) -> None:
    merged = merge_blocks(block_of(first), block_of(second))
    whole = block_of(np.concatenate([first, second]))

    assert merged.count == whole.count
    for name in ("mean", "std", "min", "max"):
        np.testing.assert_allclose(getattr(merged, name), getattr(whole, name), rtol=1e-6, atol=1e-6)


def test_a_small_spread_about_a_large_mean_survives_merging() -> None:
    values = 1e9 + np.array([[0.0], [1.0], [2.0], [3.0]])

    merged = merge_blocks(block_of(values[:2]), block_of(values[2:]))

    np.testing.assert_allclose(merged.std, np.std(values), rtol=1e-6)


def test_values_near_the_end_of_the_range_can_still_be_written() -> None:
    block = block_of(np.array([[1e308], [-1e308], [1.7e308]]))

    json_text(msgspec.to_builtins(merge_blocks(block, block)))


def test_task_statistics_are_merged_by_count_and_other_blocks_stay() -> None:
    old = merge_stats({}, {"observation.imu": block_of(np.array([[0.0], [2.0]]))})
    old["observation.other"] = {"count": 3, "anything": 1}

    new = merge_stats(old, {"observation.imu": block_of(np.array([[4.0], [6.0]]))})

    assert new["observation.imu"]["count"] == 4
    assert new["observation.imu"]["mean"] == [3.0]
    assert new["observation.imu"]["max"] == [6.0]
    assert new["observation.other"] == {"count": 3, "anything": 1}


def test_the_action_block_is_the_placeholder() -> None:
    assert merge_stats({}, {})["action"] == ACTION_BLOCK
    assert merge_stats({"action": {"count": 5}}, {})["action"] == {
        "count": 0,
        "mean": [0.0],
        "std": [1.0],
        "min": [0.0],
        "max": [0.0],
    }


@pytest.mark.parametrize(
    "old",
    [
        {"mean": [1.0], "std": [0.0], "min": [1.0], "max": [1.0]},
        {"count": -1, "mean": [1.0], "std": [0.0], "min": [1.0], "max": [1.0]},
        {"count": 2, "mean": [1.0, 2.0], "std": [0.0], "min": [1.0], "max": [1.0]},
        {"count": 2, "mean": [None], "std": [0.0], "min": [1.0], "max": [1.0]},
        {"count": 2, "mean": [1.0, 1.0], "std": [0.0, 0.0], "min": [1.0, 1.0], "max": [1.0, 1.0]},
        "text",
        None,
    ],
)
def test_a_block_that_cannot_be_merged_starts_anew(old: Any) -> None:
    new = block_of(np.array([[5.0], [7.0]]))

    assert merge_stats({"observation.x": old}, {"observation.x": new})["observation.x"] == msgspec.to_builtins(new)


def test_statistics_are_read_back_as_written(tmp_path: Path) -> None:
    stats = merge_stats({}, {"observation.x": block_of(np.array([[5.0], [7.0]]))})
    (tmp_path / "stats.json").write_text(json_text(stats))

    assert read_stats(tmp_path / "stats.json") == stats


def test_no_statistics_are_empty_and_damaged_ones_are_none(tmp_path: Path) -> None:
    assert read_stats(tmp_path / "stats.json") == {}
    for text in ("", "{", "[]", "[" * 100_000):
        (tmp_path / "stats.json").write_text(text)
        assert read_stats(tmp_path / "stats.json") is None


def test_statistics_with_nan_of_another_program_can_be_merged_and_written(tmp_path: Path) -> None:
    block = {"count": 2, "mean": [float("nan")], "std": [0.0], "min": [1.0], "max": [1.0]}
    (tmp_path / "stats.json").write_text(json.dumps({"observation.x": block, "observation.y": block}))
    old = read_stats(tmp_path / "stats.json")

    assert old is not None
    new = merge_stats(old, {"observation.x": block_of(np.array([[1.0]]))})

    assert new["observation.x"]["count"] == 1
    json_text(new)
