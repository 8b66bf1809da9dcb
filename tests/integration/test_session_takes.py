"""Sessions on fake devices: takes that go well, through to the committed files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from episodes.errors import ContractError, TaskBusyError
from episodes.reader import open_task
from flows.errors import SessionError
from flows.live_view import SessionState
from flows.session_events import Committed, EndReason
from tests.fake_devices import camera, camera_script, tracker, vector_sensor
from tests.session_bench import deep_findings, open_session, threads, wait_until


def test_a_take_becomes_an_episode_that_the_validator_has_nothing_against(tmp_path: Path) -> None:
    flows = [
        camera("head", camera_script(30, depth_port="depth"), depth="head_depth", status=True),
        vector_sensor("observation.load"),
        tracker(30),
    ]
    session, told = open_session(flows, tmp_path)
    with session:
        assert session.start(seconds=1.0) == 0
        assert session.wait(20) is EndReason.SECONDS
        summary = session.stop()
    assert told.names() == ["Armed", "Primed", "Recording", "Stopped", "Committed"]
    assert deep_findings(session.task_dir) == []
    episode = open_task(session.task_dir).episode(0)
    assert episode.length == summary.rows
    assert [len(episode.video("head")), len(episode.depth("head_depth"))] == [summary.rows] * 2
    assert list(episode.trajectories["observation.ego_slam_trajectory"].points[:, 0]) == [float(n) for n in range(30)]
    assert dict(episode.drop_stats) == dict(summary.drop_stats)
    assert told.of(Committed)[0].summary == summary
    assert not list(session.task_dir.glob(".*.recording"))


def test_the_devices_stay_open_over_takes_and_each_take_has_its_own_frames(tmp_path: Path) -> None:
    session, _told = open_session([camera("head", camera_script(60))], tmp_path)
    with session:
        for k in range(3):
            assert session.start(seconds=0.3) == k
            session.wait(20)
            assert session.stop().k == k
        assert session.live().devices[0].failures == 0
    stamps = [open_task(session.task_dir).episode(k).frame_ns("head") for k in range(3)]
    assert stamps[0].max() < stamps[1].min() < stamps[1].max() < stamps[2].min()


def test_ten_takes_leave_no_thread_behind(tmp_path: Path) -> None:
    before = threads()
    session, _told = open_session([camera("head", camera_script(60))], tmp_path)
    with session:
        idle = threads()
        for k in range(10):
            session.start(seconds=0.1)
            session.wait(20)
            session.stop() if k % 2 else session.discard()
            assert threads() == idle
    assert threads() == before


def test_a_discarded_take_leaves_nothing_and_frees_its_number(tmp_path: Path) -> None:
    session, told = open_session([camera("head")], tmp_path)
    with session:
        session.start()
        wait_until(lambda: session.live().rows > 5)
        session.discard()
        left = [path for path in session.task_dir.rglob("*") if path.is_file()]
        assert {path.name for path in left} <= {".lock", "recycled_episode.json"}
        assert session.start(seconds=0.2) == 0
        session.wait(20)
        session.stop()
    assert told.names()[:5] == ["Armed", "Primed", "Recording", "Stopped", "Aborted"]
    assert deep_findings(session.task_dir) == []


def test_a_folder_played_as_a_device_ends_the_take_with_one_row_a_frame(tmp_path: Path) -> None:
    flow = camera("head", camera_script(30, count=20, depth_port="depth"), depth="head_depth", ends_take=True)
    session, _told = open_session([flow], tmp_path)
    with session:
        session.start()
        assert session.wait(20) is EndReason.SOURCE_ENDED
        assert session.state is SessionState.ENDED
        summary = session.stop()
    slot = summary.slots[0]
    assert slot.fresh + slot.dropped == 20
    assert summary.rows == slot.fresh + slot.repeats
    shown = [int(image[0, 0]) for image in open_task(session.task_dir).episode(0).depth("head_depth")]
    assert shown == sorted(shown)
    assert (shown[0], shown[-1], len(set(shown))) == (500, 519, slot.fresh)


def test_closing_saves_the_take_that_goes_on(tmp_path: Path) -> None:
    session, _told = open_session([camera("head")], tmp_path)
    with session:
        session.start()
        wait_until(lambda: session.live().rows > 3)
    assert open_task(session.task_dir).episode(0).length > 3
    session.close()


def test_an_error_of_the_caller_does_not_lose_the_take(tmp_path: Path) -> None:
    session, _told = open_session([camera("head")], tmp_path)

    def act() -> None:
        with session:
            session.start()
            wait_until(lambda: session.live().rows > 3)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        act()
    assert len(open_task(session.task_dir).episodes) == 1


def test_a_second_recorder_on_a_task_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    first, _told = open_session([camera("head")], tmp_path)
    second, told = open_session([camera("head")], tmp_path)
    with first, second:
        first.start()
        before = sorted(first.task_dir.iterdir())
        with pytest.raises(TaskBusyError, match="records episode 0"):
            second.start()
        assert sorted(first.task_dir.iterdir()) == before
        assert second.state is SessionState.IDLE
        first.stop()
        assert second.start(seconds=0.1) == 1
        second.wait(20)
        second.stop()
    assert told.names()[0] == "Failed"
    assert deep_findings(first.task_dir) == []


def test_two_recorders_on_two_tasks_do_not_disturb_each_other(tmp_path: Path) -> None:
    first, _told = open_session([camera("head")], tmp_path, "one")
    second, _told2 = open_session([camera("head")], tmp_path, "two")
    with first, second:
        first.start(seconds=0.4)
        second.start(seconds=0.4)
        assert first.wait(20) is second.wait(20) is EndReason.SECONDS
        assert first.stop().k == second.stop().k == 0
    assert deep_findings(first.task_dir) == deep_findings(second.task_dir) == []


def record_one(root: Path, task: str = "pour water", fps: float = 30) -> Path:
    session, _told = open_session(
        [camera("head", camera_script(30, depth_port="depth"), depth="head_depth")], root, task, fps=fps
    )
    with session:
        session.start(seconds=0.1)
        session.wait(20)
        session.stop()
    return session.task_dir


def test_another_rate_than_the_task_is_refused_with_both(tmp_path: Path) -> None:
    record_one(tmp_path)
    session, told = open_session([camera("head")], tmp_path, fps=25)
    with pytest.raises(ContractError, match=r"30.*25"):
        session.open()
    session.close()
    assert told.names() == ["Failed"]


def test_another_depth_codec_than_the_task_is_refused_with_its_slot(tmp_path: Path) -> None:
    record_one(tmp_path)
    info_path = tmp_path / "pour_water" / "meta" / "info.json"
    info = json.loads(info_path.read_text())
    info["video_extensions"]["head_depth"] = "mp4"
    info_path.write_text(json.dumps(info))
    session, _told = open_session([camera("head", camera_script(30, depth_port="depth"), depth="head_depth")], tmp_path)
    with session, pytest.raises(ContractError, match="head_depth"):
        session.start()
    assert not list(session.task_dir.glob(".*.recording"))


def test_another_task_of_the_same_directory_is_refused(tmp_path: Path) -> None:
    record_one(tmp_path, "pour water")
    session, _told = open_session([camera("head")], tmp_path, "pour/water")
    with pytest.raises(ContractError, match=r"'pour water'.*'pour/water'"):
        session.open()
    session.close()


@pytest.mark.parametrize("task", ["a/b", "a/../../b", "a.b", "a\0b", "倒水", ""])
def test_any_task_name_stays_below_the_root(tmp_path: Path, task: str) -> None:
    session, _told = open_session([camera("head")], tmp_path, task)
    assert session.task_dir.parent == tmp_path
    session.close()


@pytest.mark.parametrize("task", ["x" * 300, "..", "_hidden"])
def test_a_task_name_that_cannot_be_a_directory_is_refused(tmp_path: Path, task: str) -> None:
    with pytest.raises(ContractError, match="task name"):
        open_session([camera("head")], tmp_path, task)


def test_what_makes_no_sense_now_is_refused_in_words(tmp_path: Path) -> None:
    session, _told = open_session([camera("head")], tmp_path)
    with pytest.raises(SessionError, match="while the session is closed"):
        session.start()
    with session:
        for act in (session.stop, session.discard, session.wait):
            with pytest.raises(SessionError, match="there is no take to"):
                act()
        with pytest.raises(SessionError, match="cannot be recorded"):
            session.start(seconds=0)
        session.start()
        with pytest.raises(SessionError, match="while the session is recording"):
            session.start()
        session.discard()
    with pytest.raises(SessionError, match="opened once"):
        session.open()


def test_the_live_view_shows_slots_columns_and_devices(tmp_path: Path) -> None:
    session, _told = open_session([camera("head"), vector_sensor("observation.load")], tmp_path)
    with session:
        assert session.live().k is None
        session.start()
        wait_until(lambda: session.live().rows > 40)
        view = session.live()
        session.discard()
    assert (view.state, view.k, view.task) == (SessionState.RECORDING, 0, "pour water")
    slot, column = view.slots[0], view.columns[0]
    assert (slot.slot, slot.encoder, slot.device) == ("head", "libx264", "camera:head")
    assert slot.fps == pytest.approx(30, rel=0.3)
    assert column.rate == pytest.approx(100, rel=0.3)
    assert slot.age_s is not None
    assert [device.state for device in view.devices] == ["connected", "connected"]
    assert view.disk_free > 0


def test_a_subscriber_that_raises_disturbs_no_take(tmp_path: Path) -> None:
    session, told = open_session([camera("head")], tmp_path)

    def failing(_event: object) -> None:
        raise RuntimeError("no")

    session.events.subscribe(failing)
    with session:
        session.start(seconds=0.2)
        session.wait(20)
        session.stop()
    assert told.names()[-1] == "Committed"
