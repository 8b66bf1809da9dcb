"""Runs the benchmarks and prints their table: ``python -m benchmarks [NAME ...] [--runs 5] [--json FILE]``.

Names: capture, cpu, cadence, memory, commit, episodes, seeks; all of them by default. ``capture`` is measured against
lerobot where ``--lerobot PYTHON`` names an interpreter that has it, else against the codec alone.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.measure import Figure, child_json, machine, spread

__all__ = ["main"]

HERE = Path(__file__).resolve().parent
LEROBOT_CODEC = {"libx264": "h264", "libsvtav1": "av1-g30"}


def _child(module: str, *arguments: object) -> dict[str, Any]:
    return child_json([sys.executable, "-m", f"benchmarks.{module}", *map(str, arguments)])


def capture(runs: int, lerobot: str | None) -> list[Figure]:
    """Rows a second and peak memory, paired with the codec alone and with lerobot."""
    figures: list[Figure] = []
    for encoder, count in (("libx264", 900), ("libsvtav1", 300)):
        ours, codec, peer = [], [], []
        for _ in range(runs):
            ours.append(_child("capture_path", encoder, count))
            codec.append(_child("codec_only", encoder, count))
            if lerobot is not None:
                peer.append(child_json([lerobot, str(HERE / "peer_lerobot.py"), LEROBOT_CODEC[encoder], str(count)]))
        what = f"capture path, 3 × 640×480 {encoder} + 3 vectors, from memory"
        figures.append(Figure(f"{what}: rigflow", tuple(run["rows_per_s"] for run in ours), "rows/s"))
        figures.append(Figure(f"{what}: codec alone", tuple(run["rows_per_s"] for run in codec), "rows/s"))
        against = tuple(a["rows_per_s"] / b["rows_per_s"] for a, b in zip(ours, codec, strict=True))
        figures.append(
            Figure(f"{what}: rigflow / codec alone", against, "×", "≥ 0.8", statistics.median(against) >= 0.8)
        )
        if peer:
            figures.append(Figure(f"{what}: lerobot streaming", tuple(run["rows_per_s"] for run in peer), "rows/s"))
            rate = tuple(a["rows_per_s"] / b["rows_per_s"] for a, b in zip(ours, peer, strict=True))
            figures.append(Figure(f"{what}: rigflow / lerobot", rate, "×", "≥ 2.5", statistics.median(rate) >= 2.5))
            memory = tuple(a["peak_mb"] / b["peak_mb"] for a, b in zip(ours, peer, strict=True))
            reached = statistics.median(memory) <= 1 / 3
            figures.append(Figure(f"{what}: peak memory, rigflow / lerobot", memory, "×", "≤ 1/3", reached))
    return figures


def cpu(runs: int, _lerobot: str | None) -> list[Figure]:
    """CPU of everything but codecs and twins, demo rig, at 30 rows a second."""
    figures: list[Figure] = []
    kinds = (("without force matrices", "none", 8), ("four quiet matrices", "quiet", 30), ("four noisy", "noisy", 50))
    found: dict[str, list[float]] = {name: [] for name, _noise, _limit in kinds}
    for _ in range(runs):
        for name, noise, _limit in kinds:
            params = ["matrices=false"] if noise == "none" else ["matrices=true", f"noise={noise}"]
            found[name].append(_child("demo_take", 17, *params)["cpu_percent"]["recorder"])
    for name, _noise, limit in kinds:
        reached = statistics.median(found[name]) <= limit
        what = f"demo, {name}: all but codecs and twins"
        figures.append(Figure(what, tuple(found[name]), "% of a core", f"≤ {limit} %", reached))
    return figures


def cadence(_runs: int, _lerobot: str | None) -> list[Figure]:
    """Tick lateness and losses over a take of 120 s."""
    take = _child("demo_take", 120)
    what = "demo, 120 s"
    period = 1000 / take["fps"]
    return [
        Figure(f"{what}: tick lateness p99", (take["late_p99_ms"],), "ms", "≤ 3 ms", take["late_p99_ms"] <= 3),
        Figure(f"{what}: tick lateness max", (take["late_max_ms"],), "ms", "≤ 33 ms", take["late_max_ms"] <= period),
        Figure(f"{what}: skipped ticks", (take["skipped_ticks"],), "", "0", take["skipped_ticks"] == 0),
        Figure(f"{what}: frames lost", (take["lost"],), "", "0", take["lost"] == 0),
        Figure(
            f"{what}: age of a frame at its row, max",
            (take["age_max_ms"],),
            "ms",
            "≤ 3 periods",
            take["age_max_ms"] <= 3 * period,
        ),
    ]


def memory(_runs: int, _lerobot: str | None) -> list[Figure]:
    """Growth of resident memory from minute 1 to minute 5 of a take."""
    samples = _child("demo_take", 305)["memory_mb"]
    growth = statistics.median(samples[290:300]) - statistics.median(samples[55:65])
    return [Figure("demo, memory from minute 1 to minute 5", (growth,), "MB", "≤ 20 MB", growth <= 20)]


def commit(runs: int, _lerobot: str | None) -> list[Figure]:
    """From the wish to stop to the last row, and from there to the committed episode, after 60 s."""
    takes = [_child("demo_take", 60) for _ in range(runs)]
    drain, commit_s = tuple(t["drain_s"] for t in takes), tuple(t["commit_s"] for t in takes)
    what = "demo with force matrices, 60 s"
    return [
        Figure(f"{what}: stop to last row", drain, "s", "≤ 1 s", statistics.median(drain) <= 1),
        Figure(f"{what}: last row to committed", commit_s, "s", "≤ 1 s", statistics.median(commit_s) <= 1),
    ]


def episodes(runs: int, _lerobot: str | None) -> list[Figure]:
    """Start and commit with 5,000 episodes in the task against 10."""
    more = []
    for _ in range(runs):
        few, many = _child("many_episodes", 10), _child("many_episodes", 5000)
        more.append(1e3 * (many["seconds"] - few["seconds"]))
    reached = statistics.median(more) <= 50
    return [Figure("start and commit, 5,000 episodes against 10", tuple(more), "ms more", "≤ 50 ms", reached)]


def seeks(_runs: int, _lerobot: str | None) -> list[Figure]:
    """Worst of 200 random seeks."""
    found = _child("seeks")
    figures = []
    for name, times in found.items():
        limit = 100 if name == "gray12" else 40
        worst = times["worst_ms"]
        figures.append(Figure(f"worst of 200 seeks, {name}", (worst,), "ms", f"≤ {limit} ms", worst <= limit))
    return figures


BENCHMARKS: dict[str, Callable[[int, str | None], list[Figure]]] = {
    "capture": capture,
    "cpu": cpu,
    "cadence": cadence,
    "memory": memory,
    "commit": commit,
    "episodes": episodes,
    "seeks": seeks,
}


def _table(figures: Sequence[Figure]) -> Table:
    table = Table("what", "median (lowest to highest)", "unit", "to reach", "reached")
    for figure in figures:
        verdict = "" if figure.reached is None else "yes" if figure.reached else "NO"
        table.add_row(figure.what, spread(figure.values), figure.unit, figure.target, verdict)
    return table


def main() -> int:
    """Run them; 1 when a figure is not reached."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="rigflow's benchmarks")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", type=Path, help="where the figures go as JSON")
    parser.add_argument("--lerobot", help="a Python that has lerobot, to measure against")
    options = parser.parse_args()
    unknown = set(options.names) - set(BENCHMARKS)
    if unknown:
        parser.error(f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(BENCHMARKS)}")
    console = Console(width=150)
    figures: list[Figure] = []
    for name in options.names or BENCHMARKS:
        with console.status(f"measuring {name}"):
            figures += BENCHMARKS[name](options.runs, options.lerobot)
    console.print(_table(figures))
    if options.json is not None:
        result = {"machine": machine(), "figures": [figure.as_json() for figure in figures]}
        options.json.write_text(json.dumps(result, indent=2, ensure_ascii=False))
    return 0 if all(figure.reached is not False for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
