"""The rows that every recorder under test is given: the same arrays, made once, held in memory.

Needs numpy alone, so that a peer's own interpreter can import it by path.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["CAMERAS", "FPS", "HEIGHT", "WIDTH", "MemoryRow", "memory_rows"]

FPS = 30
HEIGHT, WIDTH = 480, 640
CAMERAS = ("cam_front", "cam_side", "cam_fisheye")
DISTINCT = 20
"""Distinct pictures a camera; row i shows picture i mod DISTINCT. Few, so that memory tells of the recorder."""


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """One row: pictures [480, 640, 3] uint8 rgb by camera; tactile [2, 32, 58], state [15], action [8], float32."""

    pictures: dict[str, NDArray[np.uint8]]
    tactile: NDArray[np.float32]
    state: NDArray[np.float32]
    action: NDArray[np.float32]


def _picture(camera: int, index: int) -> NDArray[np.uint8]:
    """A moving texture with some noise: costs an encoder about what a real room does."""
    generator = np.random.default_rng(camera * 1000 + index)
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH].astype(np.float32)
    phase = 0.12 * index
    waves = np.stack(
        [
            np.sin(x / (17 + camera) + phase) + np.cos(y / 23 - phase),
            np.sin((x + y) / 31 - 2 * phase) + np.cos(x / 41),
            np.cos(y / (13 + camera) + phase) + np.sin((x - y) / 37),
        ],
        axis=-1,
    )
    noise = generator.normal(0.0, 3.0, waves.shape).astype(np.float32)
    return np.clip(128 + 55 * waves + noise, 0, 255).astype(np.uint8)


def memory_rows(rows: int) -> Iterator[MemoryRow]:
    """Give ``rows`` rows, whose pictures repeat after DISTINCT and whose vectors do not."""
    pictures = [{name: _picture(c, i) for c, name in enumerate(CAMERAS)} for i in range(DISTINCT)]
    generator = np.random.default_rng(7)
    for row in range(rows):
        yield MemoryRow(
            pictures=pictures[row % DISTINCT],
            tactile=generator.standard_normal((2, 32, 58), dtype=np.float32),
            state=generator.standard_normal(15, dtype=np.float32),
            action=generator.standard_normal(8, dtype=np.float32),
        )
