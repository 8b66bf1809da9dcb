"""follow_master: the depth frame that belongs to the master's frame of the same row."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from operators.cells import Tick, at_ticks
from operators.events import Frame
from operators.oldest_frame import TickFrame

__all__ = ["FollowMaster", "follow_master"]


class FollowMaster:
    """Give, at every tick, the frame that belongs to the master's frame in this row.

    .. marble::

        master (row): ---1----2----2----3-|
        source:       --1---2------------3-|
        ticks:        ---t----t----t----t-|
        result:       ---1----2----2*---2*|     * repeated

    Belongs: the frame of the same frameset where the device numbers framesets, else the newest frame not newer than the
    master's. A master that is shown again gets the same frame again. Where the partner did not come, the last frame is
    given again, flagged; a frame that the master has passed without showing it is counted in ``dropped``.

    Attributes are those of `operators.oldest_frame.OldestFrame`.
    """

    missing: TickFrame | None = None

    def __init__(self, master_index: int, bound: int = 30) -> None:
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
        if isinstance(master, TickFrame) and not (master.repeated and self._last is not None):
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
        waiting = self._waiting
        if master.frameset is not None:
            while waiting and waiting[0].frameset is not None and waiting[0].frameset < master.frameset:
                waiting.popleft()
                self.dropped += 1
            if waiting and waiting[0].frameset == master.frameset:
                return waiting.popleft()
            return None
        found: Frame | None = None
        while waiting and waiting[0].best_ns <= master.best_ns:
            if found is not None:
                self.dropped += 1
            found = waiting.popleft()
        return found

    def has_before(self, stop_ns: int) -> bool:
        """Never: what the master does not show is not waited for."""
        return False

    def clear(self) -> None:
        """Forget all frames and counters: a new take."""
        self._waiting.clear()
        self._last = None
        self.dropped = self.repeated = self.late_max_ns = 0
        self.last_host_ns = None


follow_master = at_ticks(FollowMaster)
