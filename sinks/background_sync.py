"""Bringing files to the disk while they grow, so that a commit need not wait for all of it."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from pathlib import Path

__all__ = ["BackgroundSync"]

PERIOD_S = 1.0
CLOSE_S = 30.0


class BackgroundSync:
    """Syncs some files once a second, on a thread of its own: a slow disk delays nobody but this thread.

    A file that is not there yet is fine. A failed sync is left to the commit's own, which raises.
    """

    def __init__(self, files: Sequence[Path]) -> None:
        self._files = tuple(files)
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sync", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End; not synced any more after it."""
        self._ending.set()
        self._thread.join(CLOSE_S)

    def _run(self) -> None:
        while not self._ending.wait(PERIOD_S):
            for path in self._files:
                if self._ending.is_set():
                    return
                self._sync(path)

    def _sync(self, path: Path) -> None:
        try:
            handle = os.open(path, os.O_RDONLY)
        except OSError:
            return
        try:
            os.fdatasync(handle)
        except OSError:
            return
        finally:
            os.close(handle)
