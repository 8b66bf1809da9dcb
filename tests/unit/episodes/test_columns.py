from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from episodes.columns import Column, columns_of, force_matrix_specs, frame_ns_column, slam_spec, slam_specs
from episodes.errors import ContractError
from episodes.frames import FRAME_AXES, axes_of
from episodes.streams import (
    ImuStream,
    MatrixStream,
    StatusStream,
    Stream,
    TrajectoryStream,
    VectorStream,
    VideoStream,
)

from .appendix_b import declaration, ego_trajectory, gripper, gripper_trajectory, seed_info

FIVE = {"frame", "frame_axes", "time", "owner", "source_slot"}


def columns(*streams: Stream, master: str | None = None) -> dict[str, Column]:
    return {column.name: column for column in columns_of(streams, master=master)}


def example() -> dict[str, Column]:
    declared = declaration()
    return columns(*declared.streams, master=declared.master)


def gripper_types(prefix: str) -> dict[str, pa.DataType]:
    at = f"observation.{prefix}gripper"
    found = {f"{at}_state": pa.list_(pa.float32(), 3)}
    for side in ("left", "right"):
        found |= {
            f"{at}_{side}_force": pa.list_(pa.float32(), 3),
            f"{at}_{side}_force_ns": pa.int64(),
            f"{at}_{side}_force_matrix": pa.list_(pa.int16()),
            f"{at}_{side}_force_matrix_ns": pa.int64(),
        }
    return found


def test_the_example_rig_has_the_columns_and_types_of_appendix_c_and_the_frame_times() -> None:
    expected: dict[str, pa.DataType] = {
        "episode_index": pa.int64(),
        "frame_index": pa.int64(),
        "timestamp": pa.float32(),
        "task_index": pa.int64(),
        "wall_time": pa.float64(),
        "hardware_ns": pa.int64(),
        "raw_hw_ns": pa.int64(),
        "action": pa.list_(pa.float32(), 1),
        "imu_ts_ns": pa.list_(pa.int64()),
        "observation.imu": pa.list_(pa.list_(pa.float32(), 6)),
        **gripper_types(""),
        **gripper_types("gripper_2_"),
    }
    for side in ("left", "right"):
        expected[f"observation.{side}_glove"] = pa.list_(pa.float32(), 256)
        expected[f"observation.{side}_glove_imu_quat"] = pa.list_(pa.float32(), 64)
        expected[f"observation.{side}_glove_imu_valid"] = pa.list_(pa.float32(), 16)
        expected[f"observation.{side}_hand_pose"] = pa.list_(pa.float32(), 63)
        expected[f"status.{side}_glove"] = pa.string()
    for prefix in ("", "gripper_2_", "ego_"):
        expected[f"observation.{prefix}slam_trajectory"] = pa.list_(pa.float64())
        expected[f"observation.{prefix}slam_trajectory_ns"] = pa.list_(pa.int64())
    for gripper_slot in ("gripper", "gripper_2"):
        for what in ("pose", "force_left", "force_right"):
            expected[f"status.{gripper_slot}_{what}"] = pa.string()
    for slot in ("stereo_right", "stereo_depth", "gripper_rgb", "gripper_2_rgb"):
        expected[f"observation.{slot}_frame_ns"] = pa.int64()

    found = {name: column.type for name, column in example().items()}

    assert found == expected


def test_the_example_rig_has_the_features_of_appendix_b_and_the_frame_times() -> None:
    features = {name: column.feature for name, column in example().items() if column.feature is not None}
    seed = seed_info()["features"]

    for name, declared in seed.items():
        found = dict(features[name] or {})
        if declared.get("encoding") == "host_monotonic_ns":
            # The example leaves it out, the rule for stamps of samples has it.
            assert found.pop("missing_sentinel") == 0
        assert found == declared, name
    assert {name for name in features if name not in seed} == {
        f"observation.{slot}_frame_ns" for slot in ("stereo_right", "stereo_depth", "gripper_rgb", "gripper_2_rgb")
    }
    assert features["observation.gripper_2_rgb_frame_ns"] == {
        "dtype": "int64",
        "shape": [1],
        "encoding": "host_monotonic_ns",
        "missing_sentinel": 0,
        "slot": "gripper_2_rgb",
        "clock": "host_monotonic_ns",
    }


def test_keys_come_first_then_observations_in_rig_order_then_status() -> None:
    names = list(example())
    groups = [
        0 if "." not in name and name != "imu_ts_ns" else 2 if name.startswith("status.") else 1 for name in names
    ]

    assert groups == sorted(groups)
    assert names.index("observation.gripper_state") < names.index("observation.gripper_2_gripper_state")
    assert names.index("observation.gripper_2_gripper_state") < names.index("observation.left_glove")


def test_only_what_begins_with_observation_and_the_action_are_features() -> None:
    for name, column in example().items():
        assert (column.feature is not None) == (name.startswith("observation.") or name == "action"), name


def test_action_and_both_hand_poses_stand_in_every_episode_also_without_gloves() -> None:
    found = columns(VideoStream(slot="head_left_rgb"), master="head_left_rgb")

    for name in ("action", "observation.left_hand_pose", "observation.right_hand_pose"):
        assert found[name].always
        assert found[name].feature is not None
    assert found["action"].placeholder == [0.0]
    assert found["observation.left_hand_pose"].placeholder == [0.0] * 63
    assert found["observation.left_hand_pose"].stream is None


def test_a_hand_pose_that_a_glove_declares_stands_in_every_episode_too() -> None:
    found = columns(VectorStream(column="observation.left_hand_pose", shape=(21, 3)))

    assert found["observation.left_hand_pose"].always
    assert found["observation.left_hand_pose"].stream is not None
    assert found["observation.right_hand_pose"].always


def test_what_was_never_sampled_goes_but_keys_frame_times_and_status_stay() -> None:
    always = {name for name, column in example().items() if column.always}

    assert {"hardware_ns", "observation.stereo_right_frame_ns", "status.left_glove"} <= always
    assert not {"raw_hw_ns", "imu_ts_ns", "observation.left_glove", "observation.slam_trajectory_ns"} & always


def test_the_placeholders_are_zeros_of_the_width_empty_lists_and_zero() -> None:
    found = example()

    assert found["observation.gripper_left_force"].placeholder == [0.0] * 3
    assert found["observation.left_glove"].placeholder == [0.0] * 256
    assert found["observation.gripper_left_force_matrix"].placeholder == []
    assert found["observation.slam_trajectory"].placeholder == []
    assert found["observation.gripper_left_force_ns"].placeholder == 0
    assert found["observation.stereo_right_frame_ns"].placeholder == 0


def test_statistics_leave_out_matrices_trajectories_and_stamps() -> None:
    counted = {name for name, column in example().items() if column.stats}

    assert {"observation.imu", "observation.left_glove", "observation.gripper_state"} <= counted
    assert "observation.gripper_2_gripper_left_force" in counted
    assert not {n for n in counted if n.endswith(("_ns", "_matrix", "trajectory")) or not n.startswith("observation.")}


def test_only_force_matrices_are_heavy() -> None:
    assert {name for name, column in example().items() if column.heavy} == {
        f"observation.{prefix}gripper_{side}_force_matrix"
        for prefix in ("", "gripper_2_")
        for side in ("left", "right")
    }


def test_the_master_has_no_frame_time_column_for_its_time_is_hardware_ns() -> None:
    found = columns(VideoStream(slot="a_rgb"), VideoStream(slot="b_rgb"), master="b_rgb")

    assert "observation.b_rgb_frame_ns" not in found
    assert "observation.a_rgb_frame_ns" in found


def test_a_slot_is_cleaned_to_be_part_of_a_column_name() -> None:
    assert frame_ns_column("D405_head_rgb") == "observation.d405_head_rgb_frame_ns"
    assert frame_ns_column("左_rgb") == "observation.__rgb_frame_ns"


def test_two_slots_whose_frame_times_would_share_a_column_are_refused_by_both_names() -> None:
    with pytest.raises(ContractError, match=r"'Cam_rgb' and slot 'cam_rgb'"):
        columns(VideoStream(slot="m_rgb"), VideoStream(slot="Cam_rgb"), VideoStream(slot="cam_rgb"), master="m_rgb")


@pytest.mark.parametrize(
    "twice",
    [
        VectorStream(column="observation.left_glove", shape=(16, 16)),
        StatusStream(id="left_glove"),
        ImuStream(),
        gripper_trajectory(1),
    ],
)
def test_two_writers_of_one_column_are_refused(twice: Stream) -> None:
    with pytest.raises(ContractError, match="written twice"):
        columns(twice, twice)


def test_a_d435_has_evidence_columns_and_the_second_one_has_them_with_its_prefix() -> None:
    first = VideoStream(slot="a_rgb", evidence=True)
    second = VideoStream(slot="b_rgb", evidence=True, evidence_prefix="b_rgb_")
    depth = VideoStream(slot="a_depth", kind="depth", master="a_rgb", evidence=True)
    expected = {
        "depth_ns": pa.int64(),
        "host_ns": pa.int64(),
        "rgb_dup": pa.int8(),
        "depth_dup": pa.int8(),
        "ts_src": pa.int8(),
        "rgb_gap": pa.int32(),
        "depth_gap": pa.int32(),
    }

    found = columns(first, depth, second, master="a_rgb")

    for name, kind in expected.items():
        assert found[name].type == found[f"b_rgb_{name}"].type == kind
        assert found[name].feature is None
        assert not found[name].always


@pytest.mark.parametrize(
    ("dtype", "shape", "kind", "feature_shape", "placeholder"),
    [
        ("float64", (7,), pa.list_(pa.float64(), 7), [7], [0.0] * 7),
        ("float64", (), pa.float64(), [1], 0.0),
        ("int32", (2, 2), pa.list_(pa.int32(), 4), [2, 2], [0] * 4),
        ("bool", (), pa.bool_(), [1], False),
        ("uint8", (3,), pa.list_(pa.uint8(), 3), [3], [0] * 3),
    ],
)
def test_a_rig_declares_vector_columns_of_its_own(
    dtype: str, shape: tuple[int, ...], kind: pa.DataType, feature_shape: list[int], placeholder: Any
) -> None:
    stream = VectorStream(column="observation.arm", dtype=dtype, shape=shape, unit="deg", declared_by_rig=True)

    column = columns(stream)["observation.arm"]

    assert column.type == kind
    assert column.feature == {"dtype": dtype, "shape": feature_shape, "unit": "deg"}
    assert column.placeholder == placeholder
    assert column.stats == (dtype != "bool")


@pytest.mark.parametrize(
    ("stream", "text"),
    [
        (VectorStream(column="observation.x", dtype="float16"), "float16"),
        (VectorStream(column="observation.x", shape=(0,)), "empty"),
        (VectorStream(column="observation.x", shape=(2000, 2000)), "too large"),
        (VectorStream(column="observation.x", shape=(2,), names=("a",)), "1 names for 2"),
        (VectorStream(column="force"), "begin with observation"),
        (VectorStream(column="observation.arm_state", shape=(2,)), "_state is float32"),
        (VectorStream(column="observation.arm_state", shape=(3,), declared_by_rig=True), "reserved"),
        (VectorStream(column="observation.imu", shape=(6,), declared_by_rig=True), "meaning of its own"),
        (MatrixStream(column="observation.matrix"), "_force_matrix"),
        (MatrixStream(column="observation.a_force_matrix", scale=50), "scale 50"),
        (VideoStream(slot="../x"), "slot"),
        (StatusStream(id="a b"), "status"),
    ],
)
def test_what_the_contract_does_not_allow_is_refused_by_name(stream: Stream, text: str) -> None:
    with pytest.raises(ContractError, match=text):
        columns(stream)


@pytest.mark.parametrize("scale", [1, 10, 100, 1000])
def test_a_force_matrix_declares_its_scale(scale: int) -> None:
    stream = MatrixStream(column="observation.gripper_left_force_matrix", scale=scale)

    column = columns(stream)[stream.column]

    assert column.type == pa.list_(pa.int16())
    assert column.feature == {
        "dtype": "int16",
        "shape": [250, 250, 3],
        "encoding": "row_diff_quantized",
        "scale": scale,
    }
    assert force_matrix_specs([stream], {stream.column}) == {stream.column: column.feature}
    assert force_matrix_specs([stream], set()) == {}


def test_a_raw_force_matrix_is_float32_of_scale_one() -> None:
    stream = MatrixStream(column="observation.gripper_left_force_matrix", scale=0)

    column = columns(stream)[stream.column]

    assert column.type == pa.list_(pa.float32())
    assert column.feature == {"dtype": "float32", "shape": [250, 250, 3], "encoding": "row_flat_raw", "scale": 1}


def test_three_trajectories_side_by_side_have_each_its_own_frame() -> None:
    streams = (gripper_trajectory(1), gripper_trajectory(2), ego_trajectory())

    found = columns(*streams)
    frames = {s.column: (found[s.column].feature or {})["frame"] for s in streams}
    axes = {s.column: (found[s.column].feature or {})["frame_axes"] for s in streams}

    assert frames == {
        "observation.slam_trajectory": "down_left_forward",
        "observation.gripper_2_slam_trajectory": "down_left_forward",
        "observation.ego_slam_trajectory": "ego_cam_optical",
    }
    assert axes["observation.ego_slam_trajectory"] == {"+X": "right", "+Y": "down", "+Z": "forward"}
    assert axes["observation.slam_trajectory"] == {"+X": "down", "+Y": "left", "+Z": "forward"}


def test_slam_specs_have_exactly_five_keys_also_without_a_source_slot() -> None:
    tracker = TrajectoryStream(
        column="observation.ego_2_slam_trajectory",
        frame="right_forward_up",
        time={"t": "sensor_s", "clock": "host_monotonic", "epoch": "first_frame"},
        owner={"role": "ego", "device_key": "tum:file"},
    )

    specs = slam_specs((ego_trajectory(), gripper_trajectory(2), tracker), {ego_trajectory().column, tracker.column})

    assert set(specs) == {ego_trajectory().column, tracker.column}
    assert all(set(spec) == FIVE for spec in specs.values())
    assert specs[tracker.column]["source_slot"] is None
    assert specs[ego_trajectory().column] == slam_spec(ego_trajectory())
    assert "source_slot" not in (columns(tracker)[tracker.column].feature or {})


def test_features_and_slam_specs_say_the_same_of_a_trajectory() -> None:
    stream = gripper_trajectory(2)
    feature = columns(stream)[stream.column].feature or {}

    assert {key: feature[key] for key in FIVE} == slam_spec(stream)


def test_rig_two_alone_keeps_its_prefix() -> None:
    found = columns(*gripper(2), master="gripper_2_rgb")

    assert "observation.gripper_2_gripper_left_force" in found
    assert "observation.gripper_2_slam_trajectory" in found
    assert not {name for name in found if name.startswith(("observation.gripper_left", "observation.slam"))}


@pytest.mark.parametrize(
    ("column", "owner"),
    [
        ("observation.gripper_2_slam_trajectory", {"role": "gripper", "rig": 1}),
        ("observation.slam_trajectory", {"role": "gripper", "rig": 2}),
        ("observation.slam_trajectory", {"role": "gripper"}),
        ("observation.slam_trajectory", {"role": "ego"}),
        ("observation.ego_slam_trajectory", {"role": "head"}),
        ("observation.ego_slam_trajectory", {}),
    ],
)
def test_a_trajectory_whose_name_belongs_to_another_owner_is_refused(column: str, owner: dict[str, str | int]) -> None:
    stream = TrajectoryStream(column=column, frame="down_left_forward", time={}, owner=owner)

    with pytest.raises(ContractError, match="slam_trajectory"):
        columns(stream)


def trajectory(frame: str, axes: dict[str, str] | None) -> TrajectoryStream:
    return TrajectoryStream(
        column="observation.ego_slam_trajectory", frame=frame, frame_axes=axes, time={}, owner={"role": "ego"}
    )


def test_a_frame_that_is_not_registered_needs_its_axes() -> None:
    axes = {"+X": "up", "+Y": "left", "+Z": "back"}

    with pytest.raises(ContractError, match=r"my_frame.*frame_axes"):
        axes_of(trajectory("my_frame", None))
    assert axes_of(trajectory("my_frame", axes)) == axes


def test_a_registered_frame_cannot_be_given_other_axes() -> None:
    assert axes_of(trajectory("ego_cam_optical", None)) == FRAME_AXES["ego_cam_optical"]
    with pytest.raises(ContractError, match="other axes"):
        axes_of(trajectory("ego_cam_optical", {"+X": "up", "+Y": "left", "+Z": "back"}))


def test_changing_a_found_frame_does_not_change_the_registered_one() -> None:
    axes_of(trajectory("ego_cam_optical", None))["+X"] = "up"

    assert FRAME_AXES["ego_cam_optical"]["+X"] == "right"
