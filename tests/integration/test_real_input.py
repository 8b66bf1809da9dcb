"""Recordings of real input through the command line, judged on the stored pictures, not on bookkeeping."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from episodes.depth_codec import mm_to_codes
from episodes.reader import Episode, open_task
from tests.shared_data import shared_data

pytestmark = pytest.mark.slow

RIG_WITH_HEVC = """
from flows import rgbd_folder
from rigs import Rig


def rig(path: str) -> Rig:
    # Slow enough for a lossless encoder on any machine: the codes are judged here, not the speed.
    return Rig(name="hevc", flows=[rgbd_folder(path, fps=5)], fps=5, depth_codec="hevc")
"""


def rigflow(*arguments: str) -> list[dict[str, Any]]:
    """Run the command line as a user's script does; gives its JSON lines."""
    done = subprocess.run(
        [str(Path(sys.executable).with_name("rigflow")), *arguments, "--json"],
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:] + done.stdout[-3000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


def livingroom() -> tuple[Path, list[NDArray[np.uint8]], dict[bytes, int]]:
    """The folder, its colour pictures as small grey ones, and the place of each depth picture by its content."""
    folder = shared_data("livingroom")
    grey = []
    for path in sorted((folder / "color").iterdir()):
        picture = cv2.imread(str(path), cv2.IMREAD_GRAYSCALE)
        assert picture is not None
        grey.append(np.asarray(cv2.resize(picture, (160, 120), interpolation=cv2.INTER_AREA), np.uint8))
    depth: dict[bytes, int] = {}
    for place, path in enumerate(sorted((folder / "depth").iterdir())):
        picture = cv2.imread(str(path), cv2.IMREAD_UNCHANGED)
        assert picture is not None
        depth[np.asarray(picture, np.uint16).tobytes()] = place
    assert len(grey) == len(depth) == 211
    return folder, grey, depth


def colour_places(episode: Episode, slot: str, grey: list[NDArray[np.uint8]]) -> list[int]:
    """Which source picture each stored frame shows: the one that differs least."""
    sources = np.stack(grey).astype(np.int16)
    places = []
    with episode.video(slot) as video:
        for frame in video:
            small = cv2.resize(cv2.cvtColor(frame, cv2.COLOR_RGB2GRAY), (160, 120), interpolation=cv2.INTER_AREA)
            places.append(int(np.abs(sources - small.astype(np.int16)).mean(axis=(1, 2)).argmin()))
    return places


def slots_of(episode: Episode) -> tuple[str, str]:
    colour = [slot for slot in episode.slots if episode.kind(slot) == "rgb"]
    depth = [slot for slot in episode.slots if episode.kind(slot) == "depth"]
    assert len(colour) == len(depth) == 1
    return colour[0], depth[0]


def test_an_rgbd_folder_with_a_live_tracker_is_stored_to_the_millimetre_and_the_point(tmp_path: Path) -> None:
    folder, grey, depth_places = livingroom()
    tracker = shared_data("trajectories", "freiburg1_xyz-rgbdslam.txt")
    events = rigflow(
        "record", "rgbd_folder", "--task", "living room", "--root", str(tmp_path),
        "--param", f"path={folder}", "--param", f"trajectory={tracker}", "--param", "depth_codec=ffv1",
    )  # fmt: skip
    assert any(event["event"] == "committed" for event in events)
    assert rigflow("validate", str(tmp_path / "living_room"), "--deep")[-1].get("errors", 0) == 0

    episode = open_task(tmp_path / "living_room").episode(0)
    colour_slot, depth_slot = slots_of(episode)
    with episode.depth(depth_slot) as depth:
        depth_of_row = [depth_places[frame.tobytes()] for frame in depth]
    assert len(depth_of_row) == episode.length
    # Frame i, row i and depth i show the same moment: the depth is identified exactly, the colour by likeness.
    assert colour_places(episode, colour_slot, grey) == depth_of_row
    steps = np.diff(depth_of_row)
    assert (steps >= 0).all()
    lost = 211 - len(set(depth_of_row))
    assert lost <= episode.drop_stats.get(f"ext:{colour_slot}", 0)

    trajectory = episode.trajectories["observation.ego_slam_trajectory"]
    lines = [line for line in tracker.read_text().splitlines() if line.strip() and not line.startswith("#")]
    source = np.array([[float(word) for word in line.split()] for line in lines])
    first = int(np.flatnonzero(source[:, 0] == trajectory.points[0, 0])[0])
    # Every point that came in the take stands there once, in order, verbatim.
    assert np.array_equal(trajectory.points, source[first : first + len(trajectory)])
    assert trajectory.host_ns is not None
    assert len(trajectory.host_ns) == len(trajectory.points)
    assert (trajectory.host_ns > 0).all()
    assert (np.diff(trajectory.host_ns) > 0).all()
    table = episode.rows(["observation.ego_slam_trajectory", "observation.ego_slam_trajectory_ns"])
    points, stamps = (table.column(name).to_pylist() for name in table.column_names)
    assert [len(row) for row in points] == [8 * len(row) for row in stamps]


def test_log_coded_depth_is_stored_to_the_code(tmp_path: Path) -> None:
    folder, _grey, _places = livingroom()
    rig = tmp_path / "hevc.py"
    rig.write_text(RIG_WITH_HEVC)
    rigflow(
        "record", str(rig), "--task", "codes", "--root", str(tmp_path), "--seconds", "5", "--param", f"path={folder}"
    )  # fmt: skip
    sources = {}
    for place, path in enumerate(sorted((folder / "depth").iterdir())):
        picture = cv2.imread(str(path), cv2.IMREAD_UNCHANGED)
        assert picture is not None
        sources[mm_to_codes(np.asarray(picture, np.uint16)).tobytes()] = place
    episode = open_task(tmp_path / "codes").episode(0)
    _colour, depth_slot = slots_of(episode)
    assert episode.videos[depth_slot].suffix == ".mp4"
    with episode.depth(depth_slot) as depth:
        places = [sources[depth.codes(i).tobytes()] for i in range(len(depth))]
    assert len(places) == episode.length >= 20
    assert (np.diff(places) >= 0).all()


def test_a_video_file_plays_as_a_webcam_to_its_end(tmp_path: Path) -> None:
    video = shared_data("video", "bikes.mp4")
    rigflow(
        "record", "webcam", "--task", "bikes", "--root", str(tmp_path),
        "--param", f"source={video}", "--param", "fps=25",
    )  # fmt: skip
    episode = open_task(tmp_path / "bikes").episode(0)
    (slot,) = episode.slots
    rigflow("validate", str(tmp_path / "bikes"), "--deep")
    lost = episode.drop_stats.get(f"ext:{slot}", 0) + episode.drop_stats.get(f"uvc:{slot}", 0)
    repeats = episode.drop_stats.get(f"{slot}_repeat_count", 0)
    # The file has 250 frames: every one has a row, or is counted as lost. One may lead the take unseen while it primes.
    assert 249 <= episode.length - repeats + lost <= 250
