"""Where log lines go: standard error, above the live table while one is shown."""

from __future__ import annotations

import logging
import sys
from typing import TextIO, cast

import structlog

__all__ = ["log_to_stderr"]


class _CurrentStderr:
    """Standard error as it is now: the live table puts itself in its place while it is shown."""

    def write(self, text: str) -> int:
        return sys.stderr.write(text)

    def flush(self) -> None:
        sys.stderr.flush()


def log_to_stderr(*, verbose: bool) -> None:
    """Send structlog's lines to standard error.

    Not verbose, there are none but the fatal ones: what a person should know is said by events and errors already, in
    better words and not twice.
    """
    level = logging.INFO if verbose else logging.CRITICAL
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="%H:%M:%S", utc=False),
            structlog.dev.ConsoleRenderer(colors=False, sort_keys=False),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(file=cast("TextIO", _CurrentStderr())),
        cache_logger_on_first_use=False,
    )
