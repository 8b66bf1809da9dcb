"""What the command tells the shell."""

from __future__ import annotations

import enum

__all__ = ["ExitCode"]


class ExitCode(enum.IntEnum):
    """The exit codes of every command; ``docs/recording.md`` explains them to scripts.

    ``LEFT`` is what shells know as "ended by Ctrl-C": the operator left while a take was still being saved, and
    ``rigflow recover`` finishes it.
    """

    OK = 0
    FAILED = 1
    USAGE = 2
    LEFT = 130
