"""Standard output that outlives its terminal."""

from __future__ import annotations

import io
from typing import TextIO

__all__ = ["TolerantOutput"]


class TolerantOutput(io.TextIOBase):
    """Passes text on to ``out``; once that fails (terminal closed, pipe without reader) it stays quiet.

    A take must be saved though nobody is left to see it: an ssh connection that breaks closes the terminal.
    """

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self.lost = False

    @property
    def encoding(self) -> str:  # type: ignore[override]  # typeshed has an attribute, rich only reads it
        return self._out.encoding

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return not self.lost and self._out.isatty()

    def fileno(self) -> int:
        return self._out.fileno()

    def write(self, text: str) -> int:
        if not self.lost:
            try:
                self._out.write(text)
            except (OSError, ValueError):  # ValueError: closed
                self.lost = True
        return len(text)

    def flush(self) -> None:
        if not self.lost:
            try:
                self._out.flush()
            except (OSError, ValueError):
                self.lost = True
