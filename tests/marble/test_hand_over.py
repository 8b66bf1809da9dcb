"""hand_over: bounded, counted, from any thread to one."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from operators.hand_over import HandOver


def test_drain_pushes_what_waits_in_order() -> None:
    queue: HandOver[str] = HandOver(8)
    seen: list[str] = []
    queue.items.subscribe(seen.append)
    for item in "abc":
        queue.put(item)
    assert (queue.waiting, seen) == (3, [])
    assert queue.drain() == 3
    assert (queue.waiting, seen) == (0, ["a", "b", "c"])
    assert queue.drain() == 0


def test_a_full_queue_loses_its_oldest_counted() -> None:
    queue: HandOver[int] = HandOver(2)
    seen: list[int] = []
    queue.items.subscribe(seen.append)
    for item in range(5):
        queue.put(item)
    assert (queue.dropped, queue.waiting) == (3, 2)
    queue.drain()
    assert (queue.dropped, seen) == (3, [3, 4])


def test_what_comes_while_draining_waits_for_the_next_drain() -> None:
    queue: HandOver[int] = HandOver(8)
    seen: list[int] = []

    def feeds_itself(item: int) -> None:
        seen.append(item)
        queue.put(item + 10)

    queue.items.subscribe(feeds_itself)
    queue.put(1)
    queue.put(2)
    assert queue.drain() == 2
    assert seen == [1, 2]
    assert queue.drain() == 2
    assert seen == [1, 2, 11, 12]


def test_a_drain_inside_a_drain_doubles_nothing() -> None:
    queue: HandOver[int] = HandOver(8)
    seen: list[int] = []

    def drains(item: int) -> None:
        seen.append(item)
        queue.drain()

    queue.items.subscribe(drains)
    for item in range(4):
        queue.put(item)
    queue.drain()
    assert sorted(seen) == [0, 1, 2, 3]
    assert (queue.dropped, queue.waiting) == (0, 0)


def test_a_subscriber_that_raises_loses_nothing_that_still_waits() -> None:
    queue: HandOver[int] = HandOver(8)
    seen: list[int] = []

    def raises_first(item: int) -> None:
        seen.append(item)
        if item == 0:
            raise OSError("disk full")

    queue.items.subscribe(raises_first)
    queue.put(0)
    queue.put(1)
    with pytest.raises(OSError, match="disk full"):
        queue.drain()
    assert queue.waiting == 1
    queue.drain()
    assert (seen, queue.dropped) == ([0, 1], 0)


def test_clear_forgets_items_and_counters() -> None:
    queue: HandOver[int] = HandOver(1)
    queue.put(0)
    queue.put(1)
    assert queue.last_put_ns is not None
    queue.clear()
    assert (queue.waiting, queue.dropped, queue.drain()) == (0, 0, 0)
    stamps: list[int | None] = [queue.last_put_ns]
    assert stamps == [None]


def test_a_queue_without_room_is_refused() -> None:
    with pytest.raises(ValueError, match="bound"):
        HandOver(0)


@settings(deadline=None)
@given(bound=st.integers(1, 5), actions=st.lists(st.sampled_from(["put", "drain"]), max_size=60))
def test_every_item_comes_once_in_order_or_is_counted(bound: int, actions: list[str]) -> None:
    queue: HandOver[int] = HandOver(bound)
    seen: list[int] = []
    queue.items.subscribe(seen.append)
    put = 0
    for action in actions:
        if action == "put":
            queue.put(put)
            put += 1
        else:
            queue.drain()
        assert len(seen) + queue.waiting + queue.dropped == put
        assert queue.waiting <= bound
    assert seen == sorted(set(seen))


def test_counts_are_exact_with_many_threads() -> None:
    queue: HandOver[tuple[int, int]] = HandOver(64)
    seen: list[tuple[int, int]] = []
    queue.items.subscribe(seen.append)
    each = 5_000
    done = threading.Event()

    def produce(name: int) -> None:
        for n in range(each):
            queue.put((name, n))

    def consume() -> None:
        while not done.is_set():
            queue.drain()
        queue.drain()

    producers = [threading.Thread(target=produce, args=(name,)) for name in range(3)]
    consumer = threading.Thread(target=consume)
    for thread in (consumer, *producers):
        thread.start()
    for thread in producers:
        thread.join()
    done.set()
    consumer.join()
    assert len(seen) + queue.dropped == 3 * each
    for name in range(3):
        numbers = [n for found, n in seen if found == name]
        assert numbers == sorted(set(numbers))
