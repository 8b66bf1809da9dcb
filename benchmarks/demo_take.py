"""One take of the demo rig in a process of its own: cadence, CPU by thread, memory, times to stop and to commit.

    python -m benchmarks.demo_take SECONDS [key=value ...]

Prints one JSON line. CPU is read from the kernel, thread by thread: ``video-…`` threads, and those that a codec made
itself, are codecs and pixel conversion; threads named after a device of the rig are the twins' own work.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import threading
import time
from pathlib import Path

import structlog

from flows.session import Session
from rigs.registry import load_rig

__all__ = ["main"]

TICKS_S = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")


def _thread_cpu_s(native_id: int) -> float:
    """CPU of a thread so far, user and system, seconds; 0 for one that has ended."""
    try:
        fields = Path(f"/proc/self/task/{native_id}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / TICKS_S


def _cpu(device_keys: frozenset[str]) -> dict[str, float]:
    """CPU seconds so far of the recorder, the codecs and the twins."""
    names = {thread.native_id: thread.name for thread in threading.enumerate()}
    found = {"recorder": 0.0, "codecs": 0.0, "twins": 0.0}
    for entry in Path("/proc/self/task").iterdir():
        name = names.get(int(entry.name))
        if name is None or name.startswith("video-"):
            kind = "codecs"
        elif any(name.startswith(key) for key in device_keys):
            kind = "twins"
        else:
            kind = "recorder"
        spent = _thread_cpu_s(int(entry.name))
        found[kind] += spent
        found[f"thread {name or 'of a codec'}"] = found.get(f"thread {name or 'of a codec'}", 0.0) + spent
    return found


def _resident_mb() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE / 1e6


def main() -> None:
    """Record argv[1] seconds; the other arguments are the rig's parameters."""
    seconds = float(sys.argv[1])
    params = dict(argument.split("=", 1) for argument in sys.argv[2:])
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(40))
    rig = load_rig("demo", params)
    keys = frozenset(flow.key for flow in rig.flows)
    memory: list[float] = []
    with tempfile.TemporaryDirectory() as folder, Session(rig, Path(folder), "benchmark") as session:
        session.start()
        time.sleep(2.0)
        before, then = _cpu(keys), time.monotonic()
        while time.monotonic() - then < seconds - 2.0:
            time.sleep(min(1.0, max(0.0, seconds - 2.0 - (time.monotonic() - then))))
            memory.append(_resident_mb())
        after, spent = _cpu(keys), time.monotonic() - then
        summary = session.stop()
    shares = {name: 100 * (value - before.get(name, 0.0)) / spent for name, value in after.items()}
    print(
        json.dumps(
            {
                "rows": summary.rows,
                "fps": summary.fps,
                "late_p99_ms": summary.late_p99_ms,
                "late_max_ms": summary.late_max_ms,
                "skipped_ticks": summary.skipped_ticks,
                "lost": summary.lost,
                "repeats": sum(slot.repeats for slot in summary.slots),
                "age_max_ms": max(slot.late_max_ms for slot in summary.slots),
                "drain_s": summary.drain_s,
                "commit_s": summary.commit_s,
                "cpu_percent": {name: round(share, 2) for name, share in sorted(shares.items())},
                "memory_mb": [round(value, 1) for value in memory],
                "drop_stats": dict(summary.drop_stats),
                "warnings": list(summary.warnings),
            }
        )
    )


if __name__ == "__main__":
    main()
