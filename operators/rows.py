"""rows: the assembly of an episode, one row a tick."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import reactivex as rx
from reactivex import abc
from reactivex.disposable import CompositeDisposable

from operators.cells import Cell, Row, Tick

__all__ = ["Channel", "Fault", "Row", "rows"]


@dataclass(frozen=True, slots=True)
class Channel:
    """A source of items and the cell that samples it; ``name`` is what faults are reported under."""

    name: str
    source: rx.Observable[Any]
    cell: Cell[Any, Any]


@dataclass(frozen=True, slots=True)
class Fault:
    """A channel's source ended with an error, or its cell raised; the rows go on. ``tick`` is None outside a tick."""

    channel: str
    error: BaseException
    tick: Tick | None


def rows(ticks: rx.Observable[Tick], channels: Sequence[Channel], fault: Callable[[Fault], None]) -> rx.Observable[Row]:
    """Assemble rows: exactly one for every tick, in tick order, whatever the sources do.

    .. marble::

        source A: -a--b-------X
        source B: --1-----2-|
        ticks:    ---t---t---t---t-|
        result:   ---R---S---T---U-|     each row one value of every cell, in order

    The sources are subscribed first, so an item at a tick's own time counts before the tick. A cell that raises gives
    its ``missing``, and ``fault`` is told; so it is of a source's error. A tick that comes while a row is being made,
    from a re-entrant subscriber, waits until that row is out; so do the ticks' end and error.

    What the subscriber raises goes to whoever ticked; the row counts as given, and the ticks that wait come with the
    next one. The cells are the channels' own: subscribe once.
    """

    def subscribe(observer: abc.ObserverBase[Row], scheduler: abc.SchedulerBase | None = None) -> abc.DisposableBase:
        group = CompositeDisposable()
        # Bound once: looking take up for every channel of every row is a tenth of a row's time.
        cells = [(channel.name, channel.cell, channel.cell.take) for channel in channels]
        waiting: deque[Tick | _Last] = deque()
        lock = threading.RLock()
        busy = False

        def tell(name: str, error: BaseException, tick: Tick | None) -> None:
            # Who listens to faults must not cost a row.
            with contextlib.suppress(Exception):
                fault(Fault(name, error, tick))

        def assemble(tick: Tick) -> Row:
            values: list[object] = []
            append = values.append
            for name, cell, take in cells:
                try:
                    append(take(tick, values))
                except Exception as error:  # noqa: BLE001 - one channel's failure must not shift the others
                    append(_missing(cell))
                    tell(name, error, tick)
            return Row(tick, tuple(values))

        def on_beat(beat: Tick | _Last) -> None:
            nonlocal busy
            with lock:
                waiting.append(beat)
                if busy:
                    return
                busy = True
                try:
                    while waiting:
                        due = waiting.popleft()
                        if isinstance(due, _Last):
                            due.tell(observer)
                        else:
                            observer.on_next(assemble(due))
                finally:
                    busy = False

        def put_into(name: str, cell: Cell[Any, Any]) -> Callable[[Any], None]:
            put = cell.put

            def guarded(item: Any) -> None:
                try:
                    put(item)
                except Exception as error:  # noqa: BLE001 - see assemble
                    tell(name, error, None)

            return guarded

        def ended_with(name: str, error: Exception) -> None:
            tell(name, error, None)

        for channel in channels:
            name = channel.name
            group.add(
                channel.source.subscribe(
                    put_into(name, channel.cell),
                    functools.partial(ended_with, name),
                    scheduler=scheduler,
                )
            )
        group.add(
            ticks.subscribe(
                on_beat,
                lambda error: on_beat(_Last(error)),
                lambda: on_beat(_Last(None)),
                scheduler=scheduler,
            )
        )
        return group

    return rx.Observable(subscribe)


@dataclass(frozen=True, slots=True)
class _Last:
    """The ticks' end, or their error, in its place behind the ticks before it."""

    error: Exception | None

    def tell(self, observer: abc.ObserverBase[Row]) -> None:
        if self.error is None:
            observer.on_completed()
        else:
            observer.on_error(self.error)


def _missing(cell: Cell[Any, Any]) -> object:
    try:
        return cell.missing
    except Exception:  # noqa: BLE001 - a broken cell of a rig's own must not cost the others their row
        return None
