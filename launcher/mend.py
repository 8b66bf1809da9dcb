"""``rigflow recover`` and ``rigflow delete``: the commands that change what was recorded."""

from __future__ import annotations

import sys
from pathlib import Path

import typer
from rich.console import Console
from rich.text import Text

from episodes.numbering import EpisodeNumber
from episodes.reader import open_task
from launcher.exit_codes import ExitCode
from launcher.logs import log_to_stderr
from launcher.tasks_below import tasks_below
from launcher.words import UsageError, error_line, printable
from operators.errors import RigflowError
from sinks.deletion import delete_episode
from sinks.recovery import Recovered, recover_task

__all__ = ["delete", "recover"]


def recover(path: Path) -> None:
    """Recover one task or all tasks below ``path``; a task that cannot be recovered does not keep the others from it.

    Raises:
        UsageError: no task there. typer.Exit: a take is left that is no episode: one being recorded, or unreadable.
    """
    log_to_stderr(verbose=False)
    console = Console(highlight=False, soft_wrap=True)
    failed = False
    for task in tasks_below(path):
        try:
            takes = recover_task(task)
        except RigflowError as error:
            error_line(str(error))
            failed = True
            continue
        if not takes:
            console.print(Text(f"{printable(str(task))}: nothing to recover", "dim"))
        for take in takes:
            failed = failed or take.action == "kept"
            console.print(Text.assemble((printable(str(task)), "bold"), ": ", _outcome(take)))
    if failed:
        raise typer.Exit(ExitCode.FAILED)


def delete(path: Path, k: int, *, ask: bool) -> None:
    """Delete an episode, after a question where there is a terminal to answer it.

    Raises:
        UsageError: no such task or episode. EpisodeError: it could not be deleted.
    """
    log_to_stderr(verbose=False)
    tasks = tasks_below(path)
    if tasks != [path]:
        raise UsageError(f"{path} is no task directory; it holds {', '.join(task.name for task in tasks)}")
    task = open_task(path)
    # An episode that was half deleted when the machine went down has files, and is deleted the rest of the way.
    known = sorted(task.paths.data_numbers() | task.paths.row_numbers() | task.paths.video_numbers())
    if EpisodeNumber(k) not in known:
        words = ", ".join(str(number.k) for number in known) or "none"
        raise UsageError(f"{path}: no episode {k}; there are: {words}")
    if ask and sys.stdin.isatty():
        typer.confirm(f"Delete episode {k} of {printable(task.name)} for good?", abort=True)
    delete_episode(path, k)
    Console(highlight=False, soft_wrap=True).print(f"episode {k} of {printable(task.name)} deleted")


def _outcome(take: Recovered) -> Text:
    rows = f", {take.rows} rows" if take.rows else ""
    more = f": {printable(take.message)}" if take.message else ""
    style = {"rolled forward": "green", "rebuilt": "green", "removed": "dim", "kept": "yellow"}[take.action]
    return Text(f"take {take.k} {take.action}{rows}{more}", style)
