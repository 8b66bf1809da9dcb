"""Sessions whose devices, encoders, disk or neighbours fail: the take is saved as far as it is good, never silently."""

from __future__ import annotations

import shutil
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import flows.finish
import sinks.pictures
import sinks.video_writer
from episodes.errors import UnknownFormatError
from episodes.reader import open_task
from flows.errors import SessionError
from flows.live_view import SessionState
from flows.session_events import DeviceChanged, EndReason, Failed, RecoveredTake, Stopped, Warned
from operators.errors import DeviceError
from operators.events import Event
from tests.fake_devices import Emit, camera, camera_script, frame
from tests.session_bench import deep_findings, open_session, wait_until


def test_a_device_that_dies_is_told_and_the_rows_go_on(tmp_path: Path) -> None:
    dying = camera_script(30, count=30, fails="cable pulled")
    session, told = open_session([camera("head", dying, camera_script(30, first=100)), camera("side")], tmp_path)
    with session:
        session.start(seconds=1.5)
        assert session.wait(20) is EndReason.SECONDS
        summary = session.stop()
    changes = [(event.device, event.state, event.reason) for event in told.of(DeviceChanged)]
    assert ("camera:head", "disconnected", "cable pulled") in changes
    assert [state for device, state, _reason in changes if device == "camera:head"] == [
        "connected",
        "disconnected",
        "connected",
    ]
    assert summary.drop_stats["camera_head_disconnect_count"] == 1
    assert summary.slots[1].repeats <= 3
    assert deep_findings(session.task_dir) == []


def test_a_device_that_falls_silent_is_told(tmp_path: Path) -> None:
    script = camera_script(30, stall_at=40, stall_s=1.2)
    session, told = open_session([camera("head", script)], tmp_path, silence_s=0.4)
    with session:
        session.start(seconds=2.8)
        session.wait(20)
        summary = session.stop()
    states = [event.state for event in told.of(DeviceChanged)]
    assert states == ["connected", "silent", "connected"]
    assert summary.slots[0].gap_count >= 1
    assert summary.gap_max_ms > 500
    assert "gap" in {event.code for event in told.of(Warned)}


def test_frames_of_another_size_are_warned_of_and_the_episode_is_whole(tmp_path: Path) -> None:
    def mixed(emit: Emit, stop: threading.Event) -> None:
        for number in range(100_000):
            emit(Event("rgb", frame(number, (64, 64) if number % 10 == 9 else (32, 48))))
            if stop.wait(1 / 30):
                return

    session, told = open_session([camera("head", mixed)], tmp_path)
    with session:
        session.start(seconds=1.0)
        session.wait(20)
        summary = session.stop()
    assert summary.slots[0].wrong_size >= 2
    assert summary.drop_stats["head_wrong_size"] == summary.slots[0].wrong_size
    warned = [event for event in told.of(Warned) if event.code == "wrong_size"]
    assert "64×64" in warned[0].message
    assert deep_findings(session.task_dir) == []


def test_a_slot_that_is_silent_at_the_start_is_named_and_no_number_is_lost(tmp_path: Path) -> None:
    def one_frame(emit: Emit, stop: threading.Event) -> None:
        emit(Event("rgb", frame(0)))
        stop.wait()

    session, told = open_session([camera("head"), camera("mute", one_frame)], tmp_path, prime_timeout_s=0.5)
    with session:
        with pytest.raises(DeviceError, match="camera:mute: slot mute gave no frame"):
            session.start()
        assert session.state is SessionState.IDLE
        assert not list(session.task_dir.glob(".*.recording"))
    assert told.names() == ["Armed", "Failed", "Aborted"]
    failed = told.of(Failed)[0]
    assert (failed.stage, failed.k) == ("prime", 0)


def test_a_camera_that_is_not_there_is_named_with_its_reason(tmp_path: Path) -> None:
    def absent(emit: Emit, stop: threading.Event) -> None:
        raise OSError("no such device")

    session, told = open_session([camera("head", absent)], tmp_path, prime_timeout_s=0.4)
    with session, pytest.raises(DeviceError, match=r"camera:head: slot head .* \(no such device\)"):
        session.start()
    assert told.names() == ["Failed"]
    assert not session.task_dir.exists()


def failing_after(count: int, monkeypatch: pytest.MonkeyPatch, *, slow_s: float = 0.0) -> None:
    """The encoders fail, or need long, from their ``count``-th picture on."""
    real, done = sinks.pictures.av_frame, [0]

    def av_frame(*arguments: Any) -> Any:
        done[0] += 1
        if done[0] > count:
            if not slow_s:
                raise RuntimeError("encoder fell over")
            time.sleep(slow_s)
        return real(*arguments)

    monkeypatch.setattr(sinks.video_writer, "av_frame", av_frame)


def test_an_encoder_that_fails_ends_the_take_which_is_saved_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, told = open_session([camera("head"), camera("side")], tmp_path)
    with session:
        failing_after(60, monkeypatch)
        session.start()
        reason = session.wait(20)
        monkeypatch.undo()
        summary = session.stop()
    assert reason is EndReason.ENCODER_FAILED
    assert "encoder fell over" in summary.message
    assert summary.reason == "encoder_failed"
    assert 0 < summary.rows <= 31
    assert told.of(Stopped)[0].reason is EndReason.ENCODER_FAILED
    assert deep_findings(session.task_dir) == []


def test_an_encoder_that_is_too_slow_ends_the_take_which_is_saved_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, told = open_session([camera("head")], tmp_path)
    with session:
        failing_after(20, monkeypatch, slow_s=0.2)
        session.start()
        reason = session.wait(20)
        summary = session.stop()
    assert reason is EndReason.ENCODER_TOO_SLOW
    assert summary.message.startswith("head: cannot keep up")
    assert summary.rows >= 20
    assert summary.drop_stats["ext:head"] >= 1
    assert told.of(Stopped)[0].reason is EndReason.ENCODER_TOO_SLOW
    assert deep_findings(session.task_dir) == []


class Usage(NamedTuple):
    total: int
    used: int
    free: int


def disk_with(monkeypatch: pytest.MonkeyPatch, free: list[int]) -> None:
    """A disk that has ``free[0]`` bytes."""
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: Usage(10**12, 10**12 - free[0], free[0]))


def test_a_full_disk_is_warned_of_before_and_ends_the_take_saved_at_the_reserve(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = [10**9]
    disk_with(monkeypatch, free)
    session, told = open_session([camera("head")], tmp_path, disk_reserve=10**7, disk_warning=10**8)
    with session:
        session.start()
        wait_until(lambda: session.live().rows > 10)
        free[0] = 5 * 10**7
        wait_until(lambda: any(event.code == "disk_low" for event in told.of(Warned)))
        assert session.end_reason is None
        free[0] = 10**7
        assert session.wait(20) is EndReason.DISK_RESERVE
        summary = session.stop()
    assert summary.rows > 10
    assert "reserve" in summary.message
    assert deep_findings(session.task_dir) == []


def test_without_disk_no_take_begins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk_with(monkeypatch, [10**6])
    session, told = open_session([camera("head")], tmp_path, disk_reserve=10**7)
    with session, pytest.raises(SessionError, match="reserve"):
        session.start()
    assert told.names() == ["Failed"]
    assert not session.task_dir.exists()


def test_a_task_folder_that_somebody_removes_ends_the_take_in_words(tmp_path: Path) -> None:
    session, told = open_session([camera("head")], tmp_path)
    with session:
        session.start()
        wait_until(lambda: session.live().rows > 5)
        shutil.rmtree(session.task_dir)
        assert session.wait(20) is EndReason.WRITER_FAILED
        with pytest.raises(Exception, match=r"\.0\.recording"):
            session.stop()
        assert session.state is SessionState.IDLE
    assert told.of(Failed)[-1].stage == "commit"


def test_a_commit_that_fails_keeps_the_take_and_the_next_start_recovers_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_arguments: Any) -> None:
        raise OSError("disk on fire")

    session, told = open_session([camera("head")], tmp_path)
    with session:
        session.start(seconds=0.5)
        session.wait(20)
        with monkeypatch.context() as patch:
            patch.setattr(flows.finish, "commit_staging", broken)
            with pytest.raises(SessionError, match=r"disk on fire; what was recorded stays in .*\.0\.recording"):
                session.stop()
        assert told.of(Failed)[0].kept == str(session.task_dir / ".0.recording")
        assert session.start(seconds=0.1) == 1
        session.wait(20)
        session.stop()
    assert [(event.k, event.outcome) for event in told.of(RecoveredTake)] == [(0, "rebuilt")]
    assert len(open_task(session.task_dir).episodes) == 2
    assert deep_findings(session.task_dir) == []


def test_a_killed_recorder_s_take_is_recovered_when_the_task_is_opened(tmp_path: Path) -> None:
    program = textwrap.dedent(
        f"""
        import os, pathlib, time
        from tests.fake_devices import camera
        from tests.session_bench import open_session
        session, told = open_session([camera("head")], pathlib.Path({str(tmp_path)!r}))
        session.open()
        session.start()
        while session.live().rows < 60:
            time.sleep(0.01)
        os.kill(os.getpid(), 9)
        """
    )
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run([sys.executable, "-c", program], cwd=root, capture_output=True, check=False, timeout=60)
    assert done.returncode == -9, done.stderr.decode()
    session, told = open_session([camera("head")], tmp_path)
    with session:
        recovered = told.of(RecoveredTake)[0]
        assert (recovered.k, recovered.outcome) == (0, "rebuilt")
        assert recovered.rows >= 60 - 31
        assert session.start(seconds=0.1) == 1
        session.wait(20)
        session.stop()
    assert open_task(session.task_dir).episode(0).drop_stats["recovered_count"] == 1
    assert deep_findings(session.task_dir) == []


def test_a_capture_clock_that_is_not_the_host_s_is_named_at_the_start(tmp_path: Path) -> None:
    def wrong_clock(emit: Emit, stop: threading.Event) -> None:
        for number in range(100_000):
            emit(Event("rgb", frame(number, capture_ns=1_000 + number)))
            if stop.wait(1 / 30):
                return

    session, _told = open_session([camera("head", wrong_clock)], tmp_path, prime_timeout_s=0.4)
    with session, pytest.raises(DeviceError, match="all stamped before the start: its capture clock is not the host's"):
        session.start()


def test_a_root_that_is_a_file_is_refused_in_words_and_nothing_stays_open(tmp_path: Path) -> None:
    root = tmp_path / "file"
    root.write_text("")
    before = {thread.name for thread in threading.enumerate()}
    session, told = open_session([camera("head")], root)
    with session, pytest.raises(SessionError, match="check the folder"):
        session.start()
    assert told.names() == ["Failed"]
    assert {thread.name for thread in threading.enumerate()} == before


def test_a_task_that_cannot_be_read_is_refused_before_a_device_is_opened(tmp_path: Path) -> None:
    info = tmp_path / "pour_water" / "meta" / "info.json"
    info.parent.mkdir(parents=True)
    info.write_text('{"format": "something else"}')
    opened: list[bool] = []

    def noted(emit: Emit, stop: threading.Event) -> None:
        opened.append(True)

    session, told = open_session([camera("head", noted)], tmp_path)
    with pytest.raises(UnknownFormatError, match="something else"):
        session.open()
    assert (opened, session.state) == ([], SessionState.CLOSED)
    assert told.of(Failed)[0].stage == "open"
