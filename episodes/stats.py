"""``stats.json``: count, mean, population std, min and max a column, merged over episodes."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from episodes.errors import CorruptFileError
from episodes.json_form import read_json_object

__all__ = ["ACTION_BLOCK", "Block", "block_of", "merge_blocks", "merge_stats", "read_stats"]

ACTION_BLOCK: dict[str, Any] = {"count": 0, "mean": [0.0], "std": [1.0], "min": [0.0], "max": [0.0]}
"""The placeholder ``action`` is not counted."""


class Block(msgspec.Struct, frozen=True):
    """The statistics of one column over its real samples, flat; population std."""

    count: int
    mean: list[float]
    std: list[float]
    min: list[float]
    max: list[float]


BATCH_VALUES = 1_000_000


def block_of(samples: NDArray[np.generic]) -> Block:
    """Of ``samples``: [n, …], real samples only, not placeholders; non-finite samples do not count.

    Wide samples are taken in batches: in float64, and with their squares, a take of them at once is many times as large
    as what was recorded.
    """
    width = prod(samples.shape[1:])
    batch = max(1, BATCH_VALUES // max(1, width))
    block = _batch_block(samples[:batch], width)
    for start in range(batch, len(samples), batch):
        block = merge_blocks(block, _batch_block(samples[start : start + batch], width))
    return block


def _batch_block(samples: NDArray[np.generic], width: int) -> Block:
    values = np.asarray(samples, dtype=np.float64).reshape(len(samples), width)
    values = values[np.isfinite(values).all(axis=1)]
    if len(values) == 0:
        return Block(0, [0.0] * width, [1.0] * width, [0.0] * width, [0.0] * width)
    with np.errstate(over="ignore", invalid="ignore"):
        return Block(
            len(values),
            _finite(values.mean(axis=0)),
            _finite(values.std(axis=0)),
            values.min(axis=0).tolist(),
            values.max(axis=0).tolist(),
        )


def merge_blocks(old: Block, new: Block) -> Block:
    """The statistics of both sets of samples together."""
    if new.count == 0:
        return old
    if old.count == 0 or len(old.mean) != len(new.mean):
        return new
    n = old.count + new.count
    mean_a, mean_b = np.array(old.mean), np.array(new.mean)
    with np.errstate(over="ignore", invalid="ignore"):
        mean = (mean_a * old.count + mean_b * new.count) / n
        # About the merged mean, not about zero: no cancellation where a mean is large beside its spread.
        spread = (np.square(old.std) + np.square(mean_a - mean)) * old.count
        spread += (np.square(new.std) + np.square(mean_b - mean)) * new.count
        std = np.sqrt(spread / n)
    return Block(
        n,
        _finite(mean),
        _finite(std),
        np.minimum(old.min, new.min).tolist(),
        np.maximum(old.max, new.max).tolist(),
    )


def merge_stats(old: Mapping[str, Any], new: Mapping[str, Block]) -> dict[str, Any]:
    """The task's next ``stats.json``: blocks of other columns stay as they are, those without a count start anew."""
    merged: dict[str, Any] = dict(old)
    for name, block in new.items():
        before = _block(old.get(name))
        merged[name] = msgspec.to_builtins(block if before is None else merge_blocks(before, block))
    merged["action"] = dict(ACTION_BLOCK)
    return merged


def read_stats(path: Path) -> dict[str, Any] | None:
    """The file's blocks; {} where there is none; None where it is damaged, and statistics start fresh."""
    try:
        return read_json_object(path)
    except FileNotFoundError:
        return {}
    except CorruptFileError:
        return None


def _block(found: object) -> Block | None:
    try:
        block = msgspec.convert(found, Block)
    except msgspec.ValidationError:
        return None
    rows = (block.mean, block.std, block.min, block.max)
    if block.count < 0 or len({len(row) for row in rows}) != 1 or not np.isfinite(rows).all():
        return None
    return block


def _finite(values: NDArray[np.float64]) -> list[float]:
    """An overflow becomes the largest number there is: JSON has no infinity, and a commit must not fail of it."""
    finite: list[float] = np.nan_to_num(values, nan=np.finfo(np.float64).max).tolist()
    return finite
