"""``rigflow rigs``."""

from __future__ import annotations

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from launcher.words import printable
from rigs.registry import RigInfo, RigParameter, list_rigs

__all__ = ["rigs_table", "show_rigs"]


def show_rigs() -> None:
    """Print the rigs that come with rigflow."""
    Console(highlight=False).print(rigs_table(list_rigs()))


def rigs_table(rigs: list[RigInfo]) -> RenderableType:
    """Each rig with what it records and its parameters; a broken one with its reason."""
    parts: list[RenderableType] = []
    for rig in rigs:
        words = Text(printable(rig.problem), "red") if rig.problem else Text(rig.summary)
        parts += [Text(rig.name, "bold cyan"), Padding(words, (0, 0, 0, 2))]
        if rig.parameters:
            parts.append(Padding(_parameters(rig.parameters), (0, 0, 0, 4)))
        parts.append(Text())
    parts.append(Text("Parameters are given as --param name=value.", "dim"))
    parts.append(Text("A rig file of your own: rigflow record path/to/my_rig.py --task …  (docs/rigs.md)", "dim"))
    return Group(*parts)


def _parameters(parameters: tuple[RigParameter, ...]) -> Table:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(no_wrap=True)
    grid.add_column()
    for parameter in parameters:
        grid.add_row(Text(parameter.name), _default(parameter), Text(parameter.kind, "dim"))
    return grid


def _default(parameter: RigParameter) -> Text:
    if parameter.default is None:
        return Text("required", "yellow")
    return Text(f"= {parameter.default}" if parameter.default else "optional", "dim")
