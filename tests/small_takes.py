"""Small takes for the tests of what goes to disk: a declaration with every kind of stream, and its rows."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from episodes.declaration import Declaration, DeviceEntry
from episodes.paths import TaskPaths
from episodes.staging import ClockPair
from episodes.streams import (
    ImuStream,
    MatrixStream,
    StatusStream,
    Stream,
    TrajectoryStream,
    VectorStream,
    VideoStream,
)
from operators.cells import Tick
from operators.events import Frame, ImuSample, Point, Sample
from operators.oldest_frame import TickFrame
from operators.rows import Row
from sinks.encoders import EncoderPlan, depth_settings, video_settings
from sinks.reservation import reserve
from sinks.take_writer import TakeWriter

FPS = 30.0
START_NS = 5_000_000_000_123
CLOCK = ClockPair(START_NS, 1_790_000_000.25)
PERIOD_NS = 33_333_333
SIZE = (48, 64)
SIZES = {"head_rgb": SIZE, "head_depth": SIZE, "side_rgb": SIZE}

FULL: tuple[Stream, ...] = (
    VideoStream(slot="head_rgb", clock="device", evidence=True),
    VideoStream(slot="head_depth", kind="depth", master="head_rgb", clock="device"),
    VideoStream(slot="side_rgb"),
    ImuStream(master="head_rgb"),
    VectorStream(column="observation.gripper_left_force", shape=(3,), stamp_column="observation.gripper_left_force_ns"),
    VectorStream(column="observation.level", dtype="int64"),
    VectorStream(column="observation.silent", shape=(2,)),
    MatrixStream(
        column="observation.gripper_left_force_matrix", stamp_column="observation.gripper_left_force_matrix_ns"
    ),
    TrajectoryStream(
        column="observation.slam_trajectory",
        frame="down_left_forward",
        time={"t": "sensor_s", "clock": "camera_sensor", "epoch": "enter_press"},
        owner={"role": "gripper", "rig": 1},
        source_slot="gripper_stereo_left",
    ),
    StatusStream(id="gripper_pose"),
)
LIGHT: tuple[Stream, ...] = (
    VideoStream(slot="side_rgb"),
    VectorStream(column="observation.level", dtype="int64"),
)


def declaration(streams: tuple[Stream, ...] = FULL, fps: float = FPS) -> Declaration:
    videos = [stream.slot for stream in streams if isinstance(stream, VideoStream)]
    return Declaration(
        rig="bench",
        task_name="pour water",
        fps=fps,
        streams=streams,
        master=videos[0] if videos else None,
        devices=(DeviceEntry(key="camera:1", kind="camera", name="camera", slots=tuple(videos)),),
        app_version="0",
    )


def plan(streams: tuple[Stream, ...] = FULL) -> EncoderPlan:
    depth = {s.slot: depth_settings("ffv1") for s in streams if isinstance(s, VideoStream) and s.kind == "depth"}
    return EncoderPlan(colour=video_settings("libx264"), depth=depth, selected_by="libx264")


def picture(number: int) -> np.ndarray:
    """A grey picture whose brightness is its number's."""
    return np.full((*SIZE, 3), 40 + 5 * (number % 40), np.uint8)


def number_of(image: np.ndarray) -> int:
    return round((float(image.mean()) - 40) / 5)


def depth_picture(number: int) -> np.ndarray:
    return np.full(SIZE, 500 + number, np.uint16)


def row(index: int, streams: tuple[Stream, ...] = FULL) -> Row:
    """Row ``index``: every third row repeats the picture before it, every second one has sensor samples."""
    at_ns = START_NS + index * PERIOD_NS + 1_000
    shown = index - 1 if index % 3 == 2 else index
    host_ns = START_NS + shown * PERIOD_NS
    repeated = shown != index
    values = tuple(_value(stream, index, shown, host_ns, repeated) for stream in streams)
    return Row(Tick(index=index, due_ns=at_ns - 1_000, at_ns=at_ns, skipped=2 if index == 4 else 0), values)


def _value(stream: Stream, index: int, shown: int, host_ns: int, repeated: bool) -> object:
    sampled = index % 2 == 0
    if isinstance(stream, VideoStream):
        device = None if stream.clock == "host" else 77_000_000_000 + shown * PERIOD_NS
        seq = None if device is None else 900 + shown
        image, pix_fmt = (depth_picture(shown), "gray16le") if stream.kind == "depth" else (picture(shown), "rgb24")
        late = 700_000 if shown % 2 else 0
        return TickFrame(Frame(image, pix_fmt, host_ns + late, device_ns=device, seq=seq, ts_src=1), repeated)
    if isinstance(stream, VectorStream):
        if not sampled or stream.column.endswith("silent"):
            return None
        value = np.full(stream.shape, index, stream.dtype)
        return Sample(value, host_ns + 5)
    if isinstance(stream, MatrixStream):
        return Sample(matrix(index), host_ns + 7) if sampled else None
    if isinstance(stream, TrajectoryStream):
        pose = (float(index), 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
        return [Point(index + 0.25 * i, pose, host_ns + i if i else None) for i in range(index % 3)]
    if isinstance(stream, ImuStream):
        if repeated:
            return []
        return [ImuSample(77_000_000_000 + shown * PERIOD_NS + i, (1.0, 2.0, 3.0, 4.0, 5.0, float(i))) for i in (0, 1)]
    return "connected" if sampled else "disconnected"


def matrix(index: int) -> np.ndarray:
    found = np.zeros((250, 250, 3), np.float32)
    found[100:140, 100:140, 2] = index + 0.5
    return found


def paths(root: Path) -> TaskPaths:
    found = TaskPaths(root / "pour_water")
    if found.info.exists():
        found = TaskPaths.of(found.task_dir, json.loads(found.info.read_text()))
    return found


def start(
    root: Path,
    streams: tuple[Stream, ...] = FULL,
    *,
    blocking: bool = True,
    counters: Callable[[], Mapping[str, int]] = dict,
    on_failure: Callable[[str], None] = lambda _message: None,
) -> tuple[TaskPaths, Path, TakeWriter]:
    """Reserve a number and open a writer on it."""
    task = paths(root)
    declared = declaration(streams)
    staging = reserve(task, declared)
    sizes = {slot: size for slot, size in SIZES.items() if slot in {video.slot for video in declared.videos}}
    writer = TakeWriter(
        staging,
        declared,
        plan(streams),
        CLOCK,
        frame_sizes=sizes,
        blocking=blocking,
        counters=counters,
        on_failure=on_failure,
    )
    return task, staging, writer


def record(
    root: Path,
    rows: int,
    streams: tuple[Stream, ...] = FULL,
    counters: Callable[[], Mapping[str, int]] = dict,
) -> tuple[TaskPaths, Path]:
    """A take of some rows, closed and not committed."""
    task, staging, writer = start(root, streams, counters=counters)
    for index in range(rows):
        assert writer.write(row(index, streams))
    writer.close()
    return task, staging
