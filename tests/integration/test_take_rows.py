"""Takes on a real tick thread, from devices that misbehave; the rows go into a list."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from flows.device import DeviceFlow, Port
from flows.device_link import DeviceLink
from flows.rig import Rig
from flows.session_events import EndReason
from flows.take import Take
from flows.take_port import PictureShape
from operators.errors import DeviceError
from operators.events import Event, Point, Sample
from operators.oldest_frame import TickFrame
from operators.rows import Row
from sinks.take_writer import SlotLive
from tests.fake_devices import Emit, camera, camera_script, frame, tracker, vector_sensor

FPS = 50


class RowList:
    """A sink that keeps what it is given, up to ``room`` rows."""

    def __init__(self, room: int = 10**9) -> None:
        self.rows: list[Row] = []
        self.room = room

    def write(self, row: Row) -> bool:
        if len(self.rows) >= self.room:
            return False
        self.rows.append(row)
        return True

    def live(self) -> Mapping[str, SlotLive]:
        return {"a": SlotLive(load=1.0, waiting=15, bound=15)}

    def frames(self, place: int) -> list[TickFrame]:
        found = []
        for row in self.rows:
            value = row.values[place]
            assert isinstance(value, TickFrame)
            found.append(value)
        return found

    def numbers(self, place: int) -> list[int]:
        """The device's number of each fresh frame."""
        return [value.frame.seq or 0 for value in self.frames(place) if not value.repeated]


class Bench:
    """A rig's devices, open; takes of it."""

    def __init__(self, flows: Sequence[DeviceFlow], fps: float = FPS) -> None:
        self.rig = Rig("bench", flows, fps=fps)
        self.changes: list[tuple[str, str]] = []
        self.links = [
            DeviceLink(flow, lambda link: self.changes.append((link.flow.key, link.state)), back_off_s=(0.15,))
            for flow in flows
        ]
        for link in self.links:
            link.open()

    def __enter__(self) -> Bench:
        return self

    def __exit__(self, *_error: object) -> None:
        for link in self.links:
            link.close()

    def shapes(self) -> dict[str, PictureShape]:
        colour, depth = frame(0), frame(0, depth=True)
        return {
            slot: PictureShape.of(depth if "depth" in slot else colour)
            for link in self.links
            for slot in link.flow.slots
        }

    def take(self, sink: RowList, *, seconds: float | None = None, prime_s: float = 3.0) -> Take:
        take = Take(self.rig, self.links, self.shapes())
        take.prime(prime_s)
        take.record(sink, seconds)
        return take


def finished(take: Take) -> Take:
    assert take.ended.wait(10)
    take.join()
    return take


def whole(sink: RowList, take: Take) -> None:
    """One row a tick, in order, numbered without holes, each with its frames."""
    assert [row.tick.index for row in sink.rows] == list(range(len(sink.rows)))
    assert take.rows == len(sink.rows)
    due = [row.tick.due_ns for row in sink.rows]
    assert due == sorted(set(due))


def test_a_take_of_n_seconds_has_n_times_fps_rows_and_a_few_for_the_queues() -> None:
    sink = RowList()
    with Bench([camera("a", camera_script(FPS))]) as bench:
        take = finished(bench.take(sink, seconds=1.0))
    whole(sink, take)
    assert take.reason is EndReason.SECONDS
    assert FPS - take.skipped <= len(sink.rows) <= FPS + 4


@pytest.mark.parametrize("rate", [25.0, 30.84, 120.0])
def test_at_any_rate_every_frame_is_shown_or_counted(rate: float) -> None:
    sink = RowList()
    with Bench([camera("a", camera_script(rate))], fps=30) as bench:
        take = finished(bench.take(sink, seconds=1.5))
    whole(sink, take)
    numbers = sink.numbers(0)
    came = numbers[-1] - numbers[0] + 1
    assert numbers == sorted(set(numbers))
    # What came after the last shown frame is not of the take.
    lost = take.counters()["ext:a"]
    assert len(numbers) <= came <= len(numbers) + lost
    if rate < 30:
        assert lost == 0
        assert take.counters()["a_repeat_count"] == len(sink.rows) - len(numbers) > 0
    if rate > 100:
        assert lost > 0


def test_no_row_leads_with_a_stale_frame() -> None:
    sink = RowList()
    with Bench([camera("a", camera_script(200))]) as bench:
        time.sleep(0.3)  # frames pile up nowhere
        started = time.monotonic_ns()
        take = bench.take(sink)
        time.sleep(0.1)
        take.request_end(EndReason.STOPPED)
        finished(take)
    first = sink.frames(0)[0].frame
    assert first.host_ns >= started
    assert sink.rows[0].tick.at_ns - first.host_ns < 1_000_000_000 / FPS * 3
    assert take.counters()["ext:a"] == take.ports[0].lost


def test_a_slot_that_shows_nothing_is_named_in_time() -> None:
    def silent(emit: Emit, stop: threading.Event) -> None:
        stop.wait()

    with Bench([camera("a", camera_script(FPS)), camera("mute", silent)]) as bench:
        take = Take(bench.rig, bench.links, bench.shapes())
        with pytest.raises(DeviceError, match=r"camera:mute: slot mute gave no frame within 0\.2 s"):
            take.prime(0.2)


def test_depth_is_the_one_of_its_colour_frame_in_every_row() -> None:
    script = camera_script(FPS, depth_port="depth")
    sink = RowList()
    with Bench([camera("a", script, depth="a_depth")]) as bench:
        take = finished(bench.take(sink, seconds=0.6))
    whole(sink, take)
    pairs = [
        (colour.frame.frameset, depth.frame.frameset)
        for colour, depth in zip(sink.frames(0), sink.frames(1), strict=True)
    ]
    assert all(colour == depth for colour, depth in pairs)
    assert not sink.frames(1)[0].repeated


def test_a_device_that_dies_leaves_the_rows_going_and_comes_back() -> None:
    dying = camera_script(FPS, count=20, fails="unplugged")
    sink = RowList()
    with Bench(
        [camera("a", dying, camera_script(FPS, first=1000), status=True), camera("b", camera_script(FPS))]
    ) as bench:
        take = finished(bench.take(sink, seconds=1.2))
    whole(sink, take)
    assert ("camera:a", "disconnected") in bench.changes
    assert bench.changes.count(("camera:a", "connected")) == 2
    assert max(sink.numbers(0)) > 1000
    assert take.counters()["camera_a_disconnect_count"] == 1
    assert {row.values[1] for row in sink.rows} == {"connected", "disconnected"}
    assert sink.rows[0].values[1] == sink.rows[-1].values[1] == "connected"


def test_a_device_that_stalls_is_a_gap_and_repeats() -> None:
    sink = RowList()
    script = camera_script(FPS, stall_at=25, stall_s=0.5)
    with Bench([camera("a", script)]) as bench:
        take = finished(bench.take(sink, seconds=1.2))
    whole(sink, take)
    counters = take.counters()
    assert counters["a_gap_count"] == 1
    assert counters["a_gap_max_ms"] >= 300
    assert counters["a_repeat_count"] >= 15


def test_frames_of_another_size_are_counted_and_the_last_good_one_is_shown() -> None:
    def mixed(emit: Emit, stop: threading.Event) -> None:
        for number in range(10_000):
            size = (64, 64) if 40 <= number < 50 else (32, 48)
            emit(Event("rgb", frame(number, size)))
            if stop.wait(1 / FPS):
                return

    sink = RowList()
    with Bench([camera("a", mixed)]) as bench:
        take = finished(bench.take(sink, seconds=1.5))
    whole(sink, take)
    assert {value.frame.image.shape for value in sink.frames(0)} == {(32, 48, 3)}
    assert take.counters()["a_wrong_size"] == 10
    assert not set(sink.numbers(0)) & set(range(40, 50))


def test_stamps_that_go_back_are_counted_and_the_rows_go_on() -> None:
    def jumping(emit: Emit, stop: threading.Event) -> None:
        for number in range(10_000):
            device_ns = 10**12 + number * 20_000_000 - (10**11 if number >= 30 else 0)
            emit(Event("rgb", frame(number, device_ns=device_ns)))
            if stop.wait(1 / FPS):
                return

    sink = RowList()
    with Bench([camera("a", jumping)]) as bench:
        take = finished(bench.take(sink, seconds=1.0))
    whole(sink, take)
    assert take.counters()["a_resync_count"] == 1
    assert max(sink.numbers(0)) > 35


def test_garbage_on_a_port_is_counted_and_ends_nothing() -> None:
    def lying(emit: Emit, stop: threading.Event) -> None:
        for number in range(10_000):
            emit(Event("rgb", frame(number)))
            emit(Event("rgb", Sample(np.zeros(3), time.monotonic_ns())))
            emit(Event("nowhere", frame(number)))
            if stop.wait(1 / FPS):
                return

    sink = RowList()
    with Bench([camera("a", lying)]) as bench:
        take = finished(bench.take(sink, seconds=0.4))
    whole(sink, take)
    assert take.counters()["camera_a_garbage_count"] > 10
    assert take.counters()["camera_a_disconnect_count"] == 0


def all_shown_or_counted(sink: RowList, take: Take, count: int) -> None:
    """Every frame has one row, in order, from the first to the last; a busy machine may lose some, counted."""
    numbers = sink.numbers(0)
    assert numbers == sorted(set(numbers))
    assert (numbers[0], numbers[-1]) == (0, count - 1)
    assert len(numbers) + take.counters()["ext:a"] == count
    # Frames go for their age only, after three periods of 20 ms; then the next one is old as well.
    if take.counters()["a_late_max_ms"] < 40:
        assert len(numbers) == count


def test_a_folder_that_ends_the_take_gives_every_frame_one_row_from_its_first() -> None:
    sink = RowList()
    with Bench([camera("a", camera_script(FPS, count=40), ends_take=True)]) as bench:
        time.sleep(0.3)  # half of it was played to nobody
        take = finished(bench.take(sink))
    whole(sink, take)
    assert take.reason is EndReason.SOURCE_ENDED
    all_shown_or_counted(sink, take, 40)


def test_a_folder_starts_anew_with_every_take() -> None:
    with Bench([camera("a", camera_script(FPS, count=10), ends_take=True)]) as bench:
        for _ in range(3):
            sink = RowList()
            take = finished(bench.take(sink))
            all_shown_or_counted(sink, take, 10)


def test_every_point_of_a_replayed_trajectory_comes_once_and_in_order() -> None:
    sink = RowList()
    with Bench([camera("a", camera_script(FPS)), tracker(60)]) as bench:
        take = finished(bench.take(sink, seconds=1.0))
    whole(sink, take)
    times: list[float] = []
    for row in sink.rows:
        points: Any = row.values[1]
        assert all(isinstance(point, Point) for point in points)
        times += [point.t for point in points]
    assert times == [float(number) for number in range(60)]


def test_a_sensor_gives_its_newest_sample_and_none_of_before_the_start() -> None:
    sink = RowList()
    with Bench([camera("a", camera_script(FPS)), vector_sensor("observation.load", rate=25)]) as bench:
        time.sleep(0.2)
        started = time.monotonic_ns()
        take = finished(bench.take(sink, seconds=0.8))
    whole(sink, take)
    samples = [row.values[1] for row in sink.rows if row.values[1] is not None]
    assert len(samples) < len(sink.rows)
    stamps = [sample.host_ns for sample in samples if isinstance(sample, Sample)]
    assert stamps == sorted(set(stamps))
    assert stamps[0] >= started


def test_the_stop_waits_for_frames_captured_before_it_and_not_for_later_ones() -> None:
    sink = RowList()
    with Bench([camera("a", camera_script(120))], fps=30) as bench:
        take = bench.take(sink)
        time.sleep(0.5)
        rows_before = take.rows
        take.request_end(EndReason.STOPPED)
        finished(take)
    assert rows_before < take.rows <= rows_before + 6
    assert take.videos[0].left == 0


def test_a_sink_without_room_ends_the_take_with_the_row_before() -> None:
    sink = RowList(room=10)
    with Bench([camera("a", camera_script(FPS))]) as bench:
        take = finished(bench.take(sink))
    assert take.reason is EndReason.ENCODER_TOO_SLOW
    assert take.message.startswith("a: cannot keep up")
    assert take.rows == 10
    assert take.counters()["ext:a"] >= 1


def test_a_sink_that_raises_ends_the_take_with_its_reason() -> None:
    class Broken(RowList):
        def write(self, row: Row) -> bool:
            if len(self.rows) == 5:
                raise OSError("no such disk")
            return super().write(row)

    sink = Broken()
    with Bench([camera("a", camera_script(FPS))]) as bench:
        take = finished(bench.take(sink))
    assert take.reason is EndReason.WRITER_FAILED
    assert "no such disk" in take.message
    assert take.rows == 5


def test_a_cell_that_raises_costs_its_value_and_no_row() -> None:
    class Failing:
        missing = None

        def __init__(self) -> None:
            self.taken = 0

        def put(self, item: object) -> None: ...
        def take(self, tick: object, row: object) -> None:
            self.taken += 1
            if self.taken % 2:
                raise ValueError("odd")

    sensor = vector_sensor("observation.load")
    broken = Port("value", sensor.ports[0].stream, lambda _c: Failing())
    flow = DeviceFlow(key="x", kind="x", name="x", slots=(), ports=[broken], source=sensor.source)
    sink = RowList()
    with Bench([camera("a", camera_script(FPS)), flow]) as bench:
        take = finished(bench.take(sink, seconds=0.5))
    whole(sink, take)
    assert take.faults["observation.load"] == pytest.approx(len(sink.rows) / 2, abs=1)


def test_a_failure_overrides_a_wish_and_keeps_its_message() -> None:
    sink = RowList()
    with Bench([camera("a", camera_script(FPS))]) as bench:
        take = bench.take(sink)
        take.request_end(EndReason.ENCODER_FAILED, "slot a: broken")
        take.request_end(EndReason.STOPPED)
        finished(take)
    assert (take.reason, take.message) == (EndReason.ENCODER_FAILED, "slot a: broken")


def test_between_takes_frames_are_dropped_and_not_counted() -> None:
    with Bench([camera("a", camera_script(200))]) as bench:
        first = finished(bench.take(RowList(), seconds=0.1))
        counted = first.counters()["ext:a"]
        time.sleep(0.3)
        assert first.counters()["ext:a"] == counted
        sink = RowList()
        finished(bench.take(sink, seconds=0.1))
        assert sink.frames(0)[0].frame.host_ns > first.last_row_ns
