"""Finds rigs by name or file, and builds them with their parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from flows.rig import Rig

__all__ = ["RigInfo", "RigParameter", "list_rigs", "load_rig"]


@dataclass(frozen=True, slots=True)
class RigParameter:
    """One parameter of a rig. ``kind``: its type in words; ``default``: as text, None when it must be given."""

    name: str
    kind: str
    default: str | None


@dataclass(frozen=True, slots=True)
class RigInfo:
    """One rig that can be named. ``problem``: why it cannot be loaded, "" when it can."""

    name: str
    summary: str
    path: Path
    parameters: tuple[RigParameter, ...] = ()
    problem: str = ""


def list_rigs() -> list[RigInfo]:
    """The rigs that come with rigflow, by name."""
    raise NotImplementedError


def load_rig(name_or_path: str, params: Mapping[str, str] | None = None) -> Rig:
    """Build a rig: one of `list_rigs` by name, or a user's own file by path (ending in ``.py``).

    A rig module defines ``rig = Rig(...)``, or ``def rig(<typed parameters>) -> Rig``; then ``params`` are converted
    to the parameters' types.

    Raises:
        RigError: no such rig, an unknown, missing or invalid parameter (named), a rig that cannot work, or an error in
            the file (with file and line).
    """
    raise NotImplementedError
