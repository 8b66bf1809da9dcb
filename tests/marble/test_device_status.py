"""device_status in virtual time."""

from __future__ import annotations

from operators.cells import Tick
from operators.device_status import DeviceStatus, device_status
from operators.events import Point, Sample, Status
from tests.marble.pictures import START_S, Picture, S, frame_of, play

SHORT = {"connected": "c", "disconnected": "d"}
POSE = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)


def status_of(cell: DeviceStatus, second: float) -> str:
    return SHORT[cell.take(Tick(0, 0, round(second * S)), ())]


def test_items_connect_silence_and_a_disconnect_do_not() -> None:
    picture = Picture()

    def item(letter: str, second: int) -> object:
        at_ns = (START_S + second) * S
        return Status("disconnected", at_ns, "unplugged") if letter == "D" else frame_of(second, START_S + second)

    source = picture.hot("--x--x---------------x--D---|", item)
    ticks = picture.ticks("t--t--t--t--t--t--t--t--t--t-|".replace("t", "-", 1))
    result = picture.result(lambda: source.pipe(device_status(ticks, 5 * S)))
    assert [(second, SHORT.get(value, value)) for second, value in result] == play(
        "---t--t--t--t--t--t--t--t--t-|", list("cccdddcdd")
    )


def test_nothing_heard_is_never_connected() -> None:
    cell = DeviceStatus(10 * S)
    assert [status_of(cell, second) for second in range(3)] == list("ddd")
    assert SHORT[cell.missing] == "d"


def test_a_source_that_failed_turns_disconnected_by_silence() -> None:
    picture = Picture()
    source = picture.letters("-xX")
    ticks = picture.ticks("--t--t--t|")
    result = picture.result(lambda: source.pipe(device_status(ticks, 3 * S)))
    assert [SHORT.get(value, value) for _second, value in result] == ["c", "c", "d", "|"]


def test_an_old_connected_status_does_not_make_a_silent_device_connected() -> None:
    cell = DeviceStatus(2 * S)
    cell.put(Status("connected", 1 * S))
    assert status_of(cell, 10) == "d"


def test_a_disconnect_holds_until_the_next_item() -> None:
    cell = DeviceStatus(5 * S)
    cell.put(Sample([0.0], host_ns=1 * S))
    cell.put(Status("disconnected", 1 * S))
    assert status_of(cell, 1) == "d"
    cell.put(Sample([0.0], host_ns=2 * S))
    assert status_of(cell, 2) == "c"


def test_a_trackers_own_time_is_no_sign_of_when_it_was_heard() -> None:
    cell = DeviceStatus(2 * S)
    cell.put(Point(0.0, POSE, host_ns=10**18))
    assert status_of(cell, 5) == "c"
    assert status_of(cell, 8) == "d"
    cell.put(Point(0.1, POSE, host_ns=1))
    assert status_of(cell, 9) == "c"


def test_a_stamp_of_the_future_ages_from_its_tick() -> None:
    cell = DeviceStatus(2 * S)
    cell.put(Sample([0.0], host_ns=10**18))
    assert status_of(cell, 5) == "c"
    assert status_of(cell, 8) == "d"


def test_an_item_that_comes_late_does_not_age_the_device() -> None:
    cell = DeviceStatus(2 * S)
    cell.put(Sample([0.0], host_ns=9 * S))
    cell.put(Sample([0.0], host_ns=1 * S))
    assert status_of(cell, 10) == "c"
