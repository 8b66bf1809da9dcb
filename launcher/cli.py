"""The command ``rigflow``: which commands there are and what they take."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer

from launcher.words import ErrorsInWords

__all__ = ["app", "main"]

# Every command imports what it needs itself: `rigflow --help` loads neither Arrow nor codecs.

app = typer.Typer(
    name="rigflow",
    help="Record rigs of cameras, grippers, gloves and trackers, one row per tick, and prove that nothing was lost.",
    cls=ErrorsInWords,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

_Task = Annotated[
    Path,
    typer.Argument(metavar="PATH", help="A task directory, or a folder of them.", exists=True, file_okay=False),
]
_OneTask = Annotated[Path, typer.Argument(metavar="PATH", help="A task directory.", exists=True, file_okay=False)]
_Json = Annotated[bool, typer.Option("--json", help="One line of JSON an event on standard output, nothing else.")]


@app.callback(invoke_without_command=True)
def _options(
    ctx: typer.Context,
    shown: Annotated[bool, typer.Option("--version", help="Show the version and leave.", is_eager=True)] = False,
) -> None:
    if shown:
        typer.echo(f"rigflow {version('rigflow')}")
        raise typer.Exit


@app.command()
def rigs() -> None:
    """List the rigs that can be recorded, with their parameters."""
    from launcher.rigs_table import show_rigs

    show_rigs()


@app.command()
def record(
    rig: Annotated[str, typer.Argument(metavar="RIG", help="A rig of `rigflow rigs`, or a rig file (.py).")],
    task: Annotated[str, typer.Option("--task", "-t", help="What is done in the episodes; names the task directory.")],
    root: Annotated[Path, typer.Option(help="Where task directories stand.", file_okay=False)] = Path(
        "data/recordings"
    ),
    episodes: Annotated[int, typer.Option(help="How many episodes.", min=1)] = 1,
    seconds: Annotated[
        float | None, typer.Option(help="Length of each; without it a take ends by key, Ctrl-C or its source.")
    ] = None,
    param: Annotated[
        list[str] | None,
        typer.Option("--param", "-p", metavar="NAME=VALUE", help="A parameter of the rig."),
    ] = None,
    as_json: _Json = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Log lines on standard error.")] = False,
) -> None:
    """Record episodes of a task.

    Space or Enter stops and saves, r or Backspace throws the take away, q saves and quits. Ctrl-C and SIGTERM save.
    """
    from launcher.record import Order
    from launcher.record import record as run

    if seconds is not None and not 0 < seconds <= 24 * 3600:
        raise typer.BadParameter(f"{seconds:g} is not in 0 to 86400", param_hint="--seconds")
    params = _params(param or [])
    run(
        Order(rig=rig, task=task, root=root, episodes=episodes, seconds=seconds, params=params),
        as_json=as_json,
        verbose=verbose,
    )


@app.command()
def show(
    path: _Task,
    k: Annotated[int | None, typer.Argument(metavar="K", help="An episode, counted from 0.", min=0)] = None,
) -> None:
    """Show a task and its episodes, or one episode in full."""
    from launcher.show import show_episode, show_tasks

    if k is None:
        show_tasks(path)
    else:
        show_episode(path, k)


@app.command()
def validate(
    path: _Task,
    episode: Annotated[
        list[int] | None, typer.Option("--episode", "-e", metavar="K", help="Only this episode; repeatable.", min=0)
    ] = None,
    deep: Annotated[bool, typer.Option("--deep", help="Decode every frame of every video too.")] = False,
    as_json: _Json = False,
) -> None:
    """Judge a task against the format: 0 when it holds, 1 when there are errors."""
    from launcher.validate import validate as run

    run(path, episodes=episode, deep=deep, as_json=as_json)


@app.command()
def recover(path: _Task) -> None:
    """Finish what an interrupted recording left behind: committed takes roll forward, others are rebuilt."""
    from launcher.mend import recover as run

    run(path)


@app.command()
def delete(
    path: _OneTask,
    k: Annotated[int, typer.Argument(metavar="K", help="The episode, counted from 0.", min=0)],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Delete one episode; its number is not used again. Asks first on a terminal."""
    from launcher.mend import delete as run

    run(path, k, ask=not yes)


def main() -> None:
    """Run the command; the console script's entry."""
    app()


def _params(given: list[str]) -> dict[str, str]:
    params: dict[str, str] = {}
    for text in given:
        name, equals, value = text.partition("=")
        name = name.strip()
        if not equals or not name:
            raise typer.BadParameter(f"{text!r} is not NAME=VALUE", param_hint="--param")
        if name in params:
            raise typer.BadParameter(f"{name} is given twice", param_hint="--param")
        params[name] = value
    return params
