"""``rigflow rigs``."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from rigs.registry import RigInfo, list_rigs

__all__ = ["show_rigs"]


def show_rigs() -> None:
    """Print the rigs, one a row, a broken one with its reason."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="dim")
    table.add_column("rig", style="bold", no_wrap=True)
    table.add_column("what it records", ratio=3)
    table.add_column("parameters (--param name=value)", ratio=2)
    for rig in list_rigs():
        table.add_row(rig.name, _summary(rig), _parameters(rig))
    console = Console(soft_wrap=False)
    console.print(table)
    console.print(Text("A rig of your own: rigflow record path/to/my_rig.py --task …  (docs/rigs.md)", "dim"))


def _summary(rig: RigInfo) -> Text:
    return Text(rig.problem, "red") if rig.problem else Text(rig.summary)


def _parameters(rig: RigInfo) -> Text:
    lines = []
    for parameter in rig.parameters:
        need = "required" if parameter.default is None else f"default {parameter.default!r}"
        lines.append(f"{parameter.name}: {parameter.kind}, {need}")
    return Text("\n".join(lines) or "–")
