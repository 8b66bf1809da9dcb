"""``rigflow validate``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import typer
from rich.console import Console
from rich.text import Text

from episodes.report import Finding, Report
from episodes.validator import validate_task
from launcher.exit_codes import ExitCode
from launcher.json_lines import JsonLines
from launcher.tasks_below import tasks_below
from launcher.words import UsageError, printable

__all__ = ["validate"]

_STYLES = {"error": "bold red", "warning": "yellow", "info": "cyan"}


def validate(path: Path, *, episodes: Sequence[int] | None, deep: bool, as_json: bool) -> None:
    """Validate one task or all tasks below ``path``.

    Raises:
        UsageError: no task there, or an episode of several tasks. typer.Exit: errors were found.
    """
    tasks = tasks_below(path)
    if episodes and len(tasks) > 1:
        raise UsageError(f"{path} holds {len(tasks)} tasks; --episode needs one of them")
    ok = True
    for task in tasks:
        report = validate_task(task, episodes or None, deep)
        ok = ok and report.ok
        if as_json:
            _write(report)
        else:
            _print(report)
    if not ok:
        raise typer.Exit(ExitCode.FAILED)


def _write(report: Report) -> None:
    lines = JsonLines(sys.stdout.buffer)
    for finding in report.findings:
        lines.write({"event": "finding", **finding.as_json()})
    told = report.as_json()
    del told["findings"]
    lines.write({"event": "report", **told})


def _print(report: Report) -> None:
    console = Console(soft_wrap=True, highlight=False)
    for finding in report.findings:
        console.print(_line(finding, report.path))
    counts = report.counts()
    words = ", ".join(f"{counts[severity]} {severity}{_s(counts[severity])}" for severity in ("error", "warning"))
    verdict = Text("✓ ", "bold green") if report.ok else Text("✗ ", "bold red")
    verdict.append(printable(str(report.path)), "bold")
    looked = f"{len(report.episodes)} episode{_s(len(report.episodes))}, {report.rows} rows"
    verdict.append(f": {looked}{', every frame decoded' if report.deep else ''}; {words}", "")
    console.print(verdict)


def _line(finding: Finding, task: Path) -> Text:
    place = finding.path
    if place.is_relative_to(task) and place != task:
        place = place.relative_to(task)
    episode = "" if finding.episode is None else f"episode {finding.episode}: "
    return Text.assemble(
        (finding.severity, _STYLES[finding.severity]),
        (f" {finding.rule} ", "dim"),
        f"{episode}{printable(str(place))}: {printable(finding.message)}",
    )


def _s(count: int) -> str:
    return "" if count == 1 else "s"
