from __future__ import annotations

from typing import Any

import msgspec
import pytest

from episodes.declaration import Declaration, DeviceEntry
from episodes.errors import ContractError
from episodes.streams import VectorStream, VideoStream

from .appendix_b import declaration


def test_a_declaration_comes_back_whole_from_its_json() -> None:
    declared = declaration()

    back = msgspec.json.decode(msgspec.json.encode(declared), type=Declaration)

    assert back == declared
    assert [type(stream) for stream in back.streams] == [type(stream) for stream in declared.streams]


def test_the_example_rig_can_be_recorded() -> None:
    declaration().check()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object(), b"\0"])
def test_a_calibration_that_json_cannot_hold_is_refused_before_recording(value: object) -> None:
    calibration: dict[str, Any] = {"head_stereo": {"baseline": value}}

    with pytest.raises(ContractError, match="head_stereo"):
        declaration(calibration=calibration).check()


def test_a_name_that_is_half_a_surrogate_pair_is_refused_before_recording() -> None:
    with pytest.raises(ContractError, match="task name"):
        declaration(task_name="pick \udcff").check()
    with pytest.raises(ContractError, match="uvc:1"):
        declaration(devices=(DeviceEntry(key="uvc:1", kind="uvc", name="\ud800"),)).check()


def test_columns_that_break_the_contract_are_refused_before_recording() -> None:
    streams = (VideoStream(slot="a_rgb"), VectorStream(column="observation.slam_pose", shape=(7,)))

    with pytest.raises(ContractError, match="slam_pose"):
        declaration(streams=streams, master="a_rgb").check()


def test_a_device_entry_has_only_the_keys_that_it_needs() -> None:
    plain = DeviceEntry(key="uvc:1", kind="uvc", name="UVC 1", slots=("head_left_rgb",))
    glove = DeviceEntry(key="ble:1", kind="data_ble", name="glove", sensor_column="left_glove")
    gripper = DeviceEntry(
        key="gripper:1", kind="gripper", name="g", sensor_columns=("gripper_left_force",), rig=2, hand="right"
    )

    assert plain.as_info() == {"key": "uvc:1", "kind": "uvc", "name": "UVC 1", "slots": ["head_left_rgb"]}
    assert glove.as_info()["sensor_column"] == "left_glove"
    assert glove.as_info()["slots"] == []
    assert (gripper.as_info()["rig"], gripper.as_info()["hand"]) == (2, "right")
    assert gripper.as_info()["sensor_columns"] == ["gripper_left_force"]
