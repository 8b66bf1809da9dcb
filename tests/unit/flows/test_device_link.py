from __future__ import annotations

import numpy as np
from reactivex.subject import Subject

from episodes.streams import StatusStream, VectorStream, VideoStream
from flows.device import CellContext, DeviceFlow, Port
from flows.device_link import DeviceLink
from flows.take_port import TakePort, attach_ports
from operators import DeviceStatus, LatestWins, OldestFrame
from operators.events import STATUS_PORT, Event, Item, Sample, Status
from tests.fake_devices import frame


class Source:
    """A device that a test plays by hand; each opening is a subject of its own."""

    def __init__(self) -> None:
        self.openings: list[Subject[Event]] = []

    def __call__(self) -> Subject[Event]:
        self.openings.append(Subject())
        return self.openings[-1]

    def send(self, port: str, item: Item) -> None:
        self.openings[-1].on_next(Event(port, item))


def linked(source: Source, changes: list[str]) -> DeviceLink:
    flow = DeviceFlow(
        key="thing:1",
        kind="thing",
        name="thing",
        slots=("eye",),
        ports=[
            Port("rgb", VideoStream(slot="eye"), lambda c: OldestFrame(c.period_ns)),
            Port("load", VectorStream(column="observation.load"), lambda _c: LatestWins()),
            Port(STATUS_PORT, StatusStream(id="eye"), lambda _c: DeviceStatus(10**18)),
            Port("load", StatusStream(id="load"), lambda _c: DeviceStatus(10**18)),
        ],
        source=source,
    )
    return DeviceLink(flow, lambda link: changes.append(f"{link.state}: {link.reason}"))


def sample(value: float = 1.0) -> Sample[np.ndarray]:
    return Sample(np.array([value]), host_ns=5)


def test_items_are_metered_and_the_newest_picture_kept_without_a_take() -> None:
    source, changes = Source(), list[str]()
    link = linked(source, changes)
    link.open()
    shown = frame(1, host_ns=77)
    source.send("rgb", shown)
    source.send("load", sample())
    assert (link.meters["rgb"].count, link.meters["rgb"].heard_ns, link.meters["rgb"].frame) == (1, 77, shown)
    assert (link.meters["load"].count, link.heard_ns) == (1, 77)
    assert changes == ["connected: "]


def test_a_status_of_the_source_changes_the_state_once_and_counts_a_loss() -> None:
    source, changes = Source(), list[str]()
    link = linked(source, changes)
    link.open()
    source.send("rgb", frame(1))
    for reason in ("pulled", "still pulled"):
        source.send(STATUS_PORT, Status("disconnected", 9, reason))
    assert changes == ["connected: ", "disconnected: pulled"]
    assert link.reason == "still pulled"
    source.send("rgb", frame(2))
    assert changes[2:] == ["connected: "]
    assert link.failures == 2


def test_a_source_that_completes_has_ended() -> None:
    source, changes = Source(), list[str]()
    link = linked(source, changes)
    link.open()
    source.openings[0].on_completed()
    assert changes == ["ended: it came to its end"]


def test_what_an_earlier_run_still_sends_is_dropped() -> None:
    source, changes = Source(), list[str]()
    link = linked(source, changes)
    link.open()
    first = source.openings[0]
    observers = list(first.observers)
    link.restart()
    for observer in observers:
        observer.on_next(Event("rgb", frame(1)))
    assert link.meters["rgb"].count == 0
    source.send("rgb", frame(2))
    assert link.meters["rgb"].count == 1


def test_after_close_nothing_is_subscribed() -> None:
    source, changes = Source(), list[str]()
    link = linked(source, changes)
    link.open()
    link.close()
    link.close()
    assert source.openings[0].observers == []


def test_each_event_goes_to_its_ports_and_status_ports_hear_their_name_or_all() -> None:
    source, changes = Source(), list[str]()
    link = linked(source, changes)
    link.open()
    source.send("rgb", frame(0))
    heard: dict[str, list[Item]] = {}
    context = CellContext(1, {})
    ports = [TakePort(f"{index}", link, port, context) for index, port in enumerate(link.flow.ports)]
    for port in ports:
        port.open()
        heard[port.key] = []
        port.hand_over.items.subscribe(heard[port.key].append)
    attach_ports(link, ports)
    shown, value = frame(1), sample()
    source.send("rgb", shown)
    source.send("load", value)
    for port in ports:
        port.hand_over.drain()
    assert heard["0"] == [shown]
    assert heard["1"] == [value]
    # The state at the moment of attaching comes first: connected does not wait for the next item.
    assert [type(item).__name__ for item in heard["2"]] == ["Status", "Frame", "Sample"]
    assert [type(item).__name__ for item in heard["3"]] == ["Status", "Sample"]


def test_after_detach_items_are_dropped() -> None:
    source, changes = Source(), list[str]()
    link = linked(source, changes)
    link.open()
    got: list[Item] = []
    link.attach({"rgb": (got.append,)}, ())
    source.send("rgb", frame(1))
    link.detach()
    source.send("rgb", frame(2))
    assert len(got) == 1


def test_a_route_that_raises_is_counted_and_the_source_lives_on() -> None:
    source, changes = Source(), list[str]()
    link = linked(source, changes)
    link.open()

    def fail(_item: Item) -> None:
        raise ValueError("garbage")

    got: list[Item] = []
    link.attach({"rgb": (fail, got.append)}, ())
    source.send("rgb", frame(1))
    source.send("rgb", frame(2))
    assert (link.faults, len(got), link.state) == (2, 2, "connected")
