"""TUM lines are read leniently, and no number that is not there is made up."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from operators.errors import DeviceError
from sources.tum import parse_tum_line, tum_file
from tests.source_events import Listener

LINE = "1305031102.160407 1.344379 0.627206 1.661754 0.658249 0.611043 -0.294444 -0.326553"


def test_a_line_is_a_pose_with_its_own_time() -> None:
    point = parse_tum_line(LINE, 7)
    assert point is not None
    assert point.t == 1305031102.160407
    assert point.pose == (1.344379, 0.627206, 1.661754, 0.658249, 0.611043, -0.294444, -0.326553)
    assert point.host_ns == 7


@pytest.mark.parametrize("line", [LINE.replace(" ", ", "), LINE.replace(" ", "\t"), f"  {LINE}\r\n", f"{LINE} # end"])
def test_separators_and_comments_do_not_matter(line: str) -> None:
    assert parse_tum_line(line, 0) == parse_tum_line(LINE, 0)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "# timestamp tx ty tz qx qy qz qw",
        "1 2 3 4 5 6 7",
        "1 2 3 4 5 6 7 8 9 10",
        "1 2 3 x 5 6 7 8",
        "nan 0 0 0 0 0 0 1",
        "1 inf 0 0 0 0 0 1",
        "[INFO] tracker ready, fps 30",
        b"\xff\xfe\x00garbage",
    ],
)
def test_what_is_no_pose_gives_none(line: bytes | str) -> None:
    assert parse_tum_line(line, 0) is None


@pytest.mark.parametrize(
    ("field", "stamp"), [("123456789012345", 123456789012345), ("0", None), ("-5", None), ("x", None), ("9" * 30, None)]
)
def test_a_ninth_field_is_the_stamp_and_a_bad_one_does_not_cost_the_pose(field: str, stamp: int | None) -> None:
    point = parse_tum_line(f"{LINE} {field}", 7)
    assert point is not None
    assert point.host_ns == stamp


@given(st.binary(max_size=200))
def test_no_bytes_raise(line: bytes) -> None:
    point = parse_tum_line(line, 0)
    assert point is None or len(point.pose) == 7


def test_a_file_is_replayed_at_its_own_intervals(tmp_path: Path) -> None:
    path = tmp_path / "poses.txt"
    times = [10.0, 10.01, 10.05, 10.06]
    path.write_text("# a comment\n" + "".join(f"{t} 0 0 0 0 0 0 1\n" for t in times) + "garbage line\n")
    with Listener(tum_file(path, key="tracker:poses.txt")) as heard:
        heard.until_end()
    assert heard.completed
    assert [point.t for point in heard.points] == times
    first = heard.points[0].host_ns
    assert first is not None
    assert [(point.host_ns or 0) - first for point in heard.points] == [0, 10_000_000, 50_000_000, 60_000_000]


def test_time_that_goes_back_is_a_restart_and_not_a_wait(tmp_path: Path) -> None:
    path = tmp_path / "poses.txt"
    path.write_text("".join(f"{t} 0 0 0 0 0 0 1\n" for t in (1000.0, 1000.01, 0.0, 0.01)))
    with Listener(tum_file(path, key="tracker:poses.txt")) as heard:
        heard.until_end()
    stamps = [point.host_ns or 0 for point in heard.points]
    assert [point.t for point in heard.points] == [1000.0, 1000.01, 0.0, 0.01]
    assert stamps == sorted(stamps)


def test_a_line_of_megabytes_is_garbage_once_and_its_end_is_no_pose(tmp_path: Path) -> None:
    path = tmp_path / "poses.txt"
    path.write_bytes(b"x" * 3_000_000 + b" 1 2 3 4 5 6 7 8\n" + LINE.encode())
    with Listener(tum_file(path, key="tracker:poses.txt")) as heard:
        heard.until_end()
    assert [point.t for point in heard.points] == [1305031102.160407]


def test_a_file_without_a_pose_fails_and_is_named(tmp_path: Path) -> None:
    path = tmp_path / "empty.txt"
    path.write_text("# nothing\n")
    with Listener(tum_file(path, key="tracker:empty.txt")) as heard:
        heard.until_end()
    assert isinstance(heard.error, DeviceError)
    assert "empty.txt has no pose" in str(heard.error)


def test_a_missing_file_fails_and_is_named(tmp_path: Path) -> None:
    with Listener(tum_file(tmp_path / "gone.txt", key="tracker:gone.txt")) as heard:
        heard.until_end()
    assert "gone.txt cannot be read" in str(heard.error)


def test_disposing_ends_the_wait_for_a_pose_of_tomorrow(tmp_path: Path) -> None:
    path = tmp_path / "poses.txt"
    path.write_text("0 0 0 0 0 0 0 1\n1e15 0 0 0 0 0 0 1\n")
    with Listener(tum_file(path, key="tracker:poses.txt")) as heard:
        heard.until_count(1)
    assert len(heard.events) == 1
    assert not heard.ended
