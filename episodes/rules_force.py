"""Rules of force matrices and force stamps."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from episodes.errors import CorruptFileError
from episodes.force_matrix import SIZE
from episodes.rules_features import matrix_problems
from episodes.views import EpisodeView

__all__ = ["check_forces"]

_SPEC_KEYS = ("dtype", "shape", "encoding", "scale")


def check_forces(view: EpisodeView) -> None:
    """Specs, lengths from the footer, stamps; deep: every matrix decoded."""
    if view.data is None:
        return
    for name in view.data.heavy:
        _check_spec(view, name)
        _check_length(view, name)
        if view.task.deep:
            _check_decode(view, name)
    for name in view.columns:
        if name.endswith("_force_ns"):
            _check_stamped(view, name.removesuffix("_ns"))


def _check_spec(view: EpisodeView, name: str) -> None:
    if view.row is None or view.data is None:
        return
    where, spec = view.episode.row_path, view.row.force_matrix_specs.get(name)
    if not isinstance(spec, dict):
        view.add("force.specs", where, f"force_matrix_specs has no entry of {name}", view.milder)
        return
    problems = matrix_problems(spec)
    if spec.get("shape") != [250, 250, 3]:
        problems.append(f"shape is {spec.get('shape')!r}")
    kind = view.data.schema.field(name).type
    if pa.types.is_list(kind) and isinstance(spec.get("dtype"), str) and str(kind.value_type) != _arrow(spec["dtype"]):
        problems.append(f"dtype is {spec['dtype']}, the column holds {kind.value_type}")
    for problem in problems:
        view.add("force.specs", where, f"force_matrix_specs of {name}: {problem}")
    feature = view.features.get(name)
    if view.newest and isinstance(feature, dict):
        differing = [key for key in _SPEC_KEYS if spec.get(key) != feature.get(key)]
        if differing:
            view.add("force.declared-otherwise", where, f"{name}: {', '.join(differing)} differ from the feature")


def _check_length(view: EpisodeView, name: str) -> None:
    """A chunk counts one value for an empty row and 187,500 for a matrix: what is left over is a wrong length."""
    try:
        with pq.ParquetFile(view.path) as file:
            meta = file.metadata
            # A leaf's path is the column, itself with dots, and .list.element or the like.
            leaves = [meta.schema.column(i).path.partition(".list.")[0] for i in range(meta.num_columns)]
            if leaves.count(name) != 1:
                return
            leaf = leaves.index(name)
            for group in range(meta.num_row_groups):
                rows, values = meta.row_group(group).num_rows, meta.row_group(group).column(leaf).num_values
                if (values - rows) % (SIZE - 1) or not rows <= values <= rows * SIZE:
                    view.add("force.length", view.path, f"{name}: row group {group} has rows of another length")
                    return
    except (OSError, pa.ArrowException, ValueError) as error:
        view.add("data.corrupt", view.path, f"{name}: {error}")


def _check_decode(view: EpisodeView, name: str) -> None:
    try:
        with view.episode.force_matrix(name) as matrices:
            for row, matrix in enumerate(matrices):
                if matrix is not None and not np.isfinite(matrix).all():
                    view.add("force.decode", view.path, f"{name}: row {row} has values that are not finite")
                    return
    except CorruptFileError as error:
        view.add("force.decode", view.path, error.problem)


def _check_stamped(view: EpisodeView, name: str) -> None:
    stamps = view.array(f"{name}_ns")
    if view.light is None or stamps is None or name not in view.light.column_names:
        return
    column = view.light.column(name)
    if not pa.types.is_fixed_size_list(column.type):
        return
    values = np.concatenate([chunk.flatten().fill_null(0).to_numpy(zero_copy_only=False) for chunk in column.chunks])
    sampled = values.reshape(len(stamps), -1).any(axis=1) if len(stamps) else np.zeros(0, np.bool_)
    missing = int((sampled & (stamps == 0)).sum())
    if missing:
        view.add("force.unstamped", view.path, f"{name}: {missing} rows have a sample and no stamp")


def _arrow(dtype: str) -> str:
    return {"float32": "float", "float64": "double"}.get(dtype, dtype)
