"""Rates, events, disk, counters: the small parts of a session."""

from __future__ import annotations

import gc
import sys
from pathlib import Path

import pytest

from flows.disk import DiskBudget, folder_bytes
from flows.errors import SessionError
from flows.event_stream import EventStream
from flows.interpreter import tuned_for_recording
from flows.rate_meter import RateMeter
from flows.session_events import Aborted, EndReason, SessionEvent, Stopped, Warned, event_record
from flows.summary import SlotSummary, TakeSummary

S = 1_000_000_000


def test_a_rate_is_that_of_the_last_second() -> None:
    meter = RateMeter()
    for quarter in range(20):
        meter.look(quarter * S // 4, {"a": quarter * 10 if quarter <= 10 else 100, "b": quarter})
    assert meter.rate("a") == 0
    assert meter.rate("b") == pytest.approx(4)
    assert meter.rate("never seen") == 0


def test_a_rate_is_known_from_the_second_look_on() -> None:
    meter = RateMeter()
    meter.look(0, {"a": 0})
    assert meter.rate("a") == 0
    meter.look(S // 2, {"a": 15})
    assert meter.rate("a") == 30


def test_a_subscriber_that_raises_is_cut_off_and_the_others_hear_everything() -> None:
    stream, heard, tried = EventStream(), list[SessionEvent](), list[SessionEvent]()

    def failing(event: SessionEvent) -> None:
        tried.append(event)
        raise ValueError("no")

    stream.events.subscribe(failing)
    stream.events.subscribe(heard.append)
    events = [Aborted(at_ns=n, k=n) for n in range(3)]
    for event in events:
        stream.emit(event)
    assert heard == events
    assert tried == events[:1]


def test_a_disposed_subscriber_hears_nothing_more_and_a_late_one_of_a_closed_stream_completes() -> None:
    stream, heard, ended = EventStream(), list[SessionEvent](), list[bool]()
    subscription = stream.events.subscribe(heard.append)
    subscription.dispose()
    stream.emit(Aborted(at_ns=0, k=0))
    stream.close()
    stream.close()
    stream.events.subscribe(heard.append, on_completed=lambda: ended.append(True))
    stream.emit(Aborted(at_ns=0, k=0))
    assert heard == []
    assert ended == [True]


def test_an_event_that_makes_another_is_told_before_it_is_over() -> None:
    stream, heard = EventStream(), list[int]()

    def echo(event: SessionEvent) -> None:
        heard.append(event.at_ns)
        if event.at_ns == 0:
            stream.emit(Aborted(at_ns=1, k=0))

    stream.events.subscribe(echo)
    stream.emit(Aborted(at_ns=0, k=0))
    assert heard == [0, 1]


def test_an_event_record_is_plain_and_names_its_event() -> None:
    event = Stopped(at_ns=5, k=1, reason=EndReason.DISK_RESERVE, rows=7, drain_s=0.5)
    assert event_record(event) == {
        "event": "stopped",
        "at_ns": 5,
        "k": 1,
        "reason": "disk_reserve",
        "rows": 7,
        "drain_s": 0.5,
        "message": "",
    }
    assert event_record(Warned(at_ns=1, code="gap", message="m"))["about"] == ""


def test_only_ends_that_nobody_wanted_are_failures() -> None:
    wanted = {reason for reason in EndReason if not reason.is_failure}
    assert wanted == {EndReason.STOPPED, EndReason.SECONDS, EndReason.SOURCE_ENDED}


def test_the_total_of_a_summary_counts_frames_and_no_milliseconds() -> None:
    slot = SlotSummary(slot="a", frames=3, fresh=3, fps=30.0, gap_max_ms=140.0)
    summary = TakeSummary(
        k=0,
        task="t",
        reason="stopped",
        message="",
        rows=3,
        seconds=0.1,
        fps=30.0,
        skipped_ticks=0,
        late_p99_ms=0.0,
        late_max_ms=0.0,
        slots=(slot,),
        drop_stats={"ext:a": 2, "a_wrong_size": 1, "a_gap_ms": 900, "a_repeat_count": 5, "imu_overflow": 4},
        drain_s=0.0,
        commit_s=0.0,
        warnings=(),
        data_path="",
    )
    assert summary.lost == 3
    assert summary.gap_max_ms == 140.0


def test_a_disk_below_its_reserve_is_refused_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(SessionError, match=r"are kept in reserve; delete something, or record to another disk"):
        DiskBudget(tmp_path, reserve=10**18, warning=0).require()


def test_the_budget_of_a_folder_that_is_not_there_yet_is_that_of_its_disk(tmp_path: Path) -> None:
    budget = DiskBudget(tmp_path / "not" / "yet", reserve=0, warning=10**18)
    free = budget.require()
    assert free > 0
    assert budget.is_low(free)


def test_the_size_of_a_folder_is_that_of_all_its_files(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "a").write_bytes(b"123")
    (tmp_path / "sub" / "b").write_bytes(b"4567")
    assert folder_bytes(tmp_path) == 7
    assert folder_bytes(tmp_path / "gone") == 0


def test_the_interpreter_is_put_back_by_the_last_take() -> None:
    before = sys.getswitchinterval()
    with tuned_for_recording():
        with tuned_for_recording():
            assert sys.getswitchinterval() == pytest.approx(0.0005)
        assert sys.getswitchinterval() == pytest.approx(0.0005)
        assert gc.get_freeze_count() > 0
    assert sys.getswitchinterval() == pytest.approx(before)
    assert gc.get_freeze_count() == 0
