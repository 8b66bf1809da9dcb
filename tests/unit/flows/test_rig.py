from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from episodes.streams import ImuStream, StatusStream, VectorStream, VideoStream
from flows.device import DeviceFlow, Port
from flows.rig import Rig
from operators import AttachImu, DeviceStatus, LatestWins, OldestFrame
from operators.errors import RigError
from tests.fake_devices import camera, tracker, vector_sensor


def device(key: str, ports: Sequence[Port] = (), *, kind: str = "thing", **fields: Any) -> DeviceFlow:
    made = replace(camera("unused"), key=key, kind=kind, name=key, slots=(), ports=tuple(ports))
    return replace(made, **fields)


def video(slot: str, **fields: Any) -> Port:
    return Port("rgb", VideoStream(slot=slot, **fields), lambda c: OldestFrame(c.period_ns))


def test_declaration_follows_from_the_flows() -> None:
    rig = Rig("bench", [camera("head", depth="head_depth", status=True), vector_sensor("observation.load"), tracker(3)])
    declared = rig.declaration("pour water", "1.2.3")
    assert [type(stream).__name__ for stream in declared.streams] == [
        "VideoStream",
        "VideoStream",
        "StatusStream",
        "VectorStream",
        "TrajectoryStream",
    ]
    assert declared.master == "head"
    assert (declared.rig, declared.task_name, declared.fps, declared.app_version) == (
        "bench",
        "pour water",
        30.0,
        "1.2.3",
    )
    assert [entry.key for entry in declared.devices] == ["camera:head", "sensor:observation.load", "tracker:points"]
    assert declared.devices[0].slots == ("head", "head_depth")


def test_every_stream_has_its_place_in_the_row() -> None:
    rig = Rig("bench", [camera("head", depth="head_depth", status=True), vector_sensor("observation.load")])
    assert dict(rig.index_of) == {"head": 0, "head_depth": 1, "status.head": 2, "observation.load": 3}


def test_the_first_recorded_colour_slot_is_master_unless_the_rig_names_one() -> None:
    assert Rig("r", [camera("a"), camera("b")]).master_slot == "a"
    assert Rig("r", [camera("a"), camera("b")], master="b").master_slot == "b"
    assert Rig("r", [vector_sensor("observation.load")]).master_slot is None


def test_stereo_left_is_master_wherever_imu_is_recorded() -> None:
    rig = Rig("r", [camera("a"), stereo("s80m:1")])
    assert rig.master_slot == "stereo_left"
    with pytest.raises(RigError, match=r"master 'a' does not go with the IMU of s80m:1"):
        Rig("r", [camera("a"), stereo("s80m:1")], master="a")


def stereo(key: str) -> DeviceFlow:
    imu = Port("imu", ImuStream(), lambda c: AttachImu(c.index_of["stereo_left"]))
    return device(key, [video("stereo_left"), imu], kind="s80m", slots=("stereo_left",))


def test_two_devices_on_one_slot_are_refused_by_name() -> None:
    with pytest.raises(RigError, match=r"uvc:head and camera:head both use slot 'head'"):
        Rig("r", [camera("head", kind="uvc"), camera("head")])


def test_a_slot_that_is_only_shown_is_taken_too() -> None:
    with pytest.raises(RigError, match=r"a and camera:head both use slot 'head'"):
        Rig("r", [device("a", slots=("head",)), camera("head")])


def test_the_same_device_twice_is_refused() -> None:
    with pytest.raises(RigError, match="camera:head: declared twice"):
        Rig("r", [camera("head"), replace(camera("other"), key="camera:head")])


def test_two_devices_on_one_column_are_refused_by_name() -> None:
    first = vector_sensor("observation.load")
    with pytest.raises(
        RigError, match=r"sensor:observation.load and sensor:2 would both write column 'observation.load'"
    ):
        Rig("r", [first, replace(vector_sensor("observation.load"), key="sensor:2")])


def test_slots_that_become_one_column_are_refused() -> None:
    with pytest.raises(RigError, match=r"observation.head_frame_ns"):
        Rig("r", [camera("main"), camera("Head"), camera("head")])


@pytest.mark.parametrize("column", ["observation.my_force", "load", "observation.Load", "observation.slam_pose"])
def test_a_column_that_breaks_the_naming_rules_is_refused(column: str) -> None:
    with pytest.raises(RigError, match=column):
        Rig("r", [vector_sensor(column)])


def test_an_s80m_beside_a_d435_is_refused_by_name() -> None:
    with pytest.raises(RigError, match=r"s80m:1 and d435:2 cannot be in one rig: both need /dev/video0"):
        Rig("r", [stereo("s80m:1"), replace(camera("head"), key="d435:2", kind="d435")])


def test_two_d435_are_allowed() -> None:
    rig = Rig("r", [camera("a", kind="d435"), camera("b", kind="d435")])
    assert [flow.kind for flow in rig.flows] == ["d435", "d435"]


def test_a_third_glove_is_refused_by_name() -> None:
    gloves = [
        device(
            f"usbglove:{name}",
            [Port("p", VectorStream(column=f"observation.{name}", shape=(256,)), lambda _c: LatestWins())],
            kind="data_ble",
            sensor_column=name,
        )
        for name in ("left_glove", "right_glove", "third_glove")
    ]
    Rig("r", gloves[:2])
    with pytest.raises(RigError, match=r"usbglove:left_glove, usbglove:right_glove, usbglove:third_glove: .* 2 gloves"):
        Rig("r", gloves)


def test_one_claim_of_two_devices_is_refused_with_its_reason() -> None:
    one = replace(camera("a"), claims={"head_stereo": "the gripper's bridge opens that head"})
    other = replace(camera("b"), claims={"head_stereo": "the gripper's bridge opens that head"})
    with pytest.raises(RigError, match=r"camera:a and camera:b both claim head_stereo: the gripper's bridge opens"):
        Rig("r", [one, other])


def test_two_grippers_with_one_number_are_refused() -> None:
    with pytest.raises(RigError, match=r"camera:a and camera:b are both gripper rig 1"):
        Rig("r", [replace(camera("a"), rig=1), replace(camera("b"), rig=1)])


def test_depth_that_follows_nothing_is_refused() -> None:
    lonely = device("d", [video("d_depth", kind="depth", master="nobody")])
    with pytest.raises(RigError, match=r"d: d_depth follows slot 'nobody', which is not recorded before it"):
        Rig("r", [camera("head"), lonely])


def test_depth_that_stands_before_its_master_is_refused() -> None:
    backwards = device("d", [video("d_depth", kind="depth", master="d_rgb"), video("d_rgb")])
    with pytest.raises(RigError, match="not recorded before it"):
        Rig("r", [backwards])


def test_a_master_that_is_not_recorded_is_refused() -> None:
    with pytest.raises(RigError, match=r"master 'x' is no recorded colour slot \(head\)"):
        Rig("r", [camera("head")], master="x")


@pytest.mark.parametrize("fps", [0, -1, 241, float("nan"), float("inf"), True, "30"])
def test_a_rate_that_cannot_be_is_refused(fps: Any) -> None:
    with pytest.raises(RigError, match="fps"):
        Rig("r", [camera("head")], fps=fps)


@pytest.mark.parametrize(
    ("field", "value"), [("video_codec", "mpeg1"), ("depth_codec", "png"), ("depth_quality", "best")]
)
def test_a_codec_that_is_not_known_is_refused(field: str, value: str) -> None:
    with pytest.raises(RigError, match=f"{field} '{value}'"):
        Rig("r", [camera("head")], **{field: value})  # type: ignore[arg-type]


def test_a_rig_that_records_nothing_is_refused() -> None:
    with pytest.raises(RigError, match="records anything"):
        Rig("r", [])


def test_a_slot_that_cannot_be_a_folder_is_refused() -> None:
    with pytest.raises(RigError, match=r"camera:\.\./up: slot '\.\./up'"):
        Rig("r", [camera("../up")])


def test_credentials_in_a_key_are_refused_and_not_repeated() -> None:
    leaky = replace(camera("head"), key="camera:rtsp://me:secret@host/1")
    with pytest.raises(RigError, match="user name or password") as caught:
        Rig("r", [leaky])
    assert "secret" not in str(caught.value)


def test_no_two_devices_share_a_calibration_key() -> None:
    def calibrated(slot: str, value: int) -> DeviceFlow:
        return replace(camera(slot), calibration={"value": value}, slots=(slot,))

    rig = Rig("r", [calibrated("a", 1), calibrated("b", 2), device("c", [status("c")], calibration={"value": 3})])
    assert rig.declaration("t", "0").calibration == {
        "head_stereo": {"value": 1},
        "b_calibration": {"value": 2},
        "thing_calibration": {"value": 3},
    }
    twins = [device(key, [status(key)], calibration={"value": 0}) for key in ("one", "two", "three")]
    keys = list(Rig("r", twins).declaration("t", "0").calibration)
    assert keys == ["head_stereo", "thing_calibration", "thing_calibration_2"]


def status(name: str) -> Port:
    return Port("status", StatusStream(id=name), lambda _c: DeviceStatus(1))
