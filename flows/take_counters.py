"""What a take counts, as the keys of ``drop_stats``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from episodes.naming import column_part
from episodes.streams import ImuStream
from flows.device_link import DeviceLink
from flows.gap_watch import NS_PER_MS, GapWatch
from flows.take_port import TakePort, VideoPort

__all__ = ["take_counters"]


def take_counters(
    ports: Sequence[TakePort],
    gaps: Mapping[str, GapWatch],
    *,
    skipped_ticks: int,
    faults: Mapping[str, int],
    before: Mapping[str, tuple[int, int]],
    links: Sequence[DeviceLink],
) -> dict[str, int]:
    """The running counters; cheap, and safe beside the tick thread, since all are plain ints.

    Keys without ``_ms``, ``_ns`` and ``_count`` are frames or samples lost: ``uvc:<slot>`` or ``ext:<slot>`` (came and
    got no row), ``<slot>_wrong_size`` (came in another size), ``sensor_queue`` (samples and points that a full queue
    lost).

    Args:
        before: failures and faults of each device, by key, before the take.
    """
    found: dict[str, int] = {"imu_overflow": 0, "tick_skip_count": skipped_ticks, "sensor_queue": 0}
    for port in ports:
        if isinstance(port, VideoPort):
            found |= _slot(port, gaps[port.key])
        elif isinstance(port.stream, ImuStream):
            found["imu_overflow"] += port.lost
        else:
            found["sensor_queue"] += port.lost
    for key, count in faults.items():
        found[f"{column_part(key)}_fault_count"] = count
    for link in links:
        key = column_part(link.flow.key)
        failures, garbage = before.get(link.flow.key, (0, 0))
        found[f"{key}_disconnect_count"] = link.failures - failures
        found[f"{key}_garbage_count"] = link.faults - garbage
    return found


def _slot(port: VideoPort, gap: GapWatch) -> dict[str, int]:
    slot = port.key
    origin = "uvc" if port.link.flow.kind == "uvc" else "ext"
    late_ns: int = getattr(port.cell, "late_max_ns", 0)
    return {
        f"{origin}:{slot}": port.lost,
        f"{slot}_wrong_size": port.wrong_size,
        f"{slot}_repeat_count": getattr(port.cell, "repeated", 0),
        f"{slot}_late_max_ms": round(late_ns / NS_PER_MS),
        f"{slot}_gap_count": gap.count,
        f"{slot}_gap_ms": round(gap.total_ns / NS_PER_MS),
        f"{slot}_gap_max_ms": round(gap.max_ns / NS_PER_MS),
        f"{slot}_resync_count": gap.resyncs,
    }
