"""follow_master: the depth frame that belongs to the master's frame of the same row."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

from operators.cells import Tick, at_ticks
from operators.events import Frame
from operators.oldest_frame import TickFrame

__all__ = ["FollowMaster", "follow_master", "partner_of"]


class FollowMaster:
    """Give, at every tick, the frame that belongs to the master's frame in this row.

    .. marble::

        master (row): ---1----2----2*---3-|      number of the shown frame
        source:       --1---------2-------|
        ticks:        ---t----t----t----t-|
        result:       ---1----1*---2----2*|      * repeated

    Belongs: the frame of the same frameset where the device numbers framesets, else the newest one not newer than the
    master's. Where it did not come, the last frame is given again, flagged; when it comes while the master is shown
    again, it has its row then. A frame that the master has passed without showing it, or that a full queue lost, is
    counted in ``dropped``.

    Stamps and numbers that run backwards cost no more than a full queue: any waiting frame can be the partner, not only
    the head.

    Attributes are those of `operators.oldest_frame.OldestFrame`.

    Args:
        master_index: place of the master's `TickFrame` in the row, before this cell. bound: frames that may wait, ≥ 1.
    """

    missing: TickFrame | None = None

    def __init__(self, master_index: int, bound: int = 30) -> None:
        if bound < 1:
            raise ValueError(f"bound must be at least 1, not {bound}")
        self._master_index = master_index
        self._bound = bound
        self._waiting: deque[Frame] = deque()
        self._last: Frame | None = None
        self.dropped = 0
        self.repeated = 0
        self.late_max_ns = 0
        self.last_host_ns: int | None = None

    @property
    def waiting(self) -> int:
        """Frames that wait for their master."""
        return len(self._waiting)

    def put(self, item: Frame) -> None:
        if len(self._waiting) >= self._bound:
            self._waiting.popleft()
            self.dropped += 1
        self._waiting.append(item)
        self.last_host_ns = item.host_ns

    def take(self, tick: Tick, row: Sequence[object]) -> TickFrame | None:
        master = row[self._master_index]
        if isinstance(master, TickFrame):
            found = self._partner(master.frame)
            if found is not None:
                self._last = found
                self.late_max_ns = max(self.late_max_ns, tick.at_ns - found.host_ns)
                return TickFrame(found, repeated=False)
        if self._last is None:
            return None
        self.repeated += 1
        return TickFrame(self._last, repeated=True)

    def _partner(self, master: Frame) -> Frame | None:
        place = partner_of(master, self._waiting)
        if place is None:
            self._drop_passed(master)
            return None
        for _ in range(place):
            self._waiting.popleft()
        self.dropped += place
        return self._waiting.popleft()

    def _drop_passed(self, master: Frame) -> None:
        """Let go of what can belong to no later master: framesets only grow."""
        waiting = self._waiting
        while waiting and master.frameset is not None:
            number = waiting[0].frameset
            if number is None or number >= master.frameset:
                return
            waiting.popleft()
            self.dropped += 1

    def has_before(self, stop_ns: int) -> bool:
        """Never: what the master does not show is not waited for."""
        return False

    def left_before(self, stop_ns: int) -> int:
        """How many frames captured before ``stop_ns`` still wait: lost, if the take ends now."""
        return sum(frame.best_ns < stop_ns for frame in self._waiting)

    def clear(self) -> None:
        """Forget all frames and counters: a new take."""
        self._waiting.clear()
        self._last = None
        self.dropped = self.repeated = self.late_max_ns = 0
        self.last_host_ns = None


def partner_of(master: Frame, frames: Iterable[Frame]) -> int | None:
    """Number of the frame, in order of arrival, that belongs to the master's; None where none does."""
    place: int | None = None
    for index, frame in enumerate(frames):
        if master.frameset is not None and frame.frameset is not None:
            if frame.frameset == master.frameset:
                return index
        elif frame.best_ns <= master.best_ns:
            place = index
    return place


follow_master = at_ticks(FollowMaster)
