"""The device flow of a rig's own sensor: one vector column."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import reactivex as rx

from episodes.streams import VectorStream
from flows.device import DeviceFlow
from flows.ports import vector_port
from operators.events import Event

__all__ = ["VECTOR_PORT", "vector"]

VECTOR_PORT = "vector"


def vector(
    column: str,
    source: Callable[[], rx.Observable[Event]],
    *,
    key: str,
    name: str | None = None,
    dtype: str = "float32",
    shape: tuple[int, ...] = (),
    unit: str = "",
    names: Sequence[str] = (),
    stamps: bool = True,
    stats: bool = True,
    port: str = VECTOR_PORT,
) -> DeviceFlow:
    """A column of the rig's own: the newest sample of each row, zeros where none came.

    Args:
        column: full name, ``observation.`` in front; the reserved suffixes of the contract are refused.
        source: makes the observable of the sensor; see `flows.device.DeviceFlow.source`.
        key: ``<kind>:<id>`` of the device.
        name: what the operator calls it; by default the key.
        dtype, shape, unit, names: of one sample; shape ``()`` for a scalar.
        stamps: whether ``<column>_ns`` keeps each sample's receipt.
        stats: whether ``stats.json`` counts it.
        port: the port on which the source emits its `operators.events.Sample`.
    """
    stream = VectorStream(
        column=column,
        dtype=dtype,
        shape=tuple(shape),
        unit=unit,
        names=tuple(names),
        stamp_column=f"{column}_ns" if stamps else None,
        stats=stats,
        declared_by_rig=True,
    )
    return DeviceFlow(
        key=key,
        kind=key.partition(":")[0],
        name=name or key,
        slots=(),
        ports=(vector_port(port, stream),),
        source=source,
    )
