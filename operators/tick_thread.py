"""The tick thread: sleeps to absolute deadlines of the host's monotonic clock, and ticks."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from fractions import Fraction

from operators.cells import Tick
from operators.tick_sample import NS, TickGrid

__all__ = ["TickThread"]


class TickThread:
    """One thread that calls ``on_tick`` at every deadline until it is stopped.

    ``on_tick`` drains the hand-overs and sends the tick into the rows. What it raises ends the thread and is kept in
    ``error``: the caller of `join` decides.

    Args:
        fps: rows a second.
        on_tick: called on this thread with each tick.
        name: of the thread.
        first_due_ns: first deadline, host monotonic, ns; by default one period after the start.

    Raises:
        ValueError: a rate that never ticks.
    """

    def __init__(
        self,
        fps: float | Fraction,
        on_tick: Callable[[Tick], None],
        *,
        name: str = "ticks",
        first_due_ns: int | None = None,
    ) -> None:
        self._fps = fps
        self._period_ns = TickGrid(0, fps).period_ns
        self._on_tick = on_tick
        self._first_due_ns = first_due_ns
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self.error: BaseException | None = None

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Ask the thread to end before its next tick; safe from any thread, its own too."""
        self._stopping.set()

    def join(self, timeout_s: float | None = None) -> bool:
        """Wait for the end; False when it did not come in time."""
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    @property
    def alive(self) -> bool:
        """Whether ticks may still come."""
        return self._thread.is_alive()

    def _run(self) -> None:
        first = self._first_due_ns
        if first is None:
            first = time.monotonic_ns() + self._period_ns
        grid = TickGrid(first, self._fps)
        try:
            while not self._stopping.is_set():
                wait_ns = grid.due_ns - time.monotonic_ns()
                while wait_ns > 0:
                    # time.sleep is a clock_nanosleep without a lock; an Event.wait wakes up later by its own cost.
                    time.sleep(min(wait_ns / NS, 0.1))
                    if self._stopping.is_set():
                        return
                    wait_ns = grid.due_ns - time.monotonic_ns()
                self._on_tick(grid.tick(time.monotonic_ns()))
        except BaseException as error:  # noqa: BLE001 - the thread's owner is told, whatever it was
            self.error = error
