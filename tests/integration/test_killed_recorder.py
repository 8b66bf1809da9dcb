"""A recorder that is killed outright, at random moments: what was committed stays, its take comes back."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from episodes.paths import next_number
from episodes.staging import find_stagings
from episodes.validator import validate_task
from episodes.video import VideoReader
from sinks.commit import commit_staging
from sinks.recovery import recover_task
from tests import small_takes

ROOT = Path(__file__).resolve().parents[2]
LAST_SECOND = 30
"""Rows that a kill may cost."""


def spawn(module: str, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", module, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT
    )


def kill(process: subprocess.Popen[bytes]) -> bytes:
    """SIGKILL; gives what it had printed."""
    os.kill(process.pid, signal.SIGKILL)
    out, error = process.communicate(timeout=30)
    assert process.returncode in (-signal.SIGKILL, 0), error.decode()
    return out


def committed_files(task: Path) -> dict[str, bytes]:
    return {
        path.relative_to(task).as_posix(): path.read_bytes()
        for path in sorted(task.rglob("episode-000*"))
        if path.is_file()
    }


def check(root: Path, before: dict[str, bytes], written: int) -> None:
    """Episode 0 as it was; of the take all rows but the last second's; everything about it agrees."""
    paths = small_takes.paths(root)
    task = paths.task_dir
    assert committed_files(task) == before
    assert find_stagings(paths) == []
    info = json.loads(paths.info.read_text())
    stats = json.loads(paths.stats.read_text())
    report = validate_task(task, deep=True)
    assert [finding for finding in report.findings if finding.severity in ("error", "warning")] == []
    data = task / "data" / "chunk-000" / "episode-001.parquet"
    if not data.exists():
        assert written <= LAST_SECOND, f"{written} rows are lost"
        assert next_number(paths, info).k == 1
        return
    rows = pq.read_metadata(data).num_rows
    assert rows >= written - LAST_SECOND, f"{written - rows} rows are lost"
    assert stats["observation.level"]["count"] == 3 + (rows + 1) // 2
    assert next_number(paths, info).k == 2
    with VideoReader(task / "videos/chunk-000/head_rgb/episode-001.mp4", kind="rgb") as video:
        shown = [small_takes.number_of(image) for image in video]
    assert shown == [(row - 1 if row % 3 == 2 else row) % 40 for row in range(rows)]


def first_episode(root: Path) -> dict[str, bytes]:
    paths, staging = small_takes.record(root, 5)
    commit_staging(paths, staging)
    return committed_files(paths.task_dir)


def kill_and_recover(root: Path, seed: int) -> None:
    chance = random.Random(seed)
    before = first_episode(root)
    recorder = spawn("tests.killed_recorder", str(root))
    assert recorder.stdout is not None
    assert recorder.stdout.readline() == b"open\n"
    # From before the first row to after the commit, which begins at row 60, two seconds in.
    time.sleep(chance.uniform(0.0, 2.6))
    lines = kill(recorder).split()
    written = len([line for line in lines if line.isdigit()])
    if chance.random() < 0.5:
        recovery = spawn("tests.killed_recovery", str(small_takes.paths(root).task_dir))
        time.sleep(chance.uniform(0.2, 1.0))
        kill(recovery)
    recover_task(small_takes.paths(root).task_dir)
    check(root, before, written)


@pytest.mark.parametrize("seed", range(5))
def test_a_killed_recorder_costs_at_most_its_last_second(tmp_path: Path, seed: int) -> None:
    kill_and_recover(tmp_path, seed)
