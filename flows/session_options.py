"""The numbers of a session."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["SessionOptions"]

GIB = 1024**3


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOptions:
    """The numbers of a session.

    Attributes:
        prime_timeout_s: how long a take waits for a frame of every video slot.
        drain_s: how long ticks go on after the wish to stop.
        disk_reserve: bytes that always stay free; a take that reaches it is ended and saved. disk_warning: bytes above
            the reserve below which the operator is warned.
        silence_s: a device that sends nothing for so long is shown as silent.
        gap_min_ms: what counts as a hole between frames.
        app_version: written into info.json; by default that of the installed distribution.
    """

    prime_timeout_s: float = 5.0
    drain_s: float = 1.0
    disk_reserve: int = 2 * GIB
    disk_warning: int = 2 * GIB
    silence_s: float = 1.0
    gap_min_ms: float = 100.0
    app_version: str | None = None
