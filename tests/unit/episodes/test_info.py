from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from episodes.declaration import DeviceEntry
from episodes.errors import CorruptFileError, UnknownFormatError
from episodes.info import next_info, read_info, tasks_jsonl
from episodes.json_form import json_text
from episodes.numbering import EpisodeNumber
from episodes.streams import VectorStream, VideoStream

from .appendix_b import CREATED, column_names, declaration, ego_trajectory, gripper, head, info_of, seed_info

FRAME_NS = {f"observation.{slot}_frame_ns" for slot in ("stereo_right", "stereo_depth", "gripper_rgb", "gripper_2_rgb")}


def test_the_example_rig_writes_the_info_of_appendix_b_key_by_key() -> None:
    seed = seed_info()

    info = info_of(declaration())

    assert set(info) == set(seed)
    for key in set(seed) - {"features", "devices"}:
        assert info[key] == seed[key], key
        assert type(info[key]) is type(seed[key]), key
    for name, feature in seed["features"].items():
        assert {key: info["features"][name][key] for key in feature} == feature, name
        assert set(info["features"][name]) - set(feature) <= {"missing_sentinel"}
    assert set(info["features"]) - set(seed["features"]) == FRAME_NS
    for found, entry in zip(info["devices"], seed["devices"], strict=True):
        assert {key: found[key] for key in entry} == entry
        assert set(found) - set(entry) <= {"sensor_column", "sensor_columns", "rig"}


def test_gloves_and_grippers_are_bound_to_their_columns_and_rig() -> None:
    devices = {entry["key"]: entry for entry in info_of(declaration())["devices"]}

    assert devices["usbglove:364933593535"]["sensor_column"] == "left_glove"
    assert devices["gripper:68:EE:8F:C6:0D:BC"]["rig"] == 2
    assert devices["gripper:68:EE:8F:C6:0D:BC"]["sensor_columns"] == [
        "gripper_2_gripper_left_force",
        "gripper_2_gripper_right_force",
    ]
    assert "rig" not in devices["s80m:000000000001@1-3.4.1"]


def test_a_depth_slot_has_an_extension_and_no_camera() -> None:
    info = info_of(declaration(), cameras={"stereo_left": (800, 1280), "stereo_depth": (800, 1280)})

    assert "stereo_depth" not in info["cameras"]
    assert info["video_extensions"]["stereo_depth"] == "mp4"


def test_with_ego_alone_no_gripper_frame_is_declared() -> None:
    info = info_of(declaration(streams=head()))

    assert info["slam_frames"] == {"observation.ego_slam_trajectory": "ego_cam_optical"}
    assert "gripper_slam_frame" not in info


def test_a_gripper_trajectory_that_was_never_sampled_declares_no_frame() -> None:
    declared = declaration()
    written = [name for name in column_names(declared) if "slam_trajectory" not in name]

    info = info_of(declared, columns_written=[*written, ego_trajectory().column])

    assert "gripper_slam_frame" not in info
    assert set(info["slam_frames"]) == {"observation.ego_slam_trajectory"}


def test_without_a_trajectory_no_frames_are_declared() -> None:
    info = info_of(declaration(streams=(VideoStream(slot="a_rgb"),), master="a_rgb"))

    assert "slam_frames" not in info
    assert "gripper_slam_frame" not in info


def test_rig_two_alone_gives_the_gripper_frame_and_keeps_its_prefix() -> None:
    info = info_of(declaration(streams=gripper(2), master="gripper_2_rgb"))

    assert info["gripper_slam_frame"] == "down_left_forward"
    assert info["slam_frames"] == {"observation.gripper_2_slam_trajectory": "down_left_forward"}


def test_rig_two_alone_does_not_overrule_the_frame_of_a_rig_one_of_an_earlier_episode() -> None:
    old = info_of(declaration())
    old["features"]["observation.slam_trajectory"]["frame"] = "right_forward_up"

    info = info_of(declaration(streams=gripper(2), master="gripper_2_rgb"), old)

    assert info["gripper_slam_frame"] == "right_forward_up"


def test_only_columns_that_were_written_are_declared() -> None:
    declared = declaration()
    written = [name for name in column_names(declared) if not name.startswith("observation.right_glove")]

    info = info_of(declared, columns_written=written)

    assert "observation.right_glove" not in info["features"]
    assert "observation.left_glove" in info["features"]
    assert info["sensors"] == ["left_glove"]


def test_features_cameras_extensions_sensors_and_names_are_united_and_the_newest_value_wins() -> None:
    old = info_of(declaration())
    later = declaration(
        streams=(VideoStream(slot="gripper_rgb"), VectorStream(column="observation.left_glove", shape=(16, 16))),
        master="gripper_rgb",
        sensors=("left_glove",),
        devices=(DeviceEntry(key="x:1", kind="x", name="new name", slots=("gripper_rgb",)),),
        calibration={},
    )

    info = info_of(later, old, cameras={"gripper_rgb": (480, 640)}, number=EpisodeNumber(1))

    assert info["cameras"]["gripper_rgb"] == {"height": 480, "width": 640}
    assert info["cameras"]["stereo_left"] == {"height": 800, "width": 1280}
    assert "observation.gripper_state" in info["features"]
    assert set(info["video_extensions"]) == set(old["video_extensions"])
    assert info["sensors"] == ["left_glove", "right_glove"]
    assert info["device_names"]["gripper_rgb"] == "new name"
    assert info["device_names"]["stereo_left"] == "S80C_head"
    # These two are the newest episode's alone.
    assert [device["key"] for device in info["devices"]] == ["x:1"]
    assert info["calibration"] == {}


def test_merging_leaves_the_old_info_as_it_was() -> None:
    old = info_of(declaration())
    before = copy.deepcopy(old)

    info_of(declaration(streams=gripper(2), master="gripper_2_rgb"), old, number=EpisodeNumber(1))

    assert old == before


def test_keys_that_are_not_known_stay() -> None:
    old = {**info_of(declaration()), "depth_camera": {"fx": 1.5}, "x_foreign": [1]}

    info = info_of(declaration(), old, number=EpisodeNumber(1))

    assert info["depth_camera"] == {"fx": 1.5}
    assert info["x_foreign"] == [1]


def test_created_at_is_the_tasks_first() -> None:
    old = info_of(declaration())

    assert info_of(declaration(), old, number=EpisodeNumber(1), now=CREATED + 9)["created_at"] == CREATED


def test_total_episodes_never_falls() -> None:
    old = info_of(declaration(), number=EpisodeNumber(6))

    assert old["total_episodes"] == 7
    assert info_of(declaration(), old, number=EpisodeNumber(3))["total_episodes"] == 7
    assert info_of(declaration(), old, number=EpisodeNumber(7))["total_episodes"] == 8


def test_the_tasks_own_templates_and_rate_stay() -> None:
    old = {**info_of(declaration()), "chunks_size": 50, "data_path": "data/{c:03d}/e-{f:03d}.parquet", "fps": 25.0}

    info = info_of(declaration(), old)

    assert (info["chunks_size"], info["data_path"], info["fps"]) == (50, "data/{c:03d}/e-{f:03d}.parquet", 25.0)


def test_a_devices_own_rate_goes_to_source_fps_and_the_stored_rate_is_not_repeated() -> None:
    streams = (VideoStream(slot="a_rgb", source_fps=50.0), VideoStream(slot="b_rgb", source_fps=30.0))

    cameras = info_of(declaration(streams=streams, master="a_rgb"))["cameras"]

    assert cameras["a_rgb"] == {"height": 480, "width": 640, "source_fps": 50.0}
    assert cameras["b_rgb"] == {"height": 480, "width": 640}


def test_evidence_columns_have_a_legend_for_every_device_that_wrote_them() -> None:
    streams = (
        VideoStream(slot="a_rgb", evidence=True),
        VideoStream(slot="b_rgb", evidence=True, evidence_prefix="b_rgb_"),
    )
    declared = declaration(streams=streams, master="a_rgb")

    info = info_of(declared, columns_written=["ts_src", "b_rgb_ts_src", "b_rgb_rgb_dup"])

    assert set(info["column_codes"]) == {"ts_src", "b_rgb_ts_src", "b_rgb_rgb_dup"}
    assert info["column_codes"]["b_rgb_ts_src"] == {
        "0": "none",
        "1": "sensor timestamp",
        "2": "frame timestamp",
        "3": "host",
    }
    assert "column_codes" not in info_of(declaration())


def test_info_without_video_says_so() -> None:
    declared = declaration(streams=(VectorStream(column="observation.left_glove", shape=(16, 16)),), master=None)

    assert info_of(declared)["video"] is False


def test_damaged_parts_of_an_old_info_are_replaced_not_tripped_over() -> None:
    old: dict[str, Any] = {
        **info_of(declaration()),
        "features": [],
        "cameras": None,
        "sensors": 3,
        "total_episodes": "x",
    }

    info = info_of(declaration(), old)

    assert set(info["cameras"]) == set(seed_info()["cameras"])
    assert info["total_episodes"] == 1


def test_what_is_written_is_read_back_the_same(tmp_path: Path) -> None:
    path = tmp_path / "info.json"
    info = info_of(declaration())
    path.write_text(json_text(info), encoding="utf-8")

    assert read_info(path) == info
    assert "示例任务" in path.read_text(encoding="utf-8")
    assert path.read_text(encoding="utf-8").startswith('{\n  "')


def test_the_info_of_a_read_task_can_be_carried_on(tmp_path: Path) -> None:
    path = tmp_path / "info.json"
    path.write_text('{"format": "pooled_episodes_v1", "x": NaN, "y": 1e999, "z": [-Infinity]}')

    old = read_info(path)

    assert (old["x"], old["y"], old["z"]) == (None, None, [None])
    json_text(
        next_info(
            old, declaration(), number=EpisodeNumber(0), columns_written=[], cameras={}, video_extensions={}, now=0.0
        )
    )


@pytest.mark.parametrize("text", ['{"format": "lerobot_v3"}', "{}", '{"format": ["pooled_episodes_v1"]}'])
def test_another_format_is_refused_never_guessed(tmp_path: Path, text: str) -> None:
    path = tmp_path / "info.json"
    path.write_text(text)

    with pytest.raises(UnknownFormatError, match=r"info\.json"):
        read_info(path)


def test_a_directory_without_info_is_no_task(tmp_path: Path) -> None:
    with pytest.raises(UnknownFormatError, match="no task"):
        read_info(tmp_path / "meta" / "info.json")


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b"{",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"format": "pooled_episodes_v1", "task_name": "\\ud800"}',
        b'{"format": "pooled_episodes_v1"}' + b" " * (64 * 1024 * 1024),
    ],
    ids=["empty", "list", "cut", "not utf-8", "deep", "half a surrogate pair", "too large"],
)
def test_a_damaged_info_is_named(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "info.json"
    path.write_bytes(text)

    with pytest.raises(CorruptFileError, match=r"info\.json"):
        read_info(path)


def test_a_folder_in_place_of_info_is_named(tmp_path: Path) -> None:
    (tmp_path / "info.json").mkdir()

    with pytest.raises(CorruptFileError, match=r"info\.json"):
        read_info(tmp_path / "info.json")


def test_tasks_jsonl_is_one_line_with_the_raw_name() -> None:
    assert json.loads(tasks_jsonl("抓 杯子/1")) == {"task_index": 0, "task": "抓 杯子/1"}
    assert tasks_jsonl("a").endswith("\n")
    assert tasks_jsonl("a").count("\n") == 1
    assert json.loads(tasks_jsonl(""))["task"] == "default recording"
