"""What a benchmark gives: figures with their spread, held against what was to be reached."""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["Figure", "child_json", "machine", "spread"]


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the result table.

    Attributes:
        what: what was measured, and on which workload.
        values: one value a run.
        unit: of the values.
        target: what was to be reached, as text; "" where the figure only informs.
        reached: whether the median reaches it; None where there is no target.
    """

    what: str
    values: tuple[float, ...]
    unit: str
    target: str = ""
    reached: bool | None = None
    detail: dict[str, Any] = field(default_factory=dict)

    @property
    def median(self) -> float:
        """Median of the runs."""
        return statistics.median(self.values)

    def as_json(self) -> dict[str, Any]:
        """The figure and its median, for the JSON result."""
        return {**asdict(self), "median": self.median}


def spread(values: Sequence[float]) -> str:
    """``median (lowest to highest)``, or the value alone."""
    if len(values) == 1:
        return f"{values[0]:.4g}"
    return f"{statistics.median(values):.4g} ({min(values):.4g} to {max(values):.4g})"


def child_json(command: Sequence[str], *, timeout_s: float = 600.0) -> dict[str, Any]:
    """Run a benchmark's child and give its last JSON line.

    A child of its own makes peak memory and CPU the recorder's alone.

    Raises:
        RuntimeError: it failed; the text ends with the child's last lines.
    """
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout_s, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode != 0 or not lines:
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}: {done.stderr[-2000:]}")
    answer: dict[str, Any] = json.loads(lines[-1])
    return answer


def machine() -> dict[str, Any]:
    """What the figures were taken on."""
    model = ""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line.split(":", 1)[1].strip() for line in cpuinfo.read_text().splitlines() if "model name" in line]
        model = names[0] if names else ""
    return {"cpu": model, "cores": os.cpu_count(), "python": platform.python_version(), "system": platform.system()}
