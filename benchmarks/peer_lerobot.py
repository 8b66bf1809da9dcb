"""Records the memory rows with lerobot's own streaming recorder; run by lerobot's interpreter, not by rigflow's.

Prints one JSON line: rows, seconds from the first add_frame to the saved episode, peak resident memory in MB.
"""

from __future__ import annotations

import importlib.util
import json
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from lerobot.configs.video import RGBEncoderConfig
from lerobot.datasets.lerobot_dataset import LeRobotDataset


def _workload() -> Any:
    spec = importlib.util.spec_from_file_location("workload", Path(__file__).with_name("workload.py"))
    if spec is None or spec.loader is None:
        raise ImportError("workload.py does not stand beside peer_lerobot.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["workload"] = module
    spec.loader.exec_module(module)
    return module


def _encoder(codec: str) -> RGBEncoderConfig:
    if codec == "h264":
        return RGBEncoderConfig(vcodec="h264", preset="ultrafast", crf=23, g=15)
    if codec == "av1-g2":
        return RGBEncoderConfig(vcodec="libsvtav1", preset=12, crf=30, g=2)
    return RGBEncoderConfig(vcodec="libsvtav1", preset=12, crf=30, g=30)


def main() -> None:
    codec, rows = sys.argv[1], int(sys.argv[2])
    work = _workload()
    picture = {"dtype": "video", "shape": (work.HEIGHT, work.WIDTH, 3), "names": ["height", "width", "channels"]}
    features: dict[str, Any] = {f"observation.images.{name}": dict(picture) for name in work.CAMERAS}
    features["observation.tactile"] = {"dtype": "float32", "shape": (2, 32, 58), "names": ["finger", "row", "column"]}
    features["observation.state"] = {"dtype": "float32", "shape": (15,), "names": None}
    features["action"] = {"dtype": "float32", "shape": (8,), "names": None}
    source = list(work.memory_rows(rows))
    with tempfile.TemporaryDirectory() as folder:
        dataset = LeRobotDataset.create(
            repo_id="benchmark/memory",
            fps=work.FPS,
            features=features,
            root=Path(folder) / "dataset",
            streaming_encoding=True,
            rgb_encoder=_encoder(codec),
            # Its put waits 0.1 s for a place before it drops a frame: at these rates it blocks, and none is lost.
            encoder_queue_maxsize=30,
        )
        start = time.perf_counter()
        for row in source:
            frame: dict[str, Any] = {f"observation.images.{name}": row.pictures[name] for name in work.CAMERAS}
            frame |= {"observation.tactile": row.tactile, "observation.state": row.state, "action": row.action}
            frame["task"] = "benchmark"
            dataset.add_frame(frame)
        dataset.save_episode()
        seconds = time.perf_counter() - start
        dataset.finalize()
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"rows": rows, "seconds": seconds, "rows_per_s": rows / seconds, "peak_mb": peak_mb}))


if __name__ == "__main__":
    main()
