"""The writer of a take: rows come in on the tick thread, everything goes to the staging folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from episodes.declaration import Declaration
from episodes.staging import ClockPair
from operators.rows import Row
from sinks.encoders import EncoderPlan

__all__ = ["SlotLive", "TakeWriter"]


@dataclass(frozen=True, slots=True)
class SlotLive:
    """How a slot's encoder fares: share of time it was busy since the last look (0 to 1), frames waiting, of how many."""

    load: float
    waiting: int
    bound: int


class TakeWriter:
    """Writes the rows of one take into its staging folder (`sinks.reservation.reserve`).

    Args:
        staging: the folder. declaration: as reserved. plan: encoders of every video slot.
        clock: the take's start on both clocks. frame_sizes: slot to (height, width).
        blocking: wait for room instead of giving False; for input from memory, never for a live take.
        counters: the running counters, as keys of ``drop_stats``; called twice a second, on a thread of the writer.
        on_failure: told once, on a thread of the writer, in words, that the take has to end.

    Attributes:
        last_row: index of the newest row that was taken; -1 before the first.
    """

    def __init__(
        self,
        staging: Path,
        declaration: Declaration,
        plan: EncoderPlan,
        clock: ClockPair,
        *,
        frame_sizes: Mapping[str, tuple[int, int]],
        blocking: bool = False,
        counters: Callable[[], Mapping[str, int]] = dict,
        on_failure: Callable[[str], None] = lambda _message: None,
    ) -> None:
        raise NotImplementedError

    @property
    def last_row(self) -> int:
        raise NotImplementedError

    def write(self, row: Row) -> bool:
        """Take a row, on the tick thread; its values are those of ``declaration.streams``, in order.

        Never blocks unless ``blocking``. False: a queue is full or a file has failed; nothing of the row was taken, and the
        take has to end.
        """
        raise NotImplementedError

    def live(self) -> dict[str, SlotLive]:
        """Every slot's encoder, now."""
        raise NotImplementedError

    def close(self) -> None:
        """Work off what waits, and finish all files; then `sinks.commit.commit_staging` can have them. Idempotent."""
        raise NotImplementedError

    def abort(self) -> None:
        """End at once; the files are of no use. Idempotent."""
        raise NotImplementedError
