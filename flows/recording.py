"""A take in progress, with everything that belongs to it."""

from __future__ import annotations

import functools
import threading
import time
from contextlib import ExitStack
from dataclasses import dataclass, field

from episodes.declaration import Declaration
from episodes.staging import ClockPair
from flows.preflight import ArmedTake
from flows.session_events import EndReason, Stopped
from flows.take import Take
from sinks.take_writer import TakeWriter

__all__ = ["RunningTake"]


@dataclass(slots=True)
class RunningTake:
    """A take between its first and its last row.

    Attributes:
        armed: its number, folder, encoders. take: its rows. writer: their sink. tuning: undone when the take is over.
        warnings: what was warned of, in order.
    """

    armed: ArmedTake
    take: Take
    writer: TakeWriter
    tuning: ExitStack
    warnings: list[str] = field(default_factory=list)
    _told: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def k(self) -> int:
        """The take's number."""
        return self.armed.number.k

    @property
    def drain_s(self) -> float:
        """From the wish to end to the last row; 0 where the last row came before it."""
        return max(0, self.take.last_row_ns - self.take.wished_ns) / 1e9

    def stopped(self) -> Stopped | None:
        """The event of the take's end, for the first who asks after it; None for the others."""
        with self._lock:
            if self._told or not self.take.ended.is_set():
                return None
            self._told = True
        return Stopped(
            at_ns=time.monotonic_ns(),
            k=self.k,
            reason=self.take.reason or EndReason.STOPPED,
            rows=self.take.rows,
            drain_s=self.drain_s,
            message=self.take.message,
        )

    @classmethod
    def begin(cls, armed: ArmedTake, take: Take, declaration: Declaration, tuning: ExitStack) -> RunningTake:
        """Start the clock of a primed take, and open its files."""
        clock = ClockPair(time.monotonic_ns(), time.time())
        writer = TakeWriter(
            armed.staging,
            declaration,
            armed.plan,
            clock,
            frame_sizes=armed.sizes,
            counters=take.counters,
            on_failure=functools.partial(_writer_failed, take),
        )
        return cls(armed, take, writer, tuning)


def _writer_failed(take: Take, message: str) -> None:
    """One of the writer's files cannot go on; called on the thread on which it failed."""
    of_slot = any(message.startswith(f"{port.key}:") for port in take.videos)
    take.request_end(EndReason.ENCODER_FAILED if of_slot else EndReason.WRITER_FAILED, message)
