"""The terminal while recording: live table below, events and summaries above it."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType

from rich.console import Console
from rich.live import Live
from rich.text import Text

from flows.live_view import LiveView
from flows.session_events import (
    Aborted,
    DeviceChanged,
    Recording,
    RecoveredTake,
    SessionEvent,
    Warned,
)
from launcher.live_table import live_table
from launcher.take_notes import COUNTED
from launcher.words import printable

__all__ = ["Screen"]

REFRESH_HZ = 5
"""A picture takes some milliseconds of the interpreter, which the tick thread wants too; eyes need no more."""


class Screen:
    """Shows a session on a console: a live table where it is a terminal, plain lines where it is not.

    Args:
        live: gives the session as it is now; called on the display's own thread.
        rig_fps, seconds, keys: as in `live_table`.
    """

    def __init__(
        self, console: Console, live: Callable[[], LiveView], *, rig_fps: float, seconds: float | None, keys: bool
    ) -> None:
        self._console = console
        self._live = (
            Live(
                console=console,
                refresh_per_second=REFRESH_HZ,
                transient=True,
                get_renderable=lambda: live_table(live(), rig_fps=rig_fps, seconds=seconds, keys=keys),
            )
            if console.is_terminal
            else None
        )

    def __enter__(self) -> Screen:
        if self._live is not None:
            self._live.start(refresh=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def show(self, event: SessionEvent) -> None:
        """Say in one line what a person should know; the live table shows the rest."""
        if self._live is not None and isinstance(event, Warned) and event.code in COUNTED:
            return
        line = _line(event)
        if line is not None:
            self._console.print(line)


def _line(event: SessionEvent) -> Text | None:
    match event:
        case RecoveredTake():
            kept = f", {event.rows} rows" if event.rows else ""
            why = f": {event.problem}" if event.problem else ""
            line = f"take {event.k}, left behind by an earlier recording: {event.outcome}{kept}{why}"
            return Text(printable(line), "yellow")
        case Recording():
            return Text(f"recording episode {event.k}", "dim")
        case DeviceChanged():
            style = {"connected": "green", "silent": "yellow", "disconnected": "bold red", "ended": "dim"}[event.state]
            reason = f": {event.reason}" if event.reason else ""
            return Text(printable(f"{event.name or event.device} {event.state}{reason}"), style)
        case Warned():
            return Text(printable(f"! {event.message}"), "yellow")
        case Aborted():
            reason = f": {event.message}" if event.message else ""
            return Text(f"episode {event.k} thrown away{reason}", "dim")
        case _:
            return None
