"""What a camera of the virtual world sees: a textured table and a block on it, by slices of one picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sources.virtual.world import BLOCK_M, TABLE_M, Vector

__all__ = ["Scene"]

MARGIN_M = 0.30
"""How far a camera may be from the middle; poses of the world stay within 0.13 m, and a stereo baseline within 0.1."""
BLOCK_HALF_M = 0.15


@dataclass(frozen=True, slots=True)
class _View:
    x: int
    y: int
    block: tuple[slice, slice]
    block_x: int
    block_y: int


class Scene:
    """A table at 1 m and a block whose top is at 0.7 m, seen by a pinhole camera that looks straight down at them.

    A camera at (x, y) sees a point of the plane at distance z shifted by −focal · x / z pixels: a slice of a picture
    made once. So pictures agree with poses, the two eyes of a stereo camera with the depth, and cost a copy.

    Args:
        height, width: of a picture, pixels.
        focal_px: focal length, pixels; the same in x and y.
        seed: of the texture.
    """

    def __init__(self, height: int, width: int, focal_px: float, *, seed: int = 0) -> None:
        self.height, self.width, self.focal_px = height, width, focal_px
        random = np.random.default_rng(seed)
        self._margin = round(focal_px * MARGIN_M / TABLE_M)
        self._table = _texture(random, height + 2 * self._margin, width + 2 * self._margin, (150, 120, 90))
        half = round(focal_px * BLOCK_HALF_M / BLOCK_M)
        self._half = half
        self._block = _texture(random, 2 * half, 2 * half, (60, 110, 190))

    def colour(self, camera: Vector) -> NDArray[np.uint8]:
        """A new picture from ``camera`` (m), [height, width, 3] uint8 rgb."""
        view = self._view(camera)
        image = self._table[view.y : view.y + self.height, view.x : view.x + self.width].copy()
        self._paste(image, view, self._block)
        return image

    def depth(self, camera: Vector) -> NDArray[np.uint16]:
        """The depth from ``camera``, [height, width] uint16 mm."""
        view = self._view(camera)
        image = np.full((self.height, self.width), round(TABLE_M * 1000), dtype=np.uint16)
        image[view.block] = round(BLOCK_M * 1000)
        return image

    def shift_px(self, metres: float, distance_m: float) -> int:
        """How many pixels a point at a distance moves when the camera moves."""
        return round(self.focal_px * metres / distance_m)

    def _view(self, camera: Vector) -> _View:
        x = self._margin + self.shift_px(camera[0], TABLE_M)
        y = self._margin + self.shift_px(camera[1], TABLE_M)
        block_x = self.width // 2 - self._half - self.shift_px(camera[0], BLOCK_M)
        block_y = self.height // 2 - self._half - self.shift_px(camera[1], BLOCK_M)
        rows = slice(max(block_y, 0), min(max(block_y + 2 * self._half, 0), self.height))
        columns = slice(max(block_x, 0), min(max(block_x + 2 * self._half, 0), self.width))
        return _View(
            min(max(x, 0), 2 * self._margin), min(max(y, 0), 2 * self._margin), (rows, columns), block_x, block_y
        )

    def _paste(self, image: NDArray[Any], view: _View, block: NDArray[Any]) -> None:
        rows, columns = view.block
        image[rows, columns] = block[
            rows.start - view.block_y : rows.stop - view.block_y,
            columns.start - view.block_x : columns.stop - view.block_x,
        ]


def _texture(random: np.random.Generator, height: int, width: int, colour: tuple[int, int, int]) -> NDArray[np.uint8]:
    """Patches of 8 and of 32 pixels around a colour: rich enough to track, soft enough to code."""
    fine = random.integers(-18, 19, (height // 8 + 1, width // 8 + 1, 1))
    coarse = random.integers(-40, 41, (height // 32 + 1, width // 32 + 1, 3))
    grain = fine.repeat(8, axis=0).repeat(8, axis=1)[:height, :width]
    patches = coarse.repeat(32, axis=0).repeat(32, axis=1)[:height, :width]
    texture: NDArray[np.uint8] = np.clip(np.array(colour) + grain + patches, 0, 255).astype(np.uint8)
    return texture
