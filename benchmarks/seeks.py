"""Random access: the worst of 200 seeks into stored video, 640×480, by codec.

    python -m benchmarks.seeks

Prints one JSON line: codec to the worst and the median seek, ms.
"""

from __future__ import annotations

import json
import random
import statistics
import tempfile
import time
from pathlib import Path
from typing import Literal

import numpy as np

from benchmarks.workload import FPS, HEIGHT, WIDTH, memory_rows
from episodes.video import VideoReader
from operators.events import Frame
from sinks.encoders import VideoSettings, depth_settings, video_settings
from sinks.video_writer import VideoWriter

__all__ = ["main"]

FRAMES = 300
SEEKS = 200


def _depth(index: int) -> Frame:
    """A tilted, moving plane with a few mm of noise and a hole."""
    generator = np.random.default_rng(index)
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
    mm = 800 + 2 * x + 3 * y + 40 * np.sin(0.1 * index) + generator.normal(0, 2, (HEIGHT, WIDTH))
    mm[100:160, 200:300] = 0
    return Frame(mm.astype(np.uint16), "gray16le", 0)


def _seeks(folder: Path, name: str, kind: Literal["rgb", "depth"], settings: VideoSettings) -> list[float]:
    path = folder / f"{name}.{settings.extension}"
    writer = VideoWriter(path, name, settings, FPS, HEIGHT, WIDTH, queue_bound=8, blocking=True)
    pictures = [row.pictures["cam_front"] for row in memory_rows(20)]
    for index in range(FRAMES):
        writer.write(_depth(index) if kind == "depth" else Frame(pictures[index % 20], "rgb24", 0))
    writer.close()
    chosen = random.Random(1)
    times: list[float] = []
    with VideoReader(path, kind=kind) as reader:
        for _ in range(SEEKS):
            place = chosen.randrange(FRAMES)
            start = time.perf_counter()
            reader[place]
            times.append(1e3 * (time.perf_counter() - start))
    return times


def main() -> None:
    """Write a file a codec, and seek in it."""
    found: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        codecs: list[tuple[str, Literal["rgb", "depth"], VideoSettings]] = [
            ("libx264", "rgb", video_settings("libx264")),
            ("libx265", "rgb", video_settings("libx265")),
            ("libsvtav1", "rgb", video_settings("libsvtav1")),
            ("ffv1", "depth", depth_settings("ffv1")),
            ("gray12", "depth", depth_settings("hevc")),
        ]
        for name, kind, settings in codecs:
            times = _seeks(Path(folder), name, kind, settings)
            found[name] = {"worst_ms": max(times), "median_ms": statistics.median(times)}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
