"""Ports: how one output of a device is sampled and recorded."""

from __future__ import annotations

from typing import Literal

from episodes.streams import ImuStream, MatrixStream, StatusStream, TrajectoryStream, VectorStream, VideoStream
from flows.device import CellContext, Port
from operators.attach_imu import AttachImu
from operators.device_status import DeviceStatus
from operators.events import STATUS_PORT, Sample
from operators.follow_master import FollowMaster
from operators.latest_wins import LatestWins
from operators.oldest_frame import OldestFrame
from operators.window_points import WindowPoints

__all__ = ["imu_port", "matrix_port", "status_port", "trajectory_port", "vector_port", "video_port"]

SILENCE_NS = 1_000_000_000
"""A device of which nothing is heard for so long is disconnected; the slowest, a BLE glove, sends 7 times a second."""
VIDEO_BOUND = 30
MATRIX_BOUND = 8
"""A matrix is 750 kB, and only the newest matters."""
IMU_BOUND = 18_000


def video_port(
    name: str,
    slot: str,
    *,
    kind: Literal["rgb", "depth"] = "rgb",
    follows: str | None = None,
    clock: Literal["host", "device"] = "host",
    source_fps: float | None = None,
) -> Port:
    """A recorded video slot: the oldest waiting frame of each row, or that which belongs to ``follows``'s frame."""
    stream = VideoStream(slot=slot, kind=kind, master=follows, clock=clock, source_fps=source_fps)

    def cell(context: CellContext) -> OldestFrame | FollowMaster:
        return OldestFrame(context.period_ns) if follows is None else FollowMaster(context.index_of[follows])

    return Port(name, stream, cell, VIDEO_BOUND)


def vector_port(name: str, stream: VectorStream) -> Port:
    """A column of fixed length: the newest sample of each row."""
    return Port(name, stream, _latest_wins)


def matrix_port(name: str, stream: MatrixStream) -> Port:
    """A force matrix column: the newest matrix of each row."""
    return Port(name, stream, _latest_wins, MATRIX_BOUND)


def trajectory_port(name: str, stream: TrajectoryStream) -> Port:
    """A trajectory column: all points of each row."""
    return Port(name, stream, lambda _context: WindowPoints(), 4096)


def imu_port(name: str, stream: ImuStream) -> Port:
    """The inertial samples up to the frame of each row."""
    return Port(name, stream, lambda context: AttachImu(context.index_of[stream.master], IMU_BOUND), IMU_BOUND)


def status_port(stream_id: str, name: str = STATUS_PORT) -> Port:
    """A status column. It hears the items of port ``name``, by default of all ports, and the device's own status."""
    return Port(name, StatusStream(id=stream_id), lambda _context: DeviceStatus(SILENCE_NS))


def _latest_wins(_context: CellContext) -> LatestWins[Sample[object]]:
    return LatestWins()
