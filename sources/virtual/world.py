"""One small synthetic world: from one moment come poses, forces, pictures and inertial samples that agree.

Two hands move over a table, each with a gripper that closes on a block twice in a while; a head with a stereo camera
sways above. Axes of the world are those of a camera that looks at the table: x right, y down, z forward, metres.
Everything is a function of the host's monotonic time alone, so that devices on threads of their own agree.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Literal, TypeAlias

__all__ = ["Hand", "Vector", "World"]

Hand: TypeAlias = Literal["left", "right"]
Vector: TypeAlias = tuple[float, float, float]

GRAVITY = 9.81
TABLE_M = 1.0
"""From the head to the table."""
BLOCK_M = 0.7
"""From the head to the top of the block on the table."""
GRIP_S = 4.0
"""A hand closes, holds, opens within this time."""
BLOCK_WIDTH_PCT = 40.0
"""Opening at which a gripper touches its block, per cent."""
STIFFNESS_MN_PER_PCT = 250.0
"""Normal force of a finger for each per cent that it presses in."""
SHEAR = 0.2
"""Tangential force for each metre a second of the hand, as a share of the normal force."""

_HEAD: tuple[tuple[float, float, float], ...] = ((0.10, 0.25, 0.0), (0.06, 0.40, 1.0))
_HANDS: dict[Hand, tuple[tuple[float, float, float], ...]] = {
    "left": ((0.12, 0.30, 0.5), (0.08, 0.20, 2.0)),
    "right": ((0.12, 0.22, 3.1), (0.08, 0.35, 4.0)),
}
_GRIP_PHASE_S: dict[Hand, float] = {"left": 0.0, "right": 1.7}


@dataclass(frozen=True, slots=True)
class World:
    """The world since ``epoch_ns`` (host monotonic, ns; by default: now).

    All functions take ``at_ns``, host monotonic time, ns.
    """

    epoch_ns: int

    @classmethod
    def now(cls) -> World:
        """A world that begins now."""
        return cls(time.monotonic_ns())

    def seconds(self, at_ns: int) -> float:
        """Time since the epoch, s."""
        return (at_ns - self.epoch_ns) / 1e9

    def head(self, at_ns: int) -> Vector:
        """Where the head is, m."""
        return (*_sway(_HEAD, self.seconds(at_ns)), 0.0)

    def head_acceleration(self, at_ns: int) -> Vector:
        """What an accelerometer in the head feels, m/s²: its own acceleration, and gravity along the view."""
        s = self.seconds(at_ns)
        ax, ay = (-a * (2 * math.pi * f) ** 2 * math.sin(2 * math.pi * f * s + p) for a, f, p in _HEAD)
        return (ax, ay, -GRAVITY)

    def hand(self, hand: Hand, at_ns: int) -> Vector:
        """Where a hand is relative to where it began its work, m."""
        return (*_sway(_HANDS[hand], self.seconds(at_ns)), 0.0)

    def hand_velocity(self, hand: Hand, at_ns: int) -> Vector:
        """Its velocity, m/s."""
        s = self.seconds(at_ns)
        vx, vy = (a * 2 * math.pi * f * math.cos(2 * math.pi * f * s + p) for a, f, p in _HANDS[hand])
        return (vx, vy, 0.0)

    def opening(self, hand: Hand, at_ns: int) -> float:
        """How far a gripper is open, per cent: 30 closed on its block, 90 open."""
        phase = 2 * math.pi * (self.seconds(at_ns) + _GRIP_PHASE_S[hand]) / GRIP_S
        return 60.0 + 30.0 * math.cos(phase)

    def grip(self, hand: Hand, at_ns: int) -> float:
        """How hard a hand grips, 0 to 1."""
        return max(0.0, BLOCK_WIDTH_PCT - self.opening(hand, at_ns)) / (BLOCK_WIDTH_PCT - 30.0)

    def force(self, hand: Hand, finger: Hand, at_ns: int) -> Vector:
        """Force on a finger, mN: fz into the finger, fx and fy against the motion, the fingers' shares mirrored."""
        fz = STIFFNESS_MN_PER_PCT * max(0.0, BLOCK_WIDTH_PCT - self.opening(hand, at_ns))
        vx, vy, _vz = self.hand_velocity(hand, at_ns)
        side = 1.0 if finger == "left" else -1.0
        return (-SHEAR * fz * vx * side, -SHEAR * fz * vy, fz)

    def contact(self, hand: Hand, finger: Hand, at_ns: int) -> tuple[int, int]:
        """Row and column, cells of 250, of the contact's middle: it slides as the hand moves."""
        x, y, _z = self.hand(hand, at_ns)
        side = 1 if finger == "left" else -1
        return 125 + round(400 * y), 125 + side * round(400 * x)


def _sway(terms: tuple[tuple[float, float, float], ...], s: float) -> tuple[float, float]:
    (ax, fx, px), (ay, fy, py) = terms
    return ax * math.sin(2 * math.pi * fx * s + px), ay * math.sin(2 * math.pi * fy * s + py)
