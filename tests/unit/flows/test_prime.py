from __future__ import annotations

import pytest

from episodes.streams import VideoStream
from flows.device import CellContext, Port
from flows.device_link import DeviceLink
from flows.prime import PrimeGate
from flows.take_port import PictureShape, VideoPort
from operators import FollowMaster, OldestFrame
from operators.errors import DeviceError
from operators.events import Frame
from tests.fake_devices import camera, frame

CONTEXT = CellContext(33_333_333, {"a": 0})


class Slots:
    """A colour slot ``a``, a depth slot ``a_depth`` that follows it, and a slot ``b``, behind one gate."""

    def __init__(self, *, keep_all: bool = False) -> None:
        link = DeviceLink(camera("a", depth="a_depth"), lambda _link: None)
        self.gate = PrimeGate()
        self.shown: dict[str, list[int]] = {}

        def port(slot: str, *, depth: bool, starts: bool) -> VideoPort:
            stream = VideoStream(slot=slot, kind="depth", master="a") if depth else VideoStream(slot=slot)
            declared = Port(slot, stream, lambda _c: FollowMaster(0) if depth else OldestFrame(33_333_333))
            made = VideoPort(
                slot,
                link,
                declared,
                CONTEXT,
                shape=PictureShape.of(frame(0, depth=depth)),
                condition=self.gate.condition,
                keep_all=starts,
            )
            made.start_ns = 100
            made.hand_over.items.subscribe(lambda item: self.shown.setdefault(slot, []).append(number(item)))
            return made

        self.a = port("a", depth=False, starts=keep_all)
        self.depth = port("a_depth", depth=True, starts=keep_all)
        self.b = port("b", depth=False, starts=False)
        self.gate.watch([self.a, self.depth, self.b])

    def first_row(self) -> dict[str, list[int]]:
        assert self.gate.open()
        for port in (self.a, self.depth, self.b):
            port.hand_over.drain()
        return self.shown


def number(item: object) -> int:
    assert isinstance(item, Frame)
    assert item.seq is not None
    return item.seq


def test_the_newest_frame_of_every_slot_leads() -> None:
    slots = Slots()
    for n in range(5):
        slots.a.put(frame(n, host_ns=200 + n))
        slots.depth.put(frame(n, host_ns=200 + n, depth=True))
    slots.b.put(frame(9, host_ns=300))
    assert slots.first_row() == {"a": [4], "a_depth": [4], "b": [9]}
    assert slots.a.lost == slots.depth.lost == slots.b.lost == 0


def test_frames_captured_before_the_start_do_not_count() -> None:
    slots = Slots()
    slots.a.put(frame(0, host_ns=99))
    slots.a.put(frame(1, host_ns=150, capture_ns=99))
    slots.a.put(frame(2, host_ns=100))
    assert [number(kept) for kept in slots.a.kept] == [2]


def test_the_gate_stays_shut_until_a_depth_frame_belongs_to_a_colour_frame() -> None:
    slots = Slots()
    slots.b.put(frame(9, host_ns=300))
    slots.a.put(frame(1, host_ns=200))
    slots.depth.put(frame(1, host_ns=210, depth=True))
    assert not slots.gate.open()
    slots.a.put(frame(2, host_ns=220))
    assert slots.first_row() == {"a": [2], "a_depth": [1], "b": [9]}


def test_partners_of_a_frameset_lead_together_also_when_the_newest_has_none_yet() -> None:
    slots = Slots()
    slots.b.put(frame(9, host_ns=300))
    for n in (1, 2, 3):
        slots.a.put(frame(n, host_ns=200 + n, frameset=n))
    for n in (0, 1, 2):
        slots.depth.put(frame(n, host_ns=200 + n, frameset=n, depth=True))
    assert slots.first_row() == {"a": [2, 3], "a_depth": [2], "b": [9]}


def test_of_a_device_that_starts_with_the_take_the_first_frame_leads_and_all_are_kept() -> None:
    slots = Slots(keep_all=True)
    for n in range(5):
        slots.a.put(frame(n, host_ns=200 + n, frameset=n))
        slots.depth.put(frame(n, host_ns=200 + n, frameset=n, depth=True))
    slots.b.put(frame(9, host_ns=300))
    assert slots.first_row() == {"a": [0, 1, 2, 3, 4], "a_depth": [0, 1, 2, 3, 4], "b": [9]}


def test_after_the_gate_opened_frames_go_straight_in() -> None:
    slots = Slots()
    slots.a.put(frame(1, host_ns=200))
    slots.depth.put(frame(1, host_ns=200, depth=True))
    slots.b.put(frame(9, host_ns=300))
    slots.first_row()
    slots.b.put(frame(10, host_ns=310))
    slots.b.put(frame(11, host_ns=320))
    slots.b.hand_over.drain()
    assert slots.shown["b"] == [9, 10, 11]


def test_a_slot_without_a_frame_is_named() -> None:
    slots = Slots()
    slots.a.put(frame(1, host_ns=200))
    slots.depth.put(frame(1, host_ns=200, depth=True))
    with pytest.raises(DeviceError, match="slot b gave no frame"):
        slots.gate.wait(started=False, timeout_s=0)


def test_depth_without_a_partner_is_named_with_its_colour_slot() -> None:
    slots = Slots()
    slots.b.put(frame(9, host_ns=300))
    slots.a.put(frame(1, host_ns=200, frameset=1))
    slots.depth.put(frame(1, host_ns=200, frameset=2, depth=True))
    with pytest.raises(DeviceError, match="no frame of a_depth belongs to one of a "):
        slots.gate.wait(started=False, timeout_s=0)


def test_a_slot_that_changed_its_size_is_named_with_both_sizes() -> None:
    slots = Slots()
    slots.b.put(frame(1, (64, 80), host_ns=300))
    slots.a.put(frame(1, host_ns=200))
    slots.depth.put(frame(1, host_ns=200, depth=True))
    with pytest.raises(DeviceError, match="it sends 80×64 rgb24 now, 48×32 rgb24 when the take was armed"):
        slots.gate.wait(started=False, timeout_s=0)


def test_frames_of_another_size_never_reach_the_cell_and_are_counted() -> None:
    slots = Slots()
    slots.a.put(frame(1, host_ns=200))
    slots.depth.put(frame(1, host_ns=200, depth=True))
    slots.b.put(frame(9, host_ns=300))
    slots.first_row()
    slots.b.put(frame(10, (64, 80), host_ns=310))
    slots.b.put(frame(11, host_ns=320, depth=True))
    slots.b.hand_over.drain()
    assert slots.shown["b"] == [9]
    assert (slots.b.wrong_size, slots.b.lost) == (2, 0)


def test_the_size_of_a_planar_picture_is_that_of_its_luma() -> None:
    assert PictureShape((48, 48), "yuv420p", "uint8").size == (32, 48)
