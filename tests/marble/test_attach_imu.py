"""attach_imu in virtual time."""

from __future__ import annotations

import pytest

from operators.attach_imu import AttachImu, attach_imu
from operators.cells import Row, Tick
from operators.events import ImuSample
from operators.oldest_frame import TickFrame
from tests.marble.pictures import START_S, Picture, S, frame_of, play

VALUES = (0.0, 0.0, 0.0, 0.0, 0.0, 1.0)


def sample(device_s: float) -> ImuSample:
    return ImuSample(round(device_s * S), VALUES)


def taken(cell: AttachImu, device_s: float | None, *, repeated: bool = False) -> list[float]:
    device_ns = None if device_s is None else round(device_s * S)
    row = (TickFrame(frame_of(0, 0, device_ns=device_ns), repeated=repeated),)
    return [found.device_ns / S for found in cell.take(Tick(0, 0, 0), row)]


def test_samples_up_to_the_frame_and_later_ones_wait() -> None:
    picture = Picture()
    source = picture.hot("-3-4-5-6-7---8-9---|", lambda digit, _second: sample(int(digit)))
    stamps = iter((5, 5, 9))
    shown: list[int] = []

    def row(_letter: str, second: int) -> Row:
        stamp = next(stamps)
        frame = frame_of(stamp, START_S + second, device_ns=stamp * S)
        shown.append(stamp)
        return Row(Tick(0, 0, 0), (TickFrame(frame, repeated=shown.count(stamp) > 1),))

    masters = picture.hot("-----t-----t-----t-|", row)
    result = picture.result(lambda: source.pipe(attach_imu(masters, 0)))
    found = [
        (second, [s.device_ns // S for s in value] if isinstance(value, list) else value) for second, value in result
    ]
    assert found == play("-----t-----t-----t-|", [[3, 4, 5], [], [6, 7, 8, 9]])


def test_a_frame_without_device_stamp_takes_all() -> None:
    cell = AttachImu(0)
    for second in (1, 2, 3):
        cell.put(sample(second))
    assert taken(cell, None) == [1, 2, 3]


def test_a_repeated_frame_gets_none_even_of_its_own_time() -> None:
    cell = AttachImu(0)
    cell.put(sample(1))
    assert taken(cell, 5) == [1]
    cell.put(sample(2))
    assert taken(cell, 5, repeated=True) == []
    assert taken(cell, 6) == [2]


def test_a_row_without_master_takes_none_and_loses_none() -> None:
    cell = AttachImu(0)
    cell.put(sample(1))
    assert cell.take(Tick(0, 0, 0), (None,)) == []
    assert taken(cell, 1) == [1]


def test_a_device_that_sets_its_clock_back_holds_up_nothing() -> None:
    cell = AttachImu(0)
    for second in (1000.0, 1000.1, 0.1, 0.2, 0.3):
        cell.put(sample(second))
    assert taken(cell, 0.2) == [1000.0, 1000.1, 0.1, 0.2]
    assert cell.waiting == 1
    assert taken(cell, 0.3) == [0.3]
    assert cell.dropped == 0


def test_a_full_queue_loses_its_oldest_counted() -> None:
    cell = AttachImu(0, bound=2)
    for second in (1, 2, 3):
        cell.put(sample(second))
    assert cell.dropped == 1
    assert taken(cell, 9) == [2, 3, 9][:2]
    with pytest.raises(ValueError, match="bound"):
        AttachImu(0, bound=0)


def test_clear_forgets_samples_and_counter() -> None:
    cell = AttachImu(0, bound=1)
    cell.put(sample(1))
    cell.put(sample(2))
    cell.clear()
    assert (cell.waiting, cell.dropped) == (0, 0)
    assert cell.missing is not cell.missing
