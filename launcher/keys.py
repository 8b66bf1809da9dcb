"""The operator's keys: read one by one from the terminal, without waiting for Enter."""

from __future__ import annotations

import contextlib
import enum
import os
import select
import termios
import tty
from types import TracebackType
from typing import Any

__all__ = ["Key", "Keys"]


class Key(enum.Enum):
    """What a key means while recording."""

    STOP = "stop"
    """Space or Enter: stop and save; between takes: the next one."""
    REDO = "redo"
    """r or Backspace: throw the take away and record it again."""
    QUIT = "quit"
    """q: stop, save and leave."""


_MEANING = {
    b" ": Key.STOP,
    b"\r": Key.STOP,
    b"\n": Key.STOP,
    b"r": Key.REDO,
    b"R": Key.REDO,
    b"\x7f": Key.REDO,
    b"\x08": Key.REDO,
    b"q": Key.QUIT,
    b"Q": Key.QUIT,
}
_ESCAPE = 0x1B
_READ_BYTES = 64


class Keys:
    """Keys pressed since the last `poll`, while entered; gives nothing where there is no terminal.

    Enter puts the terminal into cbreak mode without flow control (Ctrl-S would freeze the display), exit restores it.
    Ctrl-C stays a signal.

    Args:
        fd: the terminal, usually standard input's; None, or not a terminal: there are no keys.
    """

    def __init__(self, fd: int | None) -> None:
        self._fd = fd if fd is not None and os.isatty(fd) else None
        self._saved: list[Any] | None = None

    def present(self) -> bool:
        """Whether there is a terminal to press keys on."""
        return self._fd is not None

    def __enter__(self) -> Keys:
        if self._fd is not None:
            self._saved = termios.tcgetattr(self._fd)
            tty.setcbreak(self._fd, termios.TCSANOW)
            mode = termios.tcgetattr(self._fd)
            mode[0] &= ~(termios.IXON | termios.IXOFF)
            termios.tcsetattr(self._fd, termios.TCSANOW, mode)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._fd is not None and self._saved is not None:
            # TCSAFLUSH drops what was typed and not read: it was meant for the display, not for the shell. A terminal
            # that was closed meanwhile has nothing to restore.
            with contextlib.suppress(termios.error):
                termios.tcsetattr(self._fd, termios.TCSAFLUSH, self._saved)

    def poll(self, timeout_s: float = 0.0) -> Key | None:
        """The first key with a meaning that was pressed since the last call, else waits ``timeout_s`` for one.

        One key a call is enough: of a burst (a key held down) the first counts, the rest was not meant.
        """
        if self._fd is None:
            return None
        found: Key | None = None
        try:
            while found is None and select.select([self._fd], [], [], timeout_s)[0]:
                timeout_s = 0.0
                typed = os.read(self._fd, _READ_BYTES)
                if not typed:
                    self._fd = None  # the terminal is gone
                    return None
                found = _meaning(typed)
        except OSError:
            self._fd = None
        return found

    def clear(self) -> None:
        """Forget what was pressed until now."""
        if self._fd is not None:
            with contextlib.suppress(termios.error):
                termios.tcflush(self._fd, termios.TCIFLUSH)


def _meaning(typed: bytes) -> Key | None:
    if typed[0] == _ESCAPE:
        return None  # an arrow or function key: a sequence whose letters mean nothing here
    for position in range(len(typed)):
        key = _MEANING.get(typed[position : position + 1])
        if key is not None:
            return key
    return None
