"""A recorder that is killed keeps all but its last second of video."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from episodes.video import VideoReader, probe
from episodes.video_file import Wanted
from sinks.video_settings import DEPTH_CODECS, VIDEO_CODECS
from sinks.video_trim import readable_frames, trim_video
from tests.numbered_pictures import read_number

SECOND = 30
ROOT = Path(__file__).resolve().parents[2]
RECORDER = Path(__file__).with_name("record_until_killed.py")
NAMES = [name for name in VIDEO_CODECS if name != "hevc_nvenc"] + list(DEPTH_CODECS)


def _record_and_kill(path: Path, name: str, at: int) -> int:
    """Kill the recorder with SIGKILL when it has handed picture ``at`` over; the last picture it told of."""
    command = [sys.executable, str(RECORDER), str(path), name]
    with subprocess.Popen(command, cwd=ROOT, env={"PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        last = -1
        for line in child.stdout:
            last = int(line)
            if last == at:
                child.kill()
    assert last >= at
    return last


@pytest.mark.parametrize("name", NAMES)
def test_a_killed_recorder_loses_at_most_its_last_second(name: str, tmp_path: Path) -> None:
    settings = VIDEO_CODECS.get(name) or DEPTH_CODECS[name]
    kind: Wanted = "depth" if name in DEPTH_CODECS else "rgb"
    at = random.Random(name).randrange(60, 120)
    path, whole = tmp_path / f"slot.{settings.extension}", tmp_path / f"whole.{settings.extension}"
    last = _record_and_kill(path, name, at)
    frames = readable_frames(path)
    # Picture numbers count from 0: frame ``last`` is the one handed over last, up to one more may have followed it.
    assert last + 1 - SECOND <= frames <= last + 2
    trim_video(path, whole, frames, 30)
    with VideoReader(whole, kind=kind) as reader:
        assert [read_number(frame) for frame in reader] == list(range(frames))
    assert probe(whole, kind).first_off_grid(30) is None
