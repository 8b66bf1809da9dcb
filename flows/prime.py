"""The prime: no row before every video slot has a frame newer than the start, and each depth frame its partner."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

from flows.take_port import VideoPort
from operators.errors import DeviceError
from operators.follow_master import partner_of

__all__ = ["PrimeGate"]


class PrimeGate:
    """Holds a take's video slots back until all can give the first row.

    A colour slot and the depth slots that follow it are ready when one of the colour frames has all its partners; of a
    live device the newest such frame leads, of one that starts with the take the oldest. What was kept before it is not
    of the take, and not counted.
    """

    def __init__(self) -> None:
        self.condition = threading.Condition()
        self._groups: list[tuple[VideoPort, list[VideoPort]]] = []

    def watch(self, ports: Sequence[VideoPort]) -> None:
        """The take's slots, followers behind what they follow."""
        leaders: dict[str, list[VideoPort]] = {}
        for port in ports:
            if port.video.master is None:
                leaders[port.key] = []
                self._groups.append((port, leaders[port.key]))
            else:
                leaders[port.video.master].append(port)

    def wait(self, *, started: bool, timeout_s: float) -> None:
        """Wait until the slots are ready: those that start with the take, or the live ones.

        Raises:
            DeviceError: a slot was not ready in time; it is named, with what is known of its device.
        """
        deadline = time.monotonic() + timeout_s
        with self.condition:
            while late := self._late(started):
                remaining = deadline - time.monotonic()
                if remaining <= 0:
                    raise _not_ready(*late, timeout_s)
                self.condition.wait(remaining)

    def open(self) -> bool:
        """Let the first frames in, all slots at once, on the tick thread; False when a partner is still missing."""
        with self.condition:
            firsts: list[tuple[VideoPort, int]] = []
            for leader, followers in self._groups:
                found = _first(leader, followers)
                if found is None:
                    return False
                firsts += zip((leader, *followers), found, strict=True)
            for port, first in firsts:
                port.open_from(first)
        return True

    def _late(self, started: bool) -> tuple[VideoPort, list[VideoPort]] | None:
        for leader, followers in self._groups:
            if leader.keep_all == started and _first(leader, followers) is None:
                return leader, followers
        return None


def _first(leader: VideoPort, followers: Sequence[VideoPort]) -> tuple[int, ...] | None:
    """Number of the frame that leads, in the leader's and in each follower's kept frames."""
    frames = leader.kept
    kept = [follower.kept for follower in followers]
    order = range(len(frames)) if leader.keep_all else reversed(range(len(frames)))
    for index in order:
        partners = [partner_of(frames[index], candidates) for candidates in kept]
        if all(partner is not None for partner in partners):
            return (index, *(partner for partner in partners if partner is not None))
    return None


def _not_ready(leader: VideoPort, followers: Sequence[VideoPort], timeout_s: float) -> DeviceError:
    waiting = leader if not leader.kept else next((f for f in followers if not f.kept), None)
    if waiting is None:
        names = " and ".join(follower.key for follower in followers)
        return DeviceError(
            leader.link.flow.key, f"no frame of {names} belongs to one of {leader.key} within {timeout_s:g} s"
        )
    link = waiting.link
    problem = f"slot {waiting.key} gave no frame within {timeout_s:g} s of the start"
    if waiting.wrong_shape is not None:
        problem += f"; it sends {waiting.wrong_shape} now, {waiting.shape} when the take was armed: start again"
    elif waiting.stale > 1:
        problem += (
            f"; it sent {waiting.stale} frames, all stamped before the start: its capture clock is not the host's"
        )
    elif link.state != "connected":
        problem += f"; the device is {link.state}" + (f" ({link.reason})" if link.reason else "")
    else:
        problem += "; check its cable and whether another program has it"
    return DeviceError(link.flow.key, problem)
