"""The force-matrix codec: 250×250×3 float32 mN to row-differenced int16, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from episodes.errors import ContractError

__all__ = ["ROW_VALUES", "SHAPE", "SIZE", "ForceMatrixEncoder", "decode", "encode", "spec_of"]

SHAPE = (250, 250, 3)
ROW_VALUES = 750
SIZE = 187_500
_CLIP = 32767


class ForceMatrixEncoder:
    """Encodes matrices of one column; keeps its buffers, so it belongs to one thread.

    Args:
        scale: 1, 10, 100 or 1000 codes a mN; 0 for raw float32.
    """

    def __init__(self, scale: int) -> None:
        if scale not in (0, 1, 10, 100, 1000):
            raise ContractError(f"force matrix scale {scale} is none of 0, 1, 10, 100, 1000")
        self._scale = scale
        self._float = np.empty((SHAPE[0], ROW_VALUES), np.float32)
        self._codes = np.empty((SHAPE[0], ROW_VALUES), np.int16)

    def encode(self, matrix: NDArray[np.float32], out: NDArray[Any] | None = None) -> NDArray[Any]:
        """One matrix, [250, 250, 3] float32 mN, as it stands in the column: [187500] int16 (float32 for scale 0).

        int16: rint(v · scale), half to even, clipped to ±32767, then each 750-value row as its first value and
        differences that wrap at 16 bits. NaN becomes 0.

        Raises:
            ContractError: another shape, or ``out`` of another size.
        """
        if matrix.shape != SHAPE:
            raise ContractError(f"a force matrix is {SHAPE}, not {matrix.shape}")
        if out is not None and out.shape != (SIZE,):
            raise ContractError(f"an encoded force matrix has {SIZE} values; the buffer has the shape {out.shape}")
        rows = matrix.reshape(SHAPE[0], ROW_VALUES)
        if self._scale == 0:
            raw = np.empty(SIZE, np.float32) if out is None else out
            raw[:] = rows.reshape(-1)
            return raw
        scaled, codes = self._float, self._codes
        with np.errstate(over="ignore", invalid="ignore"):
            np.multiply(rows, np.float32(self._scale), out=scaled)
            np.rint(scaled, out=scaled)
            np.clip(scaled, -_CLIP, _CLIP, out=scaled)
            # A NaN is the one value that clipping leaves, and it makes the sum one: looked for on the rare frame alone.
            if np.isnan(scaled.sum()):
                np.nan_to_num(scaled, copy=False, nan=0.0)
            np.copyto(codes, scaled, casting="unsafe")
        out = np.empty(SIZE, np.int16) if out is None else out
        difference = out.reshape(SHAPE[0], ROW_VALUES)
        difference[:, 0] = codes[:, 0]
        np.subtract(codes[:, 1:], codes[:, :-1], out=difference[:, 1:])
        return out


def encode(matrix: NDArray[np.float32], scale: int) -> NDArray[Any]:
    """Encode one matrix; see `ForceMatrixEncoder.encode`."""
    return ForceMatrixEncoder(scale).encode(matrix)


def decode(values: NDArray[Any], spec: Mapping[str, Any]) -> NDArray[np.float32]:
    """One row's values back to [250, 250, 3] float32 mN.

    Args:
        values: [187500] int16 or float32. spec: with ``encoding`` and ``scale``, see `spec_of`.

    Raises:
        ContractError: another number of values, or an encoding or a scale that is not known.
    """
    if values.size != SIZE:
        raise ContractError(f"a force matrix has {SIZE} values, not {values.size}")
    if spec.get("encoding") == "row_flat_raw" or values.dtype.kind == "f":
        return values.astype(np.float32).reshape(SHAPE)
    if spec.get("encoding", "row_diff_quantized") != "row_diff_quantized":
        raise ContractError(f"force matrix encoding {spec.get('encoding')!r} is not known")
    scale = spec.get("scale") or 1
    if not isinstance(scale, int | float) or not 0 < scale < float("inf"):
        raise ContractError(f"force matrix scale {scale!r} is no positive number")
    # The sums wrap at 16 bits, as the differences did.
    codes = np.cumsum(values.reshape(SHAPE[0], ROW_VALUES), axis=1, dtype=np.int32).astype(np.int16)
    matrix: NDArray[np.float32] = np.divide(codes, np.float32(scale), dtype=np.float32).reshape(SHAPE)
    return matrix


def spec_of(column: str, episode_specs: Mapping[str, Any], features: Mapping[str, Any]) -> dict[str, Any]:
    """How a column is coded: the episode's ``force_matrix_specs``, else the task's feature, else scale 1."""
    for source in (episode_specs, features):
        found = source.get(column)
        if isinstance(found, dict) and found.get("scale") is not None:
            return found
    return {"dtype": "int16", "shape": list(SHAPE), "encoding": "row_diff_quantized", "scale": 1}
