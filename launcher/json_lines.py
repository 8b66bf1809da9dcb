"""`--json`: one line an event on standard output, and nothing else there."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Mapping
from typing import Any, BinaryIO

import msgspec

__all__ = ["JsonLines"]


class JsonLines:
    """Writes records as JSON, one a line, flushed, from any thread; UTF-8 whatever the locale.

    Numbers that JSON lacks (NaN, infinity) become null.

    Raises:
        OSError: nobody reads any more (a closed pipe).
    """

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._lock = threading.Lock()
        self._encoder = msgspec.json.Encoder(enc_hook=str)

    def write(self, record: Mapping[str, Any]) -> None:
        line = self._encoder.encode(dict(record))
        with self._lock:
            self._out.write(line + b"\n")
            self._out.flush()

    def write_if_read(self, record: Mapping[str, Any]) -> None:
        """As `write`, but a pipe that nobody reads any more is no error."""
        with contextlib.suppress(OSError):
            self.write(record)
