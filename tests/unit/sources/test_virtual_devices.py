"""The virtual devices: what one beat emits is of one moment, numbered, in the order that followers need."""

from __future__ import annotations

import threading
from collections import Counter

import numpy as np
import pytest

from operators.events import Frame, Point, Sample
from sources.device_ports import GRIPPER_FORCE, GRIPPER_MATRIX, GlovePort, GripperPort, StereoPort
from sources.virtual.beats import beats
from sources.virtual.camera import virtual_camera
from sources.virtual.counter import read_stamp
from sources.virtual.glove import PRESSURE_FLOOR, virtual_glove
from sources.virtual.gripper import virtual_gripper
from sources.virtual.stereo_head import virtual_stereo_head
from sources.virtual.world import World
from tests.source_events import Listener

FPS = 60.0


def test_a_camera_counts_its_pictures_in_their_pixels() -> None:
    with Listener(virtual_camera(World.now(), key="camera:v", fps=FPS, frames=5)) as heard:
        heard.until_end()
    assert heard.completed
    frames = heard.frames("image")
    assert [frame.seq for frame in frames] == [0, 1, 2, 3, 4]
    for frame in frames:
        stamp = read_stamp(frame.image)
        assert stamp is not None
        assert stamp.counter == frame.seq
        assert stamp.clock_ms <= frame.host_ns // 1_000_000


def test_an_eye_comes_behind_its_partners_and_its_inertial_samples() -> None:
    with Listener(virtual_stereo_head(World.now(), key="s80m:v", fps=FPS, height=64, width=64)) as heard:
        heard.until(lambda listener: len(listener.items(StereoPort.POSE)) >= 5)
    ports = [event.port for event in heard.events]
    last = len(ports) - ports[::-1].index(StereoPort.POSE)
    one_beat = [*[StereoPort.IMU] * 7, StereoPort.DEPTH, StereoPort.RIGHT, StereoPort.LEFT, StereoPort.POSE]
    assert ports[:last] == one_beat * (last // 11)
    samples = [sample.device_ns for sample in heard.items(StereoPort.IMU)]
    assert samples == sorted(set(samples))
    for index, left in enumerate(heard.frames(StereoPort.LEFT)):
        right, depth = heard.frames(StereoPort.RIGHT)[index], heard.frames(StereoPort.DEPTH)[index]
        assert left.frameset == right.frameset == depth.frameset == index
        assert read_stamp(left.image) == read_stamp(right.image) == read_stamp(depth.image)
        assert samples[7 * index + 6] == left.device_ns


def test_the_ego_pose_is_stamped_with_the_capture_time_of_its_frame() -> None:
    with Listener(virtual_stereo_head(World.now(), key="s80m:v", fps=FPS, height=64, width=64)) as heard:
        heard.until(lambda listener: len(listener.items(StereoPort.POSE)) >= 3)
    for frame, point in zip(heard.frames(StereoPort.LEFT), heard.items(StereoPort.POSE), strict=False):
        assert isinstance(point, Point)
        assert point.host_ns is not None
        stamp = read_stamp(frame.image)
        assert stamp is not None
        assert point.host_ns // 1_000_000 == stamp.clock_ms


def test_a_grippers_pose_force_and_state_are_those_of_the_world_at_the_pictures_moment() -> None:
    world = World.now()
    with Listener(virtual_gripper(world, key="gripper:v", hand="right", fps=FPS, noise="none")) as heard:
        heard.until(lambda listener: len(listener.items(GRIPPER_MATRIX["right"])) >= 4)
    points = heard.items(GripperPort.POSE)
    assert points[0].t == 0.0
    for index in range(4):
        at = points[index].host_ns
        x, y, _z = world.hand("right", at)
        assert points[index].pose == (y, -x, 0.0, 0.0, 0.0, 0.0, 1.0)
        force = heard.items(GRIPPER_FORCE["left"])[2 * index]
        assert isinstance(force, Sample)
        assert force.value == pytest.approx(world.force("right", "left", at))
        state = heard.items(GripperPort.STATE)[index].value
        assert state == pytest.approx([world.opening("right", at), float(force.value[2] > 0), force.value[2]])
        frame = heard.frames(GripperPort.RGB)[index]
        stamp = read_stamp(frame.image)
        assert stamp is not None
        assert stamp.clock_ms == at // 1_000_000


def test_a_gripper_without_matrices_sends_none() -> None:
    with Listener(virtual_gripper(World.now(), key="gripper:v", hand="left", fps=FPS, matrices=False)) as heard:
        heard.until(lambda listener: len(listener.items(GripperPort.STATE)) >= 3)
    counts = Counter(event.port for event in heard.events)
    assert not counts.keys() & set(GRIPPER_MATRIX.values())
    assert counts[GRIPPER_FORCE["left"]] in range(2 * counts[GripperPort.RGB] - 1, 2 * counts[GripperPort.RGB] + 1)


def test_a_gloves_pressure_is_zero_or_above_the_floor_and_its_quaternions_are_unit() -> None:
    # A hand that grips: the left one, two seconds after the epoch.
    world = World(World.now().epoch_ns - 2_000_000_000)
    with Listener(virtual_glove(world, key="usbglove:v", hand="left")) as heard:
        heard.until(lambda listener: len(listener.items(GlovePort.HAND_POSE)) >= 2)
    pressure = heard.items(GlovePort.PRESSURE)[1].value
    assert pressure.shape == (16, 16)
    assert pressure.max() >= PRESSURE_FLOOR
    assert np.all((pressure == 0) | (pressure >= PRESSURE_FLOOR))
    assert np.linalg.norm(heard.items(GlovePort.IMU_QUAT)[1].value, axis=1) == pytest.approx(np.ones(16))
    assert heard.items(GlovePort.IMU_VALID)[1].value.tolist() == [1.0] * 16
    assert heard.items(GlovePort.HAND_POSE)[1].value.shape == (21, 3)


def test_beats_are_on_a_grid_and_end_when_stopped() -> None:
    stop = threading.Event()
    moments = []
    for number, due_ns in beats(1000.0, stop):
        moments.append((number, due_ns))
        if number == 5:
            stop.set()
    assert [number for number, _due in moments] == list(range(6))
    assert [due - moments[0][1] for _number, due in moments] == [n * 1_000_000 for n in range(6)]


def test_frames_are_not_touched_after_emission() -> None:
    with Listener(virtual_camera(World.now(), key="camera:v", fps=FPS, frames=3)) as heard:
        heard.until_end()
    frames: list[Frame] = heard.frames("image")
    assert not np.shares_memory(frames[0].image, frames[1].image)
    assert [frame.image.flags.c_contiguous for frame in frames] == [True] * 3
