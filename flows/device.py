"""A device flow: source → ports → channels, and what the contract must know of the device."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import reactivex as rx

from episodes.streams import Stream
from operators.cells import Cell
from operators.events import Event

__all__ = ["CellContext", "DeviceFlow", "Port"]


@dataclass(frozen=True, slots=True)
class CellContext:
    """What a cell factory may know of the rig that it is built into.

    ``index_of`` maps a stream's key (slot, column or status id) to its place in the row; a stream that follows another
    stands behind it.
    """

    period_ns: int
    index_of: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Port:
    """One output of a device: which events it takes, how they are sampled, how they are recorded.

    Attributes:
        name: `Event.port` of the events that it takes.
        stream: how the sampled value is recorded.
        cell: makes the cell that samples it.
        bound: how many items may wait between the device's thread and the tick thread; beyond it the oldest goes and
            is counted under ``drop_key``.
    """

    name: str
    stream: Stream
    cell: Callable[[CellContext], Cell[Any, Any]]
    bound: int = 64


@dataclass(frozen=True, slots=True)
class DeviceFlow:
    """One device of a rig, declared once: slots, columns, features, device entry and calibration follow from it.

    Attributes:
        key: stable key, ``<kind>:<id>``, without credentials.
        kind: ``uvc``, ``d435``, ``s80m``, ``data_ble``, ``gripper``, ``camera``, ``rgbd``, ``tracker`` …
        name: the name an operator gave it, else a default.
        slots: every slot of the device, those that are shown but not recorded included.
        ports: its outputs; a follower stands behind what it follows.
        source: makes the observable of the device. Subscribing opens it on a thread of its own; disposing closes it
            within two seconds. A source that fails errors; the session reconnects with back-off. A source that
            completes has come to its end (a file, a folder).
        sensor_column: of a glove. ``sensor_columns``: of a gripper. ``rig`` and ``hand``: of a gripper.
        calibration: one entry for the info key ``calibration``, or None.
        ends_take: when the source completes, the take ends (a file played as a device); such a device starts anew
            with every take.
        replays: the source plays something back that should start with the take (a trajectory file), though its end
            does not end the take.
        claims: exclusive resources, e.g. ``head_stereo``: two devices of a rig that claim the same are refused with
            the reason given as value.
    """

    key: str
    kind: str
    name: str
    slots: tuple[str, ...]
    ports: Sequence[Port]
    source: Callable[[], rx.Observable[Event]]
    sensor_column: str | None = None
    sensor_columns: tuple[str, ...] = ()
    rig: int | None = None
    hand: str | None = None
    calibration: Mapping[str, Any] | None = None
    ends_take: bool = False
    replays: bool = False
    claims: Mapping[str, str] = field(default_factory=dict)
