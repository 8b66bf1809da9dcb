"""Trackers as processes: real pipes, garbage, torn lines, death."""

from __future__ import annotations

import os
import signal
import sys
import textwrap
import time
from pathlib import Path

import pytest
import reactivex as rx

from operators.errors import DeviceError
from operators.events import Event
from sources.tum import tum_file, tum_process
from tests.shared_data import shared_data
from tests.source_events import Listener

KEY = "tracker:test"


def tracker(script: str, *arguments: str) -> rx.Observable[Event]:
    return tum_process([sys.executable, "-u", "-c", textwrap.dedent(script), *arguments], key=KEY)


def test_every_pose_comes_once_with_a_stamp_and_the_end_completes() -> None:
    with Listener(tracker("for n in range(200): print(n / 30, n, 0, 0, 0, 0, 0, 1)")) as heard:
        heard.until_end()
    assert heard.completed
    assert [point.pose[0] for point in heard.points] == [float(n) for n in range(200)]
    stamps = [point.host_ns or 0 for point in heard.points]
    assert 0 not in stamps
    assert stamps == sorted(stamps)


def test_garbage_and_torn_lines_cost_only_themselves() -> None:
    script = r"""
    import sys
    out = sys.stdout.buffer
    out.write(b"[INFO] ready\n\xff\xfe\n# comment\n1 0 0 0 0 0 0 1\n2 0 0 0\n" + b"x" * 100_000 + b"\n")
    out.write(b"3 0 0 0 0 0 0 1\r\n4 0 0 0 0 ")
    out.flush()
    out.write(b"0 0 1\n5 0 0 0 0 0 0 0.999")
    out.flush()
    """
    with Listener(tracker(script)) as heard:
        heard.until_end()
    assert heard.completed
    # The fifth line was torn by the end: 0.999 may have been 0.99998.
    assert [point.t for point in heard.points] == [1.0, 3.0, 4.0]


def test_a_stamp_that_the_tracker_prints_is_kept() -> None:
    with Listener(tracker("print('1 0 0 0 0 0 0 1 123456789'); print('2 0 0 0 0 0 0 1 garbage')")) as heard:
        heard.until_end()
    assert [point.host_ns for point in heard.points] == [123456789, None]


def test_a_tracker_that_fails_says_why() -> None:
    with Listener(tracker("import sys; print('1 0 0 0 0 0 0 1'); sys.exit('no camera found')")) as heard:
        heard.until_end()
    assert str(heard.error) == f"{KEY}: the tracker ended with status 1: no camera found"
    assert len(heard.points) == 1


def test_a_tracker_that_is_killed_fails_and_can_be_started_again() -> None:
    script = "import os, time\nprint(os.getpid(), 0, 0, 0, 0, 0, 0, 1)\ntime.sleep(60)"
    source = tracker(script)
    pids = set()
    for _ in range(2):
        with Listener(source) as heard:
            heard.until_count(1)
            pid = int(heard.points[0].t)
            pids.add(pid)
            os.kill(pid, signal.SIGKILL)
            heard.until_end()
        assert str(heard.error) == f"{KEY}: the tracker was ended by signal 9"
    assert len(pids) == 2


def test_disposing_terminates_the_tracker_and_what_it_started() -> None:
    script = """
    import os, subprocess, sys, time
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    print(os.getpid(), child.pid, 0, 0, 0, 0, 0, 1)
    time.sleep(60)
    """
    with Listener(tracker(script)) as heard:
        heard.until_count(1)
        pids = [int(heard.points[0].t), int(heard.points[0].pose[0])]
    assert [has_ended(pid) for pid in pids] == [True, True]


def test_a_tracker_that_ignores_the_wish_to_end_is_killed() -> None:
    script = """
    import os, signal, time
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print(os.getpid(), 0, 0, 0, 0, 0, 0, 1)
    time.sleep(60)
    """
    with Listener(tracker(script)) as heard:
        heard.until_count(1)
        pid = int(heard.points[0].t)
    assert has_ended(pid)


def test_a_tracker_that_floods_its_standard_error_is_not_blocked_by_it() -> None:
    script = "import sys\nfor n in range(50): print(n, 0, 0, 0, 0, 0, 0, 1); sys.stderr.write('e' * 10_000)"
    with Listener(tracker(script)) as heard:
        heard.until_end()
    assert heard.completed
    assert len(heard.points) == 50


def test_a_tracker_that_closes_its_output_and_stays_is_a_failure() -> None:
    with Listener(tracker("import os, time\nos.close(1); os.close(2); time.sleep(60)")) as heard:
        heard.until_end()
    assert "closed its output" in str(heard.error)


def test_arguments_are_not_seen_by_a_shell(tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    with Listener(tracker("import sys; print(len(sys.argv), 0, 0, 0, 0, 0, 0, 1)", f"; touch {trap}")) as heard:
        heard.until_end()
    assert heard.points[0].t == 2.0
    assert not trap.exists()


@pytest.mark.parametrize("command", [["/no/such/tracker"], ["\0"], ["/"]])
def test_a_command_that_cannot_be_started_fails_by_name(command: list[str]) -> None:
    with Listener(tum_process(command, key=KEY)) as heard:
        heard.until_end()
    assert isinstance(heard.error, DeviceError)
    assert "cannot be started" in str(heard.error)


def test_a_slam_systems_own_file_is_replayed_at_its_irregular_intervals(tmp_path: Path) -> None:
    lines = shared_data("trajectories", "freiburg1_xyz-rgbdslam.txt").read_text().splitlines()
    path = tmp_path / "part.txt"
    path.write_text("\n".join(lines[:40]))
    with Listener(tum_file(path, key=KEY)) as heard:
        heard.until_end()
    times = [float(line.split()[0]) for line in lines[1:40]]
    assert [point.t for point in heard.points] == times
    stamps = [point.host_ns or 0 for point in heard.points]
    expected = [round((t - times[0]) * 1e9) for t in times]
    assert [stamp - stamps[0] for stamp in stamps] == expected


def has_ended(pid: int) -> bool:
    """Whether a process is gone, or dead and not yet collected by whoever has inherited it, within ten seconds."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state in "ZX":
            return True
        time.sleep(0.01)
    return False
