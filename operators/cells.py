"""Cells, and how they are lifted to operators.

A *cell* is a small pure state machine: items go in with ``put`` whenever they come, one value comes out with ``take``
at every tick. It knows no Rx, no thread and no lock; `at_ticks` gives it a place in a stream, and
`operators.rows.rows` a place in an episode.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ParamSpec, Protocol, TypeVar

import reactivex as rx
from reactivex import abc
from reactivex.disposable import CompositeDisposable

__all__ = ["Cell", "Row", "Tick", "at_ticks"]

S_contra = TypeVar("S_contra", contravariant=True)
V_co = TypeVar("V_co", covariant=True)
P = ParamSpec("P")


@dataclass(frozen=True, slots=True)
class Tick:
    """One beat of an episode's only clock.

    Attributes:
        index: 0-based, without holes: the row's ``frame_index``.
        due_ns: the deadline, on the grid start + n · period; host monotonic clock, ns.
        at_ns: the moment at which the tick really happened; host monotonic clock, ns. Never before ``due_ns``.
        skipped: deadlines that passed without a tick between the previous tick and this one.
    """

    index: int
    due_ns: int
    at_ns: int
    skipped: int = 0

    @property
    def late_ns(self) -> int:
        """How late the tick came, ns, ≥ 0."""
        return self.at_ns - self.due_ns


@dataclass(frozen=True, slots=True)
class Row:
    """One row: its tick, and one value a channel in the order of the channels."""

    tick: Tick
    values: tuple[object, ...]


class Cell(Protocol[S_contra, V_co]):
    """A pure state machine that samples one channel.

    ``missing`` is the value of a row in which the cell raised. ``row`` holds what the channels declared before this
    one gave for the same tick, so a cell can follow another.
    """

    @property
    def missing(self) -> V_co: ...
    def put(self, item: S_contra, /) -> None: ...
    def take(self, tick: Tick, row: Sequence[object], /) -> V_co: ...


def at_ticks(
    make_cell: Callable[P, Cell[Any, Any]],
) -> Callable[..., Callable[[rx.Observable[Any]], rx.Observable[Any]]]:
    """Lift a cell to an operator: ``source.pipe(op(ticks, *args))`` gives one value a tick, in tick order.

    ``ticks`` carries `Tick`, or `Row` for a cell that follows another: a row is a tick with what the earlier cells
    gave for it, so ``depth.pipe(follow_master(rows(ticks, [colour], fault), 0))`` ticks on one clock.

    The source's error or end does not end the result: the ticks do. Items are put in before a tick of the same
    virtual time, since the source is subscribed first. What the cell raises is the result's error: here it stands
    alone, and only `operators.rows.rows` has other channels to keep in step.
    """

    def operator(
        ticks: rx.Observable[Any], *args: P.args, **kwargs: P.kwargs
    ) -> Callable[[rx.Observable[Any]], rx.Observable[Any]]:
        def lifted(source: rx.Observable[Any]) -> rx.Observable[Any]:
            def subscribe(
                observer: abc.ObserverBase[Any], scheduler: abc.SchedulerBase | None = None
            ) -> abc.DisposableBase:
                cell = make_cell(*args, **kwargs)
                group = CompositeDisposable()

                def put(item: Any) -> None:
                    try:
                        cell.put(item)
                    except Exception as error:  # noqa: BLE001 - as every operator of Rx does with a function's error
                        observer.on_error(error)

                def take(beat: Tick | Row) -> None:
                    try:
                        value = cell.take(beat.tick, beat.values) if isinstance(beat, Row) else cell.take(beat, ())
                    except Exception as error:  # noqa: BLE001 - see put
                        observer.on_error(error)
                        return
                    observer.on_next(value)

                group.add(source.subscribe(put, lambda _error: None, scheduler=scheduler))
                group.add(ticks.subscribe(take, observer.on_error, observer.on_completed, scheduler=scheduler))
                return group

            return rx.Observable(subscribe)

        return lifted

    return operator
