"""The rigs that come with rigflow can be built by name, with their parameters."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest

from episodes.streams import MatrixStream, TrajectoryStream
from operators.errors import RigError, RigflowError
from rigs import list_rigs, load_rig


def test_demo_webcam_and_rgbd_folder_are_there_and_sound() -> None:
    found = {info.name: info for info in list_rigs()}
    assert {"demo", "webcam", "rgbd_folder"} <= found.keys()
    assert [info.problem for info in found.values()] == [""] * len(found)
    assert "trajectory" in [parameter.name for parameter in found["rgbd_folder"].parameters]


def test_the_demo_is_the_layouts_full_example() -> None:
    demo = load_rig("demo", {})
    assert [flow.kind for flow in demo.flows] == ["s80m", "gripper", "gripper", "data_ble", "data_ble"]
    declaration = demo.declaration("task", "1.0")
    assert declaration.master == "stereo_left"
    assert declaration.sensors == ("left_glove", "right_glove")
    assert list(declaration.calibration) == ["head_stereo"]
    assert sum(isinstance(stream, MatrixStream) for stream in declaration.streams) == 4
    assert [stream.column for stream in declaration.trajectories] == [
        "observation.ego_slam_trajectory",
        "observation.slam_trajectory",
        "observation.gripper_2_slam_trajectory",
    ]


def test_the_demo_without_matrices_declares_none() -> None:
    demo = load_rig("demo", {"matrices": "false"})
    assert not any(isinstance(stream, MatrixStream) for stream in demo.streams)


@pytest.mark.parametrize("params", [{"noise": "loud"}, {"matrices": "perhaps"}, {"speed": "2"}, {"fps": "fast"}])
def test_a_parameter_that_the_demo_does_not_know_is_named(params: dict[str, str]) -> None:
    with pytest.raises(RigError, match=next(iter(params))):
        load_rig("demo", params)


def test_a_webcam_with_a_tracker_says_whose_frames_it_saw(tmp_path: Path) -> None:
    poses = tmp_path / "poses.txt"
    poses.touch()
    rig = load_rig("webcam", {"source": "http://cam/stream", "name": "top", "trajectory": str(poses)})
    tracker = next(stream for stream in rig.streams if isinstance(stream, TrajectoryStream))
    assert tracker.source_slot == "top_rgb"


def test_a_trackers_command_is_split_and_not_given_to_a_shell() -> None:
    rig = load_rig("webcam", {"trajectory_cmd": "slam --map 'my room' ; rm -rf /"})
    assert rig.flows[1].key == "tracker:slam"


def test_an_rgbd_folder_that_is_none_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(RigflowError, match="color/"):
        load_rig("rgbd_folder", {"path": str(tmp_path)})


def test_an_rgbd_folder_needs_its_path() -> None:
    with pytest.raises(RigError, match="path"):
        load_rig("rgbd_folder", {})


def test_an_rgbd_folder_plays_at_the_rate_of_the_rows(tmp_path: Path) -> None:
    for name, image in (("color", np.zeros((8, 8, 3), np.uint8)), ("depth", np.zeros((8, 8), np.uint16))):
        (tmp_path / name).mkdir()
        assert cv2.imwrite(str(tmp_path / name / "0.png"), image)
    rig = load_rig("rgbd_folder", {"path": str(tmp_path), "fps": "15", "depth_codec": "ffv1"})
    assert rig.fps == 15.0
    assert {getattr(stream, "source_fps", None) for stream in rig.streams} == {15.0}
