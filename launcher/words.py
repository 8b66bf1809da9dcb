"""Errors as an operator reads them: one clear sentence, and an exit code for scripts."""

from __future__ import annotations

import sys
from typing import Any

import typer
import typer.core

from launcher.exit_codes import ExitCode
from operators.errors import RigflowError

__all__ = ["ErrorsInWords", "UsageError", "error_line", "exit_code_of", "printable"]


class UsageError(RigflowError):
    """The command line asks for what is not there: a rig, a parameter, an episode."""


class ErrorsInWords(typer.core.TyperGroup):
    """Says RigflowError and OSError in one sentence; any other exception is a bug and shows itself."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except RigflowError as error:
            error_line(str(error))
            raise typer.Exit(exit_code_of(error)) from error
        except BrokenPipeError:
            raise  # `rigflow show … | head`: typer ends quietly
        except OSError as error:
            place = f"{error.filename}: " if error.filename else ""
            error_line(f"{place}{error.strerror or error}")
            raise typer.Exit(ExitCode.FAILED) from error


def exit_code_of(error: BaseException) -> ExitCode:
    """The code that a command ends with that ended in ``error``."""
    if isinstance(error, UsageError):
        return ExitCode.USAGE
    if isinstance(error, KeyboardInterrupt):
        return ExitCode.LEFT
    return ExitCode.FAILED


def error_line(message: str) -> None:
    """One sentence on standard error."""
    text = " ".join(message.split())
    red, plain = ("\x1b[1;31m", "\x1b[0m") if sys.stderr.isatty() else ("", "")
    typer.echo(f"{red}error:{plain} {printable(text)}", err=True)


def printable(text: str) -> str:
    """Text from outside, a file's name or content: control codes are shown instead of obeyed by the terminal."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)
