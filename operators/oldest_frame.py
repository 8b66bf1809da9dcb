"""oldest_frame: one frame a tick, the oldest that waits."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from operators.cells import Tick, at_ticks
from operators.events import Frame

__all__ = ["OldestFrame", "TickFrame", "oldest_frame"]

MAX_AGE_PERIODS = 3
"""A head older than this many periods goes, so that lag cannot grow."""


@dataclass(frozen=True, slots=True, eq=False)
class TickFrame:
    """The frame of one row, and whether it stood in the row before already."""

    frame: Frame
    repeated: bool


class OldestFrame:
    """Give, at every tick, the head of a bounded FIFO; the last frame again, flagged, when none waits.

    .. marble::

        source: -a-bc-----------d-|
        ticks:  --t----t----t----t----t-|
        result: --a----b----c----d----d*|      * repeated

    A full FIFO, or a head that came more than three periods ago, loses its oldest frame, counted in ``dropped``: lag is
    bounded, and nothing is lost in silence. The newest waiting frame is never given up for its age.

    Attributes:
        dropped: frames that went without a row. repeated: rows that show the frame of an earlier row.
        late_max_ns: the greatest age, tick minus receipt, of a frame when it was taken, ns.
        last_host_ns: receipt of the newest frame put, ns; None before the first.

    Args:
        period_ns: of the ticks, ns. bound: frames that may wait, ≥ 1.
    """

    missing: TickFrame | None = None

    def __init__(self, period_ns: int, bound: int = 30) -> None:
        if bound < 1:
            raise ValueError(f"bound must be at least 1, not {bound}")
        self._waiting: deque[Frame] = deque()
        self._bound = bound
        self._max_age_ns = MAX_AGE_PERIODS * period_ns
        self._last: Frame | None = None
        self.dropped = 0
        self.repeated = 0
        self.late_max_ns = 0
        self.last_host_ns: int | None = None

    @property
    def waiting(self) -> int:
        """Frames in the FIFO."""
        return len(self._waiting)

    def put(self, item: Frame) -> None:
        if len(self._waiting) >= self._bound:
            self._waiting.popleft()
            self.dropped += 1
        self._waiting.append(item)
        self.last_host_ns = item.host_ns

    def take(self, tick: Tick, row: Sequence[object]) -> TickFrame | None:
        waiting = self._waiting
        while len(waiting) > 1 and tick.at_ns - waiting[0].host_ns > self._max_age_ns:
            waiting.popleft()
            self.dropped += 1
        if waiting:
            frame = self._last = waiting.popleft()
            self.late_max_ns = max(self.late_max_ns, tick.at_ns - frame.host_ns)
            return TickFrame(frame, repeated=False)
        if self._last is None:
            return None
        self.repeated += 1
        return TickFrame(self._last, repeated=True)

    def has_before(self, stop_ns: int) -> bool:
        """Whether a frame captured before ``stop_ns`` still waits."""
        return any(frame.best_ns < stop_ns for frame in self._waiting)

    def left_before(self, stop_ns: int) -> int:
        """How many frames captured before ``stop_ns`` still wait: lost, if the take ends now."""
        return sum(frame.best_ns < stop_ns for frame in self._waiting)

    def clear(self) -> None:
        """Forget all frames and counters: a new take."""
        self._waiting.clear()
        self._last = None
        self.dropped = self.repeated = self.late_max_ns = 0
        self.last_host_ns = None


oldest_frame = at_ticks(OldestFrame)
