"""The errors of rigflow: one small hierarchy, each says what happened, to which thing, and what to do."""

from __future__ import annotations

__all__ = ["DeviceError", "RigError", "RigflowError"]


class RigflowError(Exception):
    """Root of everything that rigflow raises on purpose; its text is fit for an operator to read."""


class DeviceError(RigflowError):
    """A device could not be opened, or failed while it was read. The text names the device's key."""

    def __init__(self, key: str, problem: str) -> None:
        super().__init__(f"{key}: {problem}")
        self.key = key
        self.problem = problem


class RigError(RigflowError):
    """A rig's declaration cannot work. The text names the devices, slots or columns that clash."""
