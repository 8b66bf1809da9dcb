"""Timing semantics over observables, one operator a file."""

from operators.attach_imu import AttachImu, attach_imu
from operators.cells import Cell, Tick, at_ticks
from operators.clock_fit import ClockFit, fit_clock
from operators.device_status import DeviceStatus, device_status
from operators.follow_master import FollowMaster, follow_master
from operators.hand_over import HandOver
from operators.latest_wins import LatestWins, latest_wins
from operators.new_generation import new_generation
from operators.oldest_frame import OldestFrame, TickFrame, oldest_frame
from operators.reconnect import reconnect
from operators.rows import Channel, Fault, Row, rows
from operators.running_clock import RunningClock
from operators.step_gate import StepGate, step_gate
from operators.tick_sample import TickGrid, tick_sample
from operators.tick_thread import TickThread
from operators.wall_buckets import WallBuckets, wall_buckets
from operators.window_points import WindowPoints, window_points

__all__ = [
    "AttachImu",
    "Cell",
    "Channel",
    "ClockFit",
    "DeviceStatus",
    "Fault",
    "FollowMaster",
    "HandOver",
    "LatestWins",
    "OldestFrame",
    "Row",
    "RunningClock",
    "StepGate",
    "Tick",
    "TickFrame",
    "TickGrid",
    "TickThread",
    "WallBuckets",
    "WindowPoints",
    "at_ticks",
    "attach_imu",
    "device_status",
    "fit_clock",
    "follow_master",
    "latest_wins",
    "new_generation",
    "oldest_frame",
    "reconnect",
    "rows",
    "step_gate",
    "tick_sample",
    "wall_buckets",
    "window_points",
]
