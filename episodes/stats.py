"""``stats.json``: count, mean, population std, min and max a column, merged over episodes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

__all__ = ["ACTION_BLOCK", "Block", "block_of", "merge_blocks", "merge_stats", "read_stats"]

MAX_BYTES = 64 * 1024 * 1024
ACTION_BLOCK: dict[str, Any] = {"count": 0, "mean": [0.0], "std": [1.0], "min": [0.0], "max": [0.0]}
"""The placeholder ``action`` is not counted."""


class Block(msgspec.Struct, frozen=True):
    """The statistics of one column over its real samples, flat; population std."""

    count: int
    mean: list[float]
    std: list[float]
    min: list[float]
    max: list[float]


def block_of(samples: NDArray[np.generic]) -> Block:
    """Of ``samples``: [n, width], real samples only, not placeholders; non-finite rows do not count."""
    values = np.asarray(samples, dtype=np.float64).reshape(len(samples), -1)
    values = values[np.isfinite(values).all(axis=1)]
    if len(values) == 0:
        width = values.shape[1]
        return Block(0, [0.0] * width, [1.0] * width, [0.0] * width, [0.0] * width)
    return Block(
        len(values),
        values.mean(axis=0).tolist(),
        values.std(axis=0).tolist(),
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
    total = mean_a * old.count + mean_b * new.count
    mean = total / n
    # About the merged mean, not about zero: no cancellation where a mean is large beside its spread.
    spread = (np.square(old.std) + np.square(mean_a - mean)) * old.count
    spread += (np.square(new.std) + np.square(mean_b - mean)) * new.count
    return Block(
        n,
        mean.tolist(),
        np.sqrt(np.maximum(spread / n, 0.0)).tolist(),
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
        with path.open("rb") as file:
            text = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return {}
    except OSError:
        return None
    if len(text) > MAX_BYTES:
        return None
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _block(found: object) -> Block | None:
    try:
        block = msgspec.convert(found, Block)
    except msgspec.ValidationError:
        return None
    widths = {len(block.mean), len(block.std), len(block.min), len(block.max)}
    return block if len(widths) == 1 and block.count >= 0 else None
