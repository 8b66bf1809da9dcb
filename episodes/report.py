"""What the validator says: findings, each with its rule's id, and a report of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

__all__ = ["Finding", "Report", "Severity"]

Severity: TypeAlias = Literal["error", "warning", "info"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a rule found.

    Attributes:
        rule: the rule's id; docs/validation.md says what it holds and what to do.
        severity: ``error``: the data breaks the contract; ``warning``: it may be worth less than it seems;
            ``info``: good to know.
        path: the file or folder. episode: its k, None where the finding is of the whole task.
        message: what is wrong, fit for an operator to read.
    """

    rule: str
    severity: Severity
    path: Path
    episode: int | None
    message: str

    def as_json(self) -> dict[str, Any]:
        """For ``--json``."""
        return {
            "rule": self.rule,
            "severity": self.severity,
            "path": str(self.path),
            "episode": self.episode,
            "message": self.message,
        }


@dataclass(frozen=True, slots=True)
class Report:
    """All findings of one validation.

    Attributes:
        path: the task directory. findings: the task's first, then by episode.
        episodes: k of each episode that was looked at. rows: of all of them. deep: every frame was decoded.
    """

    path: Path
    findings: tuple[Finding, ...]
    episodes: tuple[int, ...]
    rows: int = 0
    deep: bool = False

    @property
    def ok(self) -> bool:
        """No error was found; there may be warnings."""
        return not self.of("error")

    def of(self, severity: Severity) -> tuple[Finding, ...]:
        """The findings of one severity."""
        return tuple(finding for finding in self.findings if finding.severity == severity)

    def counts(self) -> dict[Severity, int]:
        """How many findings of each severity."""
        found = Counter(finding.severity for finding in self.findings)
        severities: tuple[Severity, ...] = ("error", "warning", "info")
        return {severity: found.get(severity, 0) for severity in severities}

    def as_json(self) -> dict[str, Any]:
        """For ``--json``."""
        return {
            "path": str(self.path),
            "ok": self.ok,
            "deep": self.deep,
            "episodes": list(self.episodes),
            "rows": self.rows,
            "counts": self.counts(),
            "findings": [finding.as_json() for finding in self.findings],
        }
