"""Compositions: device flows, and the capture session."""

from flows.camera import camera
from flows.device import CellContext, DeviceFlow, Port
from flows.glove import glove
from flows.gripper import gripper
from flows.rgbd_folder import rgbd_folder
from flows.stereo_head import stereo_head
from flows.trajectory import trajectory
from flows.vector import vector

__all__ = [
    "CellContext",
    "DeviceFlow",
    "Port",
    "camera",
    "glove",
    "gripper",
    "rgbd_folder",
    "stereo_head",
    "trajectory",
    "vector",
]
