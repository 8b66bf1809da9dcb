"""Force matrices of a virtual finger: the world's force, spread over a contact patch."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sources.virtual.world import Vector

__all__ = ["CELLS", "MatrixNoise", "Touch"]

CELLS = 250
MatrixNoise: TypeAlias = Literal["none", "quiet", "noisy"]
"""``none``: the patch alone. ``quiet``: noise where there is contact. ``noisy``: noise everywhere."""

SIGMA_CELLS = 12.0
RADIUS = 60
"""The patch ends here, at five sigma."""
NOISE_MN = 0.5
_BANK = 64
"""Rows and columns by which windows of the noise may differ."""


class Touch:
    """Makes 250×250×3 float32 matrices, mN, whose cells sum up to the force (without noise, to a thousandth).

    The patch is a Gaussian made once and put where the contact is; noise, σ 0.5 mN, is a window of a field made once.
    """

    def __init__(self, noise: MatrixNoise = "quiet", *, seed: int = 0) -> None:
        self.noise = noise
        line = np.exp(-0.5 * (np.arange(-RADIUS, RADIUS + 1) / SIGMA_CELLS) ** 2)
        patch = np.outer(line, line)
        self._patch = (patch / patch.sum()).astype(np.float32)[..., None]
        self._random = np.random.default_rng(seed)
        field = self._random.standard_normal((CELLS + _BANK, CELLS + _BANK, 3), dtype=np.float32)
        self._field = field * np.float32(NOISE_MN)

    def matrix(self, force: Vector, row: int, column: int) -> NDArray[np.float32]:
        """A new matrix, [250, 250, 3] float32 mN: ``force`` (mN) around a cell, kept 60 cells from the border."""
        y, x = (int(shift) for shift in self._random.integers(0, _BANK, 2))
        if self.noise == "noisy":
            matrix = self._field[y : y + CELLS, x : x + CELLS].copy()
        else:
            matrix = np.zeros((CELLS, CELLS, 3), dtype=np.float32)
        if force[2] > 0:
            middle_row = min(max(row, RADIUS), CELLS - RADIUS - 1)
            middle = min(max(column, RADIUS), CELLS - RADIUS - 1)
            place = matrix[middle_row - RADIUS : middle_row + RADIUS + 1, middle - RADIUS : middle + RADIUS + 1]
            place += self._patch * np.array(force, dtype=np.float32)
            if self.noise == "quiet":
                place += self._field[y : y + place.shape[0], x : x + place.shape[1]]
        return matrix
