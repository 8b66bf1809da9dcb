"""Device flows: the contract's names, kinds and owners follow from a few words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
import reactivex as rx

from episodes.streams import StatusStream, TrajectoryStream, VectorStream, VideoStream
from flows import camera, glove, gripper, rgbd_folder, stereo_head, trajectory, vector
from flows.device import CellContext, DeviceFlow
from flows.rig import Rig
from operators.errors import DeviceError, RigError
from operators.events import Event
from operators.follow_master import FollowMaster
from operators.oldest_frame import OldestFrame


def nothing(_key: str) -> rx.Observable[Event]:
    return rx.never()


def stream_of(flow: DeviceFlow, kind: type[Any]) -> Any:
    return next(port.stream for port in flow.ports if isinstance(port.stream, kind))


def test_a_camera_has_one_slot_and_a_key_without_credentials() -> None:
    flow = camera("rtsp://user:secret@cam.local/live", name="Top view")
    assert flow.key == "camera:rtsp://cam.local/live"
    assert flow.slots == ("Top_view_rgb",)
    assert not flow.ends_take
    assert "secret" not in repr(flow)


def test_a_video_file_ends_the_take() -> None:
    assert camera("film.mp4").ends_take


def test_two_streams_that_differ_in_the_query_only_need_ids() -> None:
    first, second = (camera(f"http://host/stream?cam={n}", name=f"cam{n}") for n in (1, 2))
    with pytest.raises(RigError, match="declared twice"):
        Rig("two", [first, second])
    named = [camera(f"http://host/stream?cam={n}", name=f"cam{n}", id=f"cam{n}") for n in (1, 2)]
    assert [flow.key for flow in Rig("two", named).flows] == ["camera:cam1", "camera:cam2"]


@pytest.mark.parametrize(
    "arguments",
    [
        {"source": " "},
        {"source": "film.mp4", "fps": 0.0},
        {"source": "film.mp4", "fps": float("nan")},
        {"source": "/dev/video0", "width": 640},
        {"source": "/dev/video0", "width": 640, "height": -1},
        {"source": "film.mp4", "name": "///"},
    ],
)
def test_a_camera_that_cannot_be_is_refused_by_name(arguments: dict[str, Any]) -> None:
    with pytest.raises(RigError, match=r"^camera "):
        camera(**arguments)


def folder(path: Path) -> Path:
    for name, image in (("color", np.zeros((8, 8, 3), np.uint8)), ("depth", np.zeros((8, 8), np.uint16))):
        (path / name).mkdir(parents=True)
        assert cv2.imwrite(str(path / name / "0.png"), image)
    return path


def test_the_depth_of_a_folder_follows_its_colour(tmp_path: Path) -> None:
    flow = rgbd_folder(folder(tmp_path / "room"), name="D405 head")
    assert (flow.key, flow.slots, flow.ends_take) == ("rgbd:room", ("D405_head_rgb", "D405_head_depth"), True)
    context = CellContext(33_333_333, {"D405_head_rgb": 0, "D405_head_depth": 1})
    assert isinstance(flow.ports[0].cell(context), OldestFrame)
    assert isinstance(flow.ports[1].cell(context), FollowMaster)
    assert flow.ports[1].stream == VideoStream(
        slot="D405_head_depth", kind="depth", master="D405_head_rgb", source_fps=30.0
    )


def test_a_folder_without_depth_is_refused_when_the_rig_is_built(tmp_path: Path) -> None:
    (tmp_path / "color").mkdir()
    assert cv2.imwrite(str(tmp_path / "color" / "0.png"), np.zeros((8, 8, 3), np.uint8))
    with pytest.raises(DeviceError, match="depth/ cannot be read"):
        rgbd_folder(tmp_path)


def test_trackers_have_the_role_ego_and_the_second_its_number(tmp_path: Path) -> None:
    path = tmp_path / "poses.txt"
    path.touch()
    first, second = trajectory(path), trajectory(command=["slam", "--live"], number=2)
    assert stream_of(first, TrajectoryStream).column == "observation.ego_slam_trajectory"
    assert stream_of(second, TrajectoryStream).column == "observation.ego_2_slam_trajectory"
    assert (first.replays, second.replays) == (True, False)
    assert not first.ends_take
    assert stream_of(first, TrajectoryStream).owner == {"role": "ego", "device_key": "tracker:poses.txt"}


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"file": "a", "command": ["b"]},
        {"file": "gone.txt"},
        {"command": ["b"], "number": 0},
        {"command": ["b"], "clock": "x"},
    ],
)
def test_a_trajectory_that_cannot_be_is_refused_by_name(arguments: dict[str, Any]) -> None:
    with pytest.raises(RigError, match=r"^trajectory 'tracker'"):
        trajectory(**arguments)


@pytest.mark.parametrize("rig", [1, 2])
def test_the_first_gripper_has_no_prefix_and_the_second_has_gripper_2(rig: Any) -> None:
    flow = gripper(nothing, mac="cc:ba:97:25:b4:44", rig=rig, hand="right")
    prefix = "" if rig == 1 else "gripper_2_"
    slot = "gripper_" if rig == 1 else "gripper_2_"
    assert flow.key == "gripper:CC:BA:97:25:B4:44"
    assert flow.slots == tuple(slot + end for end in ("stereo_left", "rgb", "pose", "force_left", "force_right"))
    pose = stream_of(flow, TrajectoryStream)
    assert pose.column == f"observation.{prefix}slam_trajectory"
    assert pose.owner == {"role": "gripper", "rig": rig, "device_key": flow.key, "hand": "right"}
    assert pose.source_slot == f"{slot}stereo_left"
    status = [port.stream.id for port in flow.ports if isinstance(port.stream, StatusStream)]
    assert status == [slot + end for end in ("pose", "force_left", "force_right")]
    assert flow.sensor_columns == (
        f"observation.{prefix}gripper_state",
        f"observation.{prefix}gripper_left_force",
        f"observation.{prefix}gripper_right_force",
        f"observation.{prefix}gripper_left_force_matrix",
        f"observation.{prefix}gripper_right_force_matrix",
    )


def test_a_third_gripper_is_refused() -> None:
    with pytest.raises(RigError, match="neither 1 nor 2"):
        gripper(nothing, mac="00", rig=3)  # type: ignore[arg-type]


def test_a_glove_has_no_slots_and_names_its_column() -> None:
    flow = glove(nothing, usb="364933593535", sensor="left_glove")
    assert (flow.key, flow.kind, flow.slots, flow.sensor_column) == (
        "usbglove:364933593535",
        "data_ble",
        (),
        "left_glove",
    )
    columns = {port.stream.column: port.stream.shape for port in flow.ports if isinstance(port.stream, VectorStream)}
    assert columns == {
        "observation.left_glove": (16, 16),
        "observation.left_glove_imu_quat": (16, 4),
        "observation.left_glove_imu_valid": (16,),
        "observation.left_hand_pose": (21, 3),
    }


def test_the_eyes_and_the_depth_of_a_head_are_in_lockstep() -> None:
    flow = stereo_head(nothing, serial="1")
    videos = [port.stream for port in flow.ports if isinstance(port.stream, VideoStream)]
    assert [(video.slot, video.kind, video.master) for video in videos] == [
        ("stereo_left", "rgb", None),
        ("stereo_right", "rgb", "stereo_left"),
        ("stereo_depth", "depth", "stereo_left"),
    ]
    assert {video.clock for video in videos} == {"device"}


def test_two_heads_are_refused() -> None:
    with pytest.raises(RigError, match="s80m:1 and s80m:2"):
        Rig("two", [stereo_head(nothing, serial="1"), stereo_head(nothing, serial="2")])


def test_a_rigs_own_vector_obeys_the_naming_rules() -> None:
    flow = vector("observation.load_cell", rx.never, key="scale:1", shape=(3,), unit="N")
    assert Rig("own", [flow]).streams[0] == VectorStream(
        column="observation.load_cell",
        shape=(3,),
        unit="N",
        stamp_column="observation.load_cell_ns",
        declared_by_rig=True,
    )
    for column in ("observation.my_force", "observation.Load", "load_cell"):
        with pytest.raises(RigError):
            Rig("own", [vector(column, rx.never, key="scale:1")])


@pytest.mark.parametrize("dtype", ["float16", "object", "complex64"])
def test_a_dtype_that_no_column_can_have_is_refused(dtype: str) -> None:
    with pytest.raises(RigError, match=dtype):
        Rig("own", [vector("observation.load_cell", rx.never, key="scale:1", dtype=dtype)])
