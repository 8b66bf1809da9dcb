from __future__ import annotations

import re
from pathlib import PurePosixPath

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from episodes.errors import ContractError
from episodes.naming import (
    RESERVED_SUFFIXES,
    check_column,
    check_rig_column,
    check_slot,
    column_part,
    ego_prefix,
    gripper_prefix,
    slot_base,
    task_dir_name,
)

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=80)


@pytest.mark.parametrize(
    "name",
    [
        "action",
        "observation.gripper_2_gripper_left_force_ns",
        "observation.arm.joint_1",
        "status.头_rgb",
        "status.D405_rgb",
    ],
)
def test_names_of_the_grammar_are_allowed(name: str) -> None:
    check_column(name)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "observation.",
        ".x",
        "observation..x",
        "observation.Arm",
        "observation.arm-1",
        "observation.手",
        "observation.arm\n",
        "observation.slam_pose",
        "observation.gripper_2_slam_pose",
        "observation.gripper_1_state",
        "observation.images.head",
        "status.a b",
        "status.",
    ],
)
def test_other_characters_and_banned_names_are_refused(name: str) -> None:
    with pytest.raises(ContractError, match="column"):
        check_column(name)


@pytest.mark.parametrize("suffix", RESERVED_SUFFIXES)
def test_a_rigs_own_column_may_not_end_in_a_reserved_suffix(suffix: str) -> None:
    with pytest.raises(ContractError, match="reserved"):
        check_rig_column(f"observation.mine{suffix if suffix.startswith('_') else '_' + suffix}")


@pytest.mark.parametrize("name", ["arm", "action", "status.x", "observation.imu", "observation.A"])
def test_a_rigs_own_column_is_an_observation(name: str) -> None:
    with pytest.raises(ContractError):
        check_rig_column(name)


@pytest.mark.parametrize("name", ["observation.state", "observation.tactile", "observation.joint_position_deg"])
def test_a_rigs_own_column_may_have_an_ordinary_name(name: str) -> None:
    check_rig_column(name)


@pytest.mark.parametrize("slot", ["", ".", "..", "a/b", "../a", "a b", "a\0", "a.b", "a\n", "x" * 201, "头" * 67])
def test_a_slot_that_is_no_folder_name_is_refused(slot: str) -> None:
    with pytest.raises(ContractError, match="slot"):
        check_slot(slot)


@pytest.mark.parametrize(
    ("name", "base"),
    [("D405 head!", "D405_head"), ("UMI 夹爪001", "UMI_夹爪001"), ("../..", ""), ("__a__", "a"), ("a  b", "a_b")],
)
def test_a_devices_name_is_cleaned_to_begin_a_slot(name: str, base: str) -> None:
    assert slot_base(name) == base


@given(ANY_TEXT)
def test_every_cleaned_name_is_a_slot_and_part_of_a_column(name: str) -> None:
    base = slot_base(name)[:60]

    if base:
        check_slot(f"{base}_rgb")
    check_column(f"observation.{column_part(name) or 'x'}_frame_ns")
    assert slot_base(base) == base.strip("_")


def test_a_grippers_prefix_follows_its_rig_number_and_an_egos_its_place() -> None:
    assert [gripper_prefix(rig) for rig in (1, 2, 3)] == ["", "gripper_2_", "gripper_3_"]
    assert [ego_prefix(place) for place in (1, 2)] == ["ego_", "ego_2_"]
    for prefix in (gripper_prefix, ego_prefix):
        with pytest.raises(ContractError):
            prefix(0)


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        ("pick cup", "pick_cup"),
        ("  pick/place: cup  ", "pick_place__cup"),
        ("示例任务", "示例任务"),
        ("a/../../b", "a_______b"),
        ("", "session"),
        ("   ", "session"),
        ("a.b", "a_b"),
    ],
)
def test_a_task_name_is_cleaned_to_a_directory_name(raw: str, name: str) -> None:
    assert task_dir_name(raw) == name


@pytest.mark.parametrize("raw", ["x" * 201, "示" * 67, "../evil", "_trash", "(demo)", ".hidden", "a\udcff"])
def test_a_task_name_that_lists_would_leave_out_or_no_disk_holds_is_refused(raw: str) -> None:
    with pytest.raises(ContractError, match="task name"):
        task_dir_name(raw)


@given(ANY_TEXT)
@example("..")
@example("/etc/passwd")
@example("a\0b")
@example("C:\\x")
@example("nul\r\n")
def test_no_task_name_escapes_its_root(raw: str) -> None:
    try:
        name = task_dir_name(raw)
    except ContractError:
        return
    path = PurePosixPath(name)
    assert path.parts == (name,)
    assert not name.startswith((".", "_"))
    assert re.fullmatch(r"\w+", name)
    assert len(name.encode()) <= 200
    assert task_dir_name(name) == name
