"""``rigflow record``: a session with a person at a terminal, or with a program that reads JSON lines."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO, cast

import typer
from rich.console import Console

from flows.rig import Rig
from flows.session import Session
from flows.session_events import SessionEvent, event_record
from flows.summary import TakeSummary
from launcher.delivery import Delivery
from launcher.exit_codes import ExitCode
from launcher.interrupts import Interrupts
from launcher.json_lines import JsonLines
from launcher.keys import Keys
from launcher.logs import log_to_stderr
from launcher.screen import Screen
from launcher.take_loop import TakeLoop
from launcher.take_notes import TakeNotes
from launcher.take_table import take_table
from launcher.terminal import TolerantOutput
from launcher.words import UsageError, error_line, exit_code_of
from operators.errors import RigError
from rigs.registry import load_rig

__all__ = ["Order", "record"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What the command line asks for.

    ``episodes`` takes of ``task`` below ``root``, each of ``seconds`` (None: until stopped).
    """

    rig: str
    task: str
    root: Path
    episodes: int = 1
    seconds: float | None = None
    params: Mapping[str, str] = field(default_factory=dict)


def record(order: Order, *, as_json: bool, verbose: bool) -> None:
    """Record as ordered.

    Raises:
        UsageError: no such rig, or its parameters. RigflowError: the session could not go on; what was saved before
            stays. typer.Exit: a take ended by a failure, or the operator left in the middle of saving.
    """
    log_to_stderr(verbose=verbose or as_json)
    work = _for_a_program if as_json else _for_a_person
    try:
        failed = work(order)
    except KeyboardInterrupt:
        error_line(f"left while a take was being saved; `rigflow recover {order.root}` finishes it")
        raise typer.Exit(ExitCode.LEFT) from None
    if failed:
        raise typer.Exit(ExitCode.FAILED)


def _for_a_person(order: Order) -> bool:
    rig = _load(order)
    console = Console(file=cast("TextIO", TolerantOutput(sys.stdout)))
    session = Session(rig, order.root, order.task)
    with ExitStack() as stack:
        keys = Keys(sys.stdin.fileno() if console.is_terminal and sys.stdin.isatty() else None)
        interrupts = stack.enter_context(Interrupts())
        stack.enter_context(keys)
        screen = Screen(console, session.live, rig_fps=float(rig.fps), seconds=order.seconds, keys=keys.present())
        delivery = stack.enter_context(Delivery(screen.show))
        notes = TakeNotes()
        for put in (notes.put, delivery.put):
            stack.callback(session.events.subscribe(put).dispose)
        stack.enter_context(screen)
        stack.enter_context(session)

        def saved(summary: TakeSummary) -> None:
            delivery.flush()  # what happened in the take stands above its summary
            console.print(take_table(summary, notes.of(summary)))

        loop = _run(session, order, keys, interrupts, saved)
    for summary in loop.summaries:
        console.print(summary.data_path, style="dim", soft_wrap=True, highlight=False)
    return loop.failed


def _for_a_program(order: Order) -> bool:
    lines = JsonLines(sys.stdout.buffer)
    saved: list[int] = []
    code, problem = ExitCode.OK, ""

    def show(event: SessionEvent) -> None:
        lines.write(event_record(event))

    try:
        session = Session(_load(order), order.root, order.task)
        with ExitStack() as stack:
            interrupts = stack.enter_context(Interrupts())
            delivery = stack.enter_context(Delivery(show))
            subscription = session.events.subscribe(delivery.put)
            stack.callback(subscription.dispose)
            stack.enter_context(session)
            loop = _run(session, order, Keys(None), interrupts, lambda summary: saved.append(summary.k))
        if loop.failed:
            code, problem = ExitCode.FAILED, loop.summaries[-1].message
    except BaseException as error:
        code, problem = exit_code_of(error), str(error)
        raise
    finally:
        lines.write_if_read({"event": "end", "exit_code": int(code), "episodes": saved, "error": problem})
    return loop.failed


def _run(
    session: Session, order: Order, keys: Keys, interrupts: Interrupts, saved: Callable[[TakeSummary], None]
) -> TakeLoop:
    loop = TakeLoop(
        session, episodes=order.episodes, seconds=order.seconds, keys=keys, interrupts=interrupts, saved=saved
    )
    loop.run()
    return loop


def _load(order: Order) -> Rig:
    try:
        return load_rig(order.rig, order.params)
    except RigError as error:
        raise UsageError(str(error)) from error
