"""The keys of ``drop_stats``: which count lost frames, and how episodes add up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["is_frame_key", "merge_drop_stats", "tidy", "total_lost"]

ALWAYS = "imu_overflow"


def is_frame_key(key: str) -> bool:
    """Whether the value is a number of lost frames (or samples)."""
    return key != ALWAYS and not key.endswith(("_ms", "_ns", "_count"))


def total_lost(stats: Mapping[str, Any]) -> int:
    """The one sanctioned total. What is no whole number, in a foreign file, does not count."""
    return sum(value for key, value in stats.items() if is_frame_key(key) and type(value) is int)


def merge_drop_stats(first: Mapping[str, int], second: Mapping[str, int]) -> dict[str, int]:
    """Add two episodes up: maxima stay maxima, everything else sums."""
    merged = dict(first)
    for key, value in second.items():
        old = merged.get(key, 0)
        merged[key] = max(old, value) if key.endswith(("_max_ms", "_max_ns")) else old + value
    return merged


def tidy(stats: Mapping[str, int]) -> dict[str, int]:
    """As it goes to disk: zeros are left out, ``imu_overflow`` always stands."""
    return {key: int(value) for key, value in {ALWAYS: 0, **stats}.items() if value or key == ALWAYS}
