"""The end of a take: its files finished and committed, or thrown away."""

from __future__ import annotations

import time

from episodes.declaration import Declaration
from flows.errors import SessionError
from flows.recording import RunningTake
from flows.summary import TakeSummary
from flows.take_summary import take_summary
from operators.errors import RigflowError
from sinks.commit import commit_staging
from sinks.reservation import abort_take, release

__all__ = ["NothingRecordedError", "commit_take", "throw_away"]


class NothingRecordedError(SessionError):
    """A take without a row."""


def commit_take(running: RunningTake, declaration: Declaration, *, asked_ns: int) -> TakeSummary:
    """Finish the files of a take whose last row is made, and make an episode of them.

    Where a file failed, the rows that are whole in every file are kept.

    Args:
        asked_ns: when it was asked for; a take that ended by itself may have waited for that.

    Raises:
        NothingRecordedError: there is no row. EpisodeError, SessionError: the staging folder stays, for ``recover``.
    """
    armed, take = running.armed, running.take
    running.writer.close()
    if take.rows == 0:
        raise NothingRecordedError(f"episode {running.k}: no row was recorded; {take.message}".rstrip("; "))
    try:
        committed = commit_staging(armed.paths, armed.staging)
    except Exception as error:
        # Nobody works on the folder any more: it can be recovered while this process lives.
        release(armed.staging)
        if isinstance(error, RigflowError):
            raise
        raise SessionError(
            f"episode {running.k} could not be committed: {type(error).__name__}: {error}; what was recorded stays in "
            f"{armed.staging}: run rigflow recover {armed.paths.task_dir}"
        ) from error
    release(armed.staging)
    commit_s = (time.monotonic_ns() - max(take.last_row_ns, asked_ns)) / 1e9
    return take_summary(running, committed, task=declaration.task_name, commit_s=commit_s)


def throw_away(running: RunningTake) -> None:
    """Remove a take whose writer has ended."""
    abort_take(running.armed.paths, running.armed.staging)
