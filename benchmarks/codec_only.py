"""The floor: encode the memory rows' pictures with PyAV alone, one thread a stream, the same settings and constructor.

Prints one JSON line, as `benchmarks.peer_lerobot` does.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import threading
import time
from fractions import Fraction
from pathlib import Path

import av
import av.logging
import av.video
import numpy as np
from numpy.typing import NDArray

from benchmarks.workload import CAMERAS, FPS, HEIGHT, WIDTH, memory_rows
from sinks.encoders import video_settings

__all__ = ["main"]


def _encode(path: Path, encoder: str, pictures: list[NDArray[np.uint8]]) -> None:
    settings = video_settings(encoder)
    with av.open(str(path), "w") as container:
        stream = container.add_stream(settings.encoder, rate=FPS)
        if not isinstance(stream, av.video.VideoStream):
            raise TypeError(f"{settings.encoder} is no video encoder")
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, settings.pix_fmt
        stream.options = dict(settings.options)
        stream.codec_context.thread_count = 1
        for i, picture in enumerate(pictures):
            frame = av.VideoFrame.from_numpy_buffer(picture, format="rgb24")
            frame.pts, frame.time_base = i, Fraction(1, FPS)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))


def main() -> None:
    """Encode argv[2] rows with the encoder argv[1]."""
    encoder, rows = sys.argv[1], int(sys.argv[2])
    av.logging.set_level(None)
    source = list(memory_rows(rows))
    with tempfile.TemporaryDirectory() as folder:
        threads = [
            threading.Thread(
                target=_encode, args=(Path(folder) / f"{name}.mp4", encoder, [row.pictures[name] for row in source])
            )
            for name in CAMERAS
        ]
        start = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        seconds = time.perf_counter() - start
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"rows": rows, "seconds": seconds, "rows_per_s": rows / seconds, "peak_mb": peak_mb}))


if __name__ == "__main__":
    main()
