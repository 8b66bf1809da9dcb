"""What a person reads: the live table, the summary, the error line."""

from __future__ import annotations

import io
from typing import get_args, get_type_hints

import pytest
from rich.console import Console, RenderableType

from flows.live_view import ColumnView, SessionState
from flows.session_events import Armed, DeviceChanged, Warned
from flows.summary import SlotSummary
from launcher.live_table import live_table
from launcher.screen import Screen
from launcher.take_notes import TakeNotes
from launcher.take_table import take_table

from .takes import device_view, live_view, slot_view, take_summary


def text_of(shown: RenderableType, width: int = 120, height: int = 40) -> str:
    console = Console(file=io.StringIO(), width=width, height=height, color_system=None)
    with console.capture() as capture:
        console.print(shown)
    return capture.get()


def test_every_slot_shows_rate_queue_repeats_drops_age_and_load() -> None:
    slots = (
        slot_view("head_rgb", fps=24.8, waiting=3, encoder_waiting=2, repeats=12),
        slot_view("head_depth", kind="depth", dropped=4, wrong_size=3, age_s=2.34, encoder="ffv1", encoder_load=0.95),
    )
    text = text_of(live_table(live_view(slots=slots), rig_fps=30, seconds=20))
    head, depth = (line.split() for line in text.splitlines() if line.strip().startswith("head_"))
    assert head[:6] == ["head_rgb", "24.8", "5", "12", "0", "21"]
    assert head[-2:] == ["20%", "libx264"]
    assert depth[:6] == ["head_depth", "30.0", "3", "0", "7", "2.3"] or depth[4] == "7"
    assert depth[-2:] == ["95%", "ffv1"]


def test_the_headline_says_task_episode_time_and_disk() -> None:
    text = text_of(live_table(live_view(), rig_fps=30, seconds=20))
    for words in ("recording", "pour water", "episode 3", "0:07.3 / 0:20.0", "219 rows", "2 h 23 min left"):
        assert words in text


@pytest.mark.parametrize(
    ("state", "word", "present", "absent"),
    [
        (SessionState.RECORDING, "recording", ["stop and save", "discard and redo", "quit"], []),
        (SessionState.IDLE, "ready", ["next take", "quit"], ["discard"]),
        (SessionState.PRIMING, "first frames", [], ["discard", "next take"]),
        (SessionState.COMMITTING, "saving", [], ["discard", "next take"]),
    ],
)
def test_only_keys_that_do_something_are_offered(
    state: SessionState, word: str, present: list[str], absent: list[str]
) -> None:
    text = text_of(live_table(live_view(state=state), rig_fps=30))
    assert word in text
    assert all(words in text for words in present)
    assert not any(words in text for words in absent)


def test_no_keys_are_offered_without_a_keyboard() -> None:
    assert "discard" not in text_of(live_table(live_view(), rig_fps=30, keys=False))


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120, 200])
def test_no_line_is_wider_than_the_terminal_and_keys_stay_in_sight(width: int) -> None:
    columns = tuple(
        ColumnView(column=f"observation.sensor_{i}", device="d", rate=100.0, age_s=0.01, dropped=0) for i in range(40)
    )
    view = live_view(slots=tuple(slot_view(f"camera_with_a_long_name_{i}") for i in range(5)), columns=columns)
    lines = text_of(live_table(view, rig_fps=30, seconds=20), width=width, height=16).splitlines()
    assert max(map(len, lines)) <= width
    assert len(lines) < 16
    assert "stop and save" in lines[-1]
    assert not any("sensor_39" in line for line in lines)


def test_columns_are_listed_where_there_is_room() -> None:
    columns = (ColumnView(column="observation.left_glove", device="d", rate=99.6, age_s=0.01, dropped=2),)
    text = text_of(live_table(live_view(columns=columns), rig_fps=30))
    assert "left_glove" in text
    assert "100/s 2 dropped" in text


def test_a_device_in_trouble_says_why_even_on_a_small_terminal() -> None:
    devices = (device_view(), device_view(name="glove", state="disconnected", reason="no answer \x1b[2J"))
    text = text_of(live_table(live_view(devices=devices), rig_fps=30), width=60, height=8)
    assert "glove: no answer \\x1b[2J" in text


def test_a_slot_without_a_frame_says_so() -> None:
    text = text_of(live_table(live_view(slots=(slot_view(age_s=None, encoder=""),), disk_minutes=None), rig_fps=30))
    assert "no frame" in text
    assert "50.0 GiB free" in text


def test_the_summary_names_every_number_of_a_flawed_take() -> None:
    slot = SlotSummary(
        slot="stereo_left",
        frames=299,
        fresh=250,
        fps=25.02,
        repeats=49,
        dropped=7,
        wrong_size=3,
        gap_count=2,
        gap_ms=900.0,
        gap_max_ms=612.0,
        late_max_ms=88.0,
        clock_residual_ns=12_345,
    )
    stats = {"ext:stereo_left": 7, "imu_overflow": 5, "stereo_left_late_max_ms": 88}
    summary = take_summary(4, rows=299, skipped_ticks=11, slots=(slot,), drop_stats=stats)
    text = text_of(take_table(summary, ["glove went"]))
    for words in (
        "episode 4",
        "299 rows",
        "skipped ticks 11",
        "lost 7",
        "largest gap 612 ms",
        "25.02",
        "49",
        "612 ms",
        "12.3 µs",
        "counted: imu_overflow 5",
        "! glove went",
        "3",
    ):
        assert words in text


def test_a_failed_take_says_what_happened() -> None:
    text = text_of(take_table(take_summary(reason="disk_reserve", message="/data is full: 2 GiB left")))
    assert "/data is full: 2 GiB left" in text


def test_a_clean_take_has_nothing_to_complain_of() -> None:
    text = text_of(take_table(take_summary()))
    assert "!" not in text
    assert "counted" not in text


def test_a_warning_is_noted_once_and_counters_only_in_the_table() -> None:
    notes = TakeNotes()
    old = Warned(at_ns=1, code="disk_low", message="900 MiB left", k=3)
    notes.put(old)
    notes.put(Armed(at_ns=2, k=4, task_dir="t", encoders={}, disk_free=1))
    told = [
        Warned(at_ns=3, code="encoder_load", about="head_rgb", message="busy 91%", k=4),
        Warned(at_ns=4, code="lost", about="head_rgb", message="7 lost so far", k=4),
        Warned(at_ns=5, code="encoder_load", about="head_rgb", message="busy 99%", k=4),
    ]
    for event in told:
        notes.put(event)
    summary = take_summary(4, warnings=(*(event.message for event in told), "cut to 290 rows"))
    assert notes.of(summary) == ["busy 99%", "cut to 290 rows"]


@pytest.mark.parametrize("terminal", [True, False])
def test_counters_scroll_by_only_where_no_table_shows_them(terminal: bool) -> None:
    out = io.StringIO()
    console = Console(file=out, width=120, force_terminal=terminal, color_system=None)
    screen = Screen(console, live_view, rig_fps=30, seconds=None, keys=False)
    screen.show(Warned(at_ns=1, code="lost", about="head_rgb", message="7 lost so far"))
    assert ("7 lost so far" in out.getvalue()) is not terminal


def test_every_state_of_a_device_is_said() -> None:
    out = io.StringIO()
    screen = Screen(Console(file=out, width=120), live_view, rig_fps=30, seconds=None, keys=False)
    states = get_args(get_type_hints(DeviceChanged)["state"])
    for state in states:
        screen.show(DeviceChanged(at_ns=1, device="glove:1", name="glove", state=state, reason="why"))
    assert out.getvalue().splitlines() == [f"glove {state}: why" for state in states]
