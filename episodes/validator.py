"""Judging a task directory against the contract."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from episodes.report import Finding, Report

__all__ = ["Finding", "Report", "validate_task"]


def validate_task(path: Path | str, episodes: Iterable[int] | None = None, deep: bool = False) -> Report:
    """Judge a task directory: every rule of docs/validation.md.

    It opens nothing outside of the directory, changes nothing, and never raises for what stands in it.

    Args:
        path: the task directory. episodes: k of those to look at; None: all.
        deep: decode every frame of every video and every force matrix too.
    """
    raise NotImplementedError
