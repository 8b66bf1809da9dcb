"""wall_buckets in virtual time."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from operators.events import Frame
from operators.wall_buckets import WallBuckets, wall_buckets
from tests.marble.pictures import START_S, Picture, frame_of, play

MS = 1_000_000


def frame(host_ms: float, device_ms: float | None) -> Frame:
    return frame_of(0, host_ms / 1000, device_ns=None if device_ms is None else round(device_ms * MS))


def kept(gate: WallBuckets, stamps: list[tuple[float, float | None]]) -> list[int]:
    return [n for n, (host, device) in enumerate(stamps) if gate.keep(frame(host, device))]


def test_the_first_frame_of_each_bucket_is_kept() -> None:
    picture = Picture()

    def stamped(letter: str, second: int) -> Frame:
        return frame_of(ord(letter), START_S + second, device_ns=second * 10**9)

    source = picture.hot("a--b--c--d--e--f--g-|".replace("a", "-", 1), stamped)
    # Buckets of five seconds from 200 s on.
    result = picture.result(lambda: source.pipe(wall_buckets(Fraction(1, 5))))
    names = [(second, chr(value.seq or 0) if isinstance(value, Frame) else value) for second, value in result]
    assert names == play("---b--c-----e--f----|", list("bcef"))


def test_fifty_a_second_become_thirty() -> None:
    gate = WallBuckets(30)
    stamps: list[Any] = [(n * 20.0 + 1, n * 20.0) for n in range(500)]
    assert len(kept(gate, stamps)) == gate.kept == 300
    assert gate.skipped == 200
    assert (gate.buckets, gate.empty, gate.starving) == (299, 0, False)


def test_a_burst_after_a_stall_is_kept_by_the_devices_clock_each_bucket_once() -> None:
    gate = WallBuckets(30)
    burst: list[Any] = [(500 + n, 20.0 * n) for n in range(1, 11)]
    # 200 ms of frames within 10 ms of receipt: the first opens its wall bucket, then one for each of the device's.
    found = kept(gate, [(1, 0.0), *burst])
    assert [int(20.0 * n * 30 / 1000) for n in found] == [0, 0, 1, 2, 3, 4, 5, 6]


def test_a_jump_of_the_devices_clock_does_not_empty_the_stream() -> None:
    for jump in (-400.0, 400.0, -1e6):
        gate = WallBuckets(30)
        stamps: list[Any] = [(n * 20.0, n * 20.0 + (jump if n >= 100 else 0)) for n in range(1, 500)]
        assert abs(len(kept(gate, stamps)) - 300) <= 2
        assert gate.empty == 0


def test_a_frame_without_device_stamp_is_kept() -> None:
    gate = WallBuckets(30)
    assert kept(gate, [(n * 5.0, None) for n in range(1, 10)]) == list(range(9))


def test_the_other_eye_gets_the_answer_of_its_stamp() -> None:
    gate = WallBuckets(30)
    left = [gate.keep(frame(n * 20.0, n * 20.0)) for n in range(1, 50)]
    assert True in left
    assert False in left
    again = WallBuckets(30)
    for n in range(1, 50):
        assert again.keep(frame(n * 20.0, n * 20.0)) == again.keep(frame(n * 20.0 + 12, n * 20.0)) == left[n - 1]
    assert (again.kept, again.skipped) == (gate.kept, gate.skipped)


def test_a_source_that_does_not_keep_up_is_told_after_ninety_buckets() -> None:
    gate = WallBuckets(30)
    kept(gate, [(n * 50.0, n * 50.0) for n in range(1, 40)])
    assert not gate.starving
    kept(gate, [(n * 50.0, n * 50.0) for n in range(40, 100)])
    assert gate.starving


@pytest.mark.parametrize("fps", [0, -30])
def test_a_rate_that_keeps_nothing_is_refused(fps: float) -> None:
    with pytest.raises(ValueError, match="fps"):
        WallBuckets(fps)
