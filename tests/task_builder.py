"""Builds small task directories from pyarrow and PyAV alone.

Independent of everything in sinks/ and of the codecs in episodes/, so that reader, validator and writers check each
other. A test takes the default task, changes what it is about, and writes it.
"""

from __future__ import annotations

import io
import json
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import av
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

__all__ = [
    "FPS",
    "HEIGHT",
    "MONO_NS",
    "ROWS",
    "WALL_S",
    "WIDTH",
    "EpisodeParts",
    "TaskBuilder",
    "colour_picture",
    "depth_picture",
    "encode_matrix",
    "matrix",
    "video_bytes",
]

FPS, ROWS, WIDTH, HEIGHT = 30, 8, 64, 48
MONO_NS, WALL_S = 5_000_000_000_000, 1_790_000_000.0
SCALE = 100
AXES = {
    "down_left_forward": {"+X": "down", "+Y": "left", "+Z": "forward"},
    "ego_cam_optical": {"+X": "right", "+Y": "down", "+Z": "forward"},
}


def colour_picture(i: int, width: int = WIDTH, height: int = HEIGHT) -> NDArray[np.uint8]:
    """Picture i: its left half is grey of level 20 + 8 i, so that a reader can tell i from the stored picture."""
    picture = np.full((height, width, 3), 128, np.uint8)
    picture[:, : width // 2] = 20 + 8 * (i % 28)
    return picture


def depth_picture(i: int, width: int = WIDTH, height: int = HEIGHT) -> NDArray[np.uint16]:
    """Depth i, mm: a ramp from 500 + 10 i, with a corner of invalid pixels."""
    ramp = np.add.outer(np.arange(height), np.arange(width)) * 5 + 500 + 10 * i
    ramp[:4, :4] = 0
    return ramp.astype(np.uint16)


def log_codes(mm: NDArray[np.uint16]) -> NDArray[np.uint16]:
    """The contract's formula, written out."""
    safe = np.maximum(mm, 1).astype(np.float64)
    codes = np.rint((np.log(safe) - np.log(100.0)) * 4095 / (np.log(5000.0) - np.log(100.0)))
    return np.where(mm == 0, 0, np.clip(codes, 0, 4095)).astype(np.uint16)


@cache
def video_bytes(
    kind: str = "rgb", frames: int = ROWS, *, gop: int = 4, fps: int = FPS, first: int = 0, far: bool = False
) -> bytes:
    """A whole file: ``rgb`` H.264 mp4; ``ffv1`` gray16le mkv; ``gray12`` HEVC mp4; ``dual`` heat map and FFV1 mkv."""
    sink = io.BytesIO()
    container = av.open(sink, "w", format="mp4" if kind in ("rgb", "gray12") else "matroska")
    streams: list[tuple[av.VideoStream, str]] = []
    if kind in ("rgb", "dual"):
        stream = container.add_stream("libx264", rate=fps, options={"preset": "ultrafast", "crf": "10", "bf": "0"})
        stream.pix_fmt = "yuv420p"
        streams.append((stream, "rgb24"))
    if kind in ("ffv1", "dual"):
        stream = container.add_stream("ffv1", rate=fps, options={"level": "3"})
        stream.pix_fmt = "gray16le"
        streams.append((stream, "gray16le"))
    if kind == "gray12":
        params = f"lossless=1:range=full:keyint={gop}:min-keyint=1:bframes=0:rc-lookahead=0:log-level=none"
        stream = container.add_stream("libx265", rate=fps, options={"preset": "ultrafast", "x265-params": params})
        stream.pix_fmt = "gray12le"
        streams.append((stream, "gray12le"))
    for stream, _pix_fmt in streams:
        stream.width, stream.height = WIDTH, HEIGHT
        stream.time_base = Fraction(1, fps)
        stream.codec_context.gop_size = gop
    for i in range(frames):
        for stream, pix_fmt in streams:
            image: NDArray[Any] = colour_picture(first + i)
            if pix_fmt != "rgb24":
                image = depth_picture(first + i)
                if far:
                    image[8:, :] = 7000
            if pix_fmt == "gray12le":
                image = log_codes(image)
            frame = av.VideoFrame.from_ndarray(image, format=pix_fmt)
            frame.pts, frame.time_base = i, Fraction(1, fps)
            container.mux(stream.encode(frame))
    for stream, _pix_fmt in streams:
        container.mux(stream.encode())
    container.close()
    return sink.getvalue()


def matrix(i: int) -> NDArray[np.float32]:
    """Force matrix i, mN: values on the scale's own grid, so that it comes back exactly."""
    base = np.arange(187_500, dtype=np.int64) % 977 - 488 + i
    return (base.astype(np.float32) / np.float32(SCALE)).reshape(250, 250, 3)


def encode_matrix(values: NDArray[np.float32], scale: int = SCALE) -> NDArray[np.int16]:
    """Quantised rows and their differences, wrapping at 16 bits, as the contract has it."""
    quantised = np.clip(np.rint(values.reshape(250, 750) * np.float32(scale)), -32767, 32767).astype(np.int64)
    steps = np.diff(quantised, axis=1, prepend=0)
    wrapped: NDArray[np.int16] = ((steps + 2**15) % 2**16 - 2**15).astype(np.int16).reshape(-1)
    return wrapped


def lists(values: list[Any], kind: pa.DataType) -> pa.Array:
    """A column of lists from arrays or lists."""
    return pa.array([None if value is None else np.asarray(value).tolist() for value in values], pa.list_(kind))


def trajectory_spec(frame: str, role: str, rig: int | None = None, slot: str | None = "head_rgb") -> dict[str, Any]:
    """The five keys of a trajectory's declaration."""
    return {
        "frame": frame,
        "frame_axes": dict(AXES[frame]),
        "time": {"t": "sensor_s", "clock": "camera_sensor", "epoch": "first_frame"},
        "owner": {"role": role} if rig is None else {"role": role, "rig": rig},
        "source_slot": slot,
    }


@dataclass(repr=False)
class EpisodeParts:
    """One episode, before it is written: change what the test is about.

    Attributes:
        columns: name to array of the data file. row: of the episodes row; JSON columns as objects.
        videos: (slot, extension) to the file's bytes.
    """

    k: int
    rows: int
    columns: dict[str, pa.Array]
    row: dict[str, Any]
    videos: dict[tuple[str, str], bytes]
    row_group_size: int | None = None

    def set(self, name: str, values: Any, kind: pa.DataType | None = None) -> None:
        """Put a column."""
        self.columns[name] = pa.array(values, kind)

    def edit(self, name: str, row: int, value: Any) -> None:
        """Change one value of a column."""
        values = self.columns[name].to_pylist()
        values[row] = value
        self.columns[name] = pa.array(values, self.columns[name].type)


@dataclass(repr=False)
class TaskBuilder:
    """A task directory of a small rig: two colour slots, depth, a glove, a gripper, two trajectories, IMU, evidence."""

    path: Path
    depth: str = "ffv1"
    info: dict[str, Any] = field(default_factory=dict)
    stats: dict[str, Any] | None = field(default_factory=dict)
    episodes: dict[int, EpisodeParts] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.info = default_info("mkv" if self.depth in ("ffv1", "dual") else "mp4")

    def episode(self, k: int, rows: int = ROWS) -> EpisodeParts:
        """Add an episode."""
        parts = EpisodeParts(k, rows, default_columns(k, rows), default_row(k, rows), {})
        parts.videos = {
            ("head_rgb", "mp4"): video_bytes("rgb", rows),
            ("gripper_rgb", "mp4"): video_bytes("rgb", rows, first=1),
            ("head_depth", self.info["video_extensions"]["head_depth"]): video_bytes(self.depth, rows),
        }
        self.episodes[k] = parts
        self.info["total_episodes"] = max(self.info["total_episodes"], k + 1)
        return parts

    def place(self, k: int) -> tuple[int, int]:
        """c and f of an episode."""
        return divmod(k, int(self.info["chunks_size"]))

    def data_path(self, k: int) -> Path:
        c, f = self.place(k)
        return self.path / f"data/chunk-{c:03d}/episode-{f:03d}.parquet"

    def row_path(self, k: int) -> Path:
        c, f = self.place(k)
        return self.path / f"meta/episodes/chunk-{c:03d}/episode-{f:03d}.parquet"

    def video_path(self, k: int, slot: str, extension: str = "mp4") -> Path:
        c, f = self.place(k)
        return self.path / f"videos/chunk-{c:03d}/{slot}/episode-{f:03d}.{extension}"

    def write(self) -> Path:
        """Write everything; gives the task directory."""
        for parts in self.episodes.values():
            self._write_episode(parts)
        meta = self.path / "meta"
        meta.mkdir(parents=True, exist_ok=True)
        (meta / "info.json").write_text(json.dumps(self.info, indent=2, ensure_ascii=False), encoding="utf-8")
        if self.stats is not None:
            stats = self.stats or {"observation.left_glove": stats_block(sum(p.rows for p in self.episodes.values()))}
            (meta / "stats.json").write_text(json.dumps(stats, indent=2), encoding="utf-8")
        line = json.dumps({"task_index": 0, "task": self.info.get("task_name")}, ensure_ascii=False)
        (meta / "tasks.jsonl").write_text(line + "\n", encoding="utf-8")
        return self.path

    def _write_episode(self, parts: EpisodeParts) -> None:
        data = self.data_path(parts.k)
        data.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table(parts.columns), data, compression="zstd", row_group_size=parts.row_group_size)
        write_row(self.row_path(parts.k), [parts.row])
        for (slot, extension), content in parts.videos.items():
            path = self.video_path(parts.k, slot, extension)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


def write_row(path: Path, rows: list[dict[str, Any]]) -> None:
    """An episodes file of one row, or an old shard of several."""
    path.parent.mkdir(parents=True, exist_ok=True)
    plain = [{k: json.dumps(v) if isinstance(v, dict) else v for k, v in row.items()} for row in rows]
    pq.write_table(pa.Table.from_pylist(plain), path, compression="zstd")


def stats_block(count: int, width: int = 256) -> dict[str, Any]:
    """A block of ones."""
    ones = [1.0] * width
    return {"count": count, "mean": ones, "std": [0.0] * width, "min": ones, "max": ones}


def default_columns(k: int, rows: int) -> dict[str, pa.Array]:
    """Every kind of column that there is, in order."""
    n = np.arange(rows)
    timestamp = (0.01 + n / FPS).astype(np.float32)
    captured = MONO_NS + n * (1_000_000_000 // FPS)
    point_rows = [[] if i % 3 == 2 else [i] * (1 + i % 2) for i in range(rows)]
    points = [[x for j, i in enumerate(row) for x in (i + 0.5 * j, i, 0, 0, 0, 0, 0, 1.0)] for row in point_rows]
    stamps = [[int(captured[i]) + 1000 + j * 500 for j, i in enumerate(row)] for row in point_rows]
    imu = [[[float(i), 0, 0, 0, 0, 9.8]] * 2 for i in range(rows)]
    matrices: list[Any] = [[] if i == rows - 1 else encode_matrix(matrix(i)) for i in range(rows)]
    fixed = {3: pa.list_(pa.float32(), 3), 63: pa.list_(pa.float32(), 63), 256: pa.list_(pa.float32(), 256)}
    return {
        "episode_index": pa.array([k + 1] * rows, pa.int64()),
        "frame_index": pa.array(n, pa.int64()),
        "timestamp": pa.array(timestamp, pa.float32()),
        "task_index": pa.array([0] * rows, pa.int64()),
        "wall_time": pa.array(WALL_S + 0.01 + n / FPS, pa.float64()),
        "hardware_ns": pa.array(captured, pa.int64()),
        "raw_hw_ns": pa.array(captured - MONO_NS + 7, pa.int64()),
        "depth_ns": pa.array(captured + 3, pa.int64()),
        "rgb_dup": pa.array([0] * rows, pa.int8()),
        "ts_src": pa.array([1] * rows, pa.int8()),
        "action": pa.array([[0.0]] * rows, pa.list_(pa.float32(), 1)),
        "observation.gripper_rgb_frame_ns": pa.array(captured + 11, pa.int64()),
        "observation.head_depth_frame_ns": pa.array(captured + 3, pa.int64()),
        "imu_ts_ns": pa.array([[20 * i + 1, 20 * i + 11] for i in range(rows)], pa.list_(pa.int64())),
        "observation.imu": pa.array(imu, pa.list_(pa.list_(pa.float32(), 6))),
        "observation.left_glove": pa.array([[1.0] * 256] * rows, fixed[256]),
        "observation.left_hand_pose": pa.array([[0.0] * 63] * rows, fixed[63]),
        "observation.right_hand_pose": pa.array([[0.0] * 63] * rows, fixed[63]),
        "observation.gripper_left_force": pa.array([[1.0, 2.0, 3.0 + i] for i in range(rows)], fixed[3]),
        "observation.gripper_left_force_ns": pa.array(captured + 5, pa.int64()),
        "observation.gripper_left_force_matrix": pa.array(matrices, pa.list_(pa.int16())),
        "observation.gripper_left_force_matrix_ns": pa.array(captured + 6, pa.int64()),
        "observation.slam_trajectory": lists(points, pa.float64()),
        "observation.slam_trajectory_ns": lists(stamps, pa.int64()),
        "observation.ego_slam_trajectory": lists(points, pa.float64()),
        "observation.ego_slam_trajectory_ns": lists(stamps, pa.int64()),
        "observation.temperature": pa.array([21.5] * rows, pa.float64()),
        "status.left_glove": pa.array(["connected"] * rows, pa.string()),
    }


def default_specs() -> dict[str, dict[str, Any]]:
    """``slam_specs`` of the default rig."""
    return {
        "observation.slam_trajectory": trajectory_spec("down_left_forward", "gripper", 1),
        "observation.ego_slam_trajectory": trajectory_spec("ego_cam_optical", "ego"),
    }


def matrix_spec(scale: int = SCALE) -> dict[str, Any]:
    """How a force matrix is coded."""
    return {"dtype": "int16", "shape": [250, 250, 3], "encoding": "row_diff_quantized", "scale": scale}


def default_row(k: int, rows: int) -> dict[str, Any]:
    """The episodes row."""
    return {
        "episode_index": k + 1,
        "task_index": 0,
        "start_frame_index": 0,
        "end_frame_index": rows - 1,
        "length": rows,
        "created_at": WALL_S + 60,
        "duration_sec": rows / FPS,
        "drop_stats": {"imu_overflow": 0, "head_rgb_late_max_ms": 12},
        "video_codec": {"encoder": "libx264", "codec": "H.264", "crf": 23},
        "calibration": {},
        "force_matrix_specs": {"observation.gripper_left_force_matrix": matrix_spec()},
        "slam_specs": default_specs(),
        "clock": {"mono_ns": MONO_NS - 10_000_000, "wall_s": WALL_S},
    }


def default_info(depth_extension: str) -> dict[str, Any]:
    """info.json."""
    stamp = {"dtype": "int64", "shape": [1], "encoding": "host_monotonic_ns", "missing_sentinel": 0}
    points = {"dtype": "float64", "shape": [8], "encoding": "flat_points_8_txyz_qxyzw"}
    point_ns = {"dtype": "int64", "shape": [1], "encoding": "flat_parallel_to_slam_trajectory"}
    clock = {"clock": "host_monotonic_ns"}
    specs = default_specs()
    return {
        "format": "pooled_episodes_v1",
        "chunks_size": 1000,
        "data_path": "data/chunk-{c:03d}/episode-{f:03d}.parquet",
        "video_path": "videos/chunk-{c:03d}/{image_key}/episode-{f:03d}.{ext}",
        "episodes_path": "meta/episodes/chunk-{c:03d}/episode-{f:03d}.parquet",
        "codebase_version": "v3.0",
        "app_version": "0.1.0",
        "fps": float(FPS),
        "video": True,
        "task_name": "试验 one",
        "features": {
            "action": {"dtype": "float32", "shape": [1]},
            "observation.gripper_rgb_frame_ns": {**stamp, "slot": "gripper_rgb", **clock},
            "observation.head_depth_frame_ns": {**stamp, "slot": "head_depth", **clock},
            "observation.imu": {"dtype": "float32", "shape": [6]},
            "observation.left_glove": {"dtype": "float32", "shape": [16, 16]},
            "observation.left_hand_pose": {"dtype": "float32", "shape": [21, 3]},
            "observation.right_hand_pose": {"dtype": "float32", "shape": [21, 3]},
            "observation.gripper_left_force": {"dtype": "float32", "shape": [3]},
            "observation.gripper_left_force_ns": dict(stamp),
            "observation.gripper_left_force_matrix": matrix_spec(),
            "observation.gripper_left_force_matrix_ns": dict(stamp),
            **{name: {**points, **spec} for name, spec in specs.items()},
            **{f"{name}_ns": {**point_ns, **clock} for name in specs},
            "observation.temperature": {"dtype": "float64", "shape": [1], "unit": "degC"},
        },
        "cameras": {slot: {"height": HEIGHT, "width": WIDTH} for slot in ("head_rgb", "gripper_rgb")},
        "video_extensions": {"head_rgb": "mp4", "gripper_rgb": "mp4", "head_depth": depth_extension},
        "devices": [
            {"key": "d435:1", "kind": "d435", "name": "head", "slots": ["head_rgb", "head_depth"]},
            {
                "key": "gripper:A",
                "kind": "gripper",
                "name": "UMI 1",
                "slots": ["gripper_rgb", "gripper_pose"],
                "rig": 1,
            },
            {"key": "usbglove:9", "kind": "data_ble", "name": "glove", "slots": [], "sensor_column": "left_glove"},
        ],
        "device_names": {"head_rgb": "head", "head_depth": "head", "gripper_rgb": "UMI 1", "gripper_pose": "UMI 1"},
        "sensors": ["left_glove"],
        "sensor_dim": 256,
        "calibration": {},
        "total_episodes": 0,
        "created_at": WALL_S,
        "gripper_slam_frame": "down_left_forward",
        "slam_frames": {name: spec["frame"] for name, spec in specs.items()},
    }
