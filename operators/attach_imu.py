"""attach_imu: the inertial samples up to the frame of the same row."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from operators.cells import Tick, at_ticks
from operators.events import ImuSample
from operators.oldest_frame import TickFrame

__all__ = ["AttachImu", "attach_imu"]

AHEAD_NS = 2_000_000_000
"""No frame waits this long for its row, so a sample this far ahead of the frame is of a clock before a restart."""


class AttachImu:
    """Give, at every tick, the samples whose device stamp is not after that of the master's frame in this row.

    .. marble::

        master (row): -----5-----5*----9-|      device stamp of the shown frame; * repeated
        source:       -3-4-5-6-7---8-9---|
        ticks:        -----t-----t-----t-|
        result:       -----A-----N-----B-|      A=[3,4,5] N=[] B=[6,7,8,9]

    Later samples wait for their frame, so no sample stands on two rows. A repeated frame gets none. A frame without a
    device stamp takes all that wait. Beyond ``bound`` waiting samples the oldest goes, counted in ``dropped``.

    A device that restarts sets its clock back: samples more than two seconds ahead of the frame are of the old clock
    and go with this frame, so that they hold up nothing.

    Args:
        master_index: place of the master's `TickFrame` in the row. bound: samples that may wait, ≥ 1.
    """

    def __init__(self, master_index: int, bound: int = 18_000) -> None:
        if bound < 1:
            raise ValueError(f"bound must be at least 1, not {bound}")
        self._master_index = master_index
        self._bound = bound
        self._waiting: deque[ImuSample] = deque()
        self.dropped = 0

    @property
    def missing(self) -> list[ImuSample]:
        """No sample."""
        return []

    @property
    def waiting(self) -> int:
        """Samples that wait for their frame."""
        return len(self._waiting)

    def put(self, item: ImuSample) -> None:
        if len(self._waiting) >= self._bound:
            self._waiting.popleft()
            self.dropped += 1
        self._waiting.append(item)

    def take(self, tick: Tick, row: Sequence[object]) -> list[ImuSample]:
        master = row[self._master_index]
        if not isinstance(master, TickFrame) or master.repeated:
            return []
        stamp = master.frame.device_ns
        waiting = self._waiting
        taken: list[ImuSample] = []
        while waiting:
            if stamp is not None and 0 < waiting[0].device_ns - stamp <= AHEAD_NS:
                break
            taken.append(waiting.popleft())
        return taken

    def clear(self) -> None:
        """Forget the waiting samples and the counter: a new take."""
        self._waiting.clear()
        self.dropped = 0


attach_imu = at_ticks(AttachImu)
