"""What a session cannot do, beside what devices and episodes cannot."""

from __future__ import annotations

from operators.errors import RigflowError

__all__ = ["SessionError"]


class SessionError(RigflowError):
    """A session cannot do what it was asked to: no disk left, nothing to stop, already recording."""
