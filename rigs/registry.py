"""Finds rigs by name or file, and builds them with their parameters."""

from __future__ import annotations

import difflib
import hashlib
import importlib.util
import os
import pkgutil
import sys
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from flows.rig import Rig
from operators.errors import RigError
from rigs.parameters import RigParameter, converted, parameters_of

__all__ = ["RigInfo", "RigParameter", "list_rigs", "load_rig"]

FOLDER = Path(__file__).resolve().parent
NOT_RIGS = frozenset({"registry", "parameters"})
MAX_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class RigInfo:
    """One rig that can be named. ``problem``: why it cannot be loaded, "" when it can."""

    name: str
    summary: str
    path: Path
    parameters: tuple[RigParameter, ...] = ()
    problem: str = ""


def list_rigs() -> list[RigInfo]:
    """The rigs that come with rigflow, by name; one that cannot be loaded is listed with its problem."""
    return [_info(name, path) for name, path in _built_in().items()]


def load_rig(name_or_path: str, params: Mapping[str, str] | None = None) -> Rig:
    """Build a rig: one of `list_rigs` by name, or a user's own file by path (ending in ``.py``).

    A rig module defines ``rig = Rig(...)``, or ``def rig(<typed parameters>) -> Rig``; then ``params`` are converted
    to the parameters' types. The file is the user's own program: it runs with the user's rights.

    Raises:
        RigError: no such rig, an unknown, missing or invalid parameter (named), a rig that cannot work, or an error in
            the file (with file and line).
    """
    path = _find(name_or_path)
    module = _load(path)
    given = params or {}
    made = getattr(module, "rig", None)
    if isinstance(made, Rig):
        if given:
            raise RigError(f"rig {path.stem}: it takes no parameters, so not {', '.join(given)}")
        return made
    if not callable(made):
        raise RigError(f"{path}: defines no rig; write `rig = Rig(...)` or `def rig(...) -> Rig`")
    arguments = converted(made, given, path.stem)
    try:
        rig = made(**arguments)
    except (Exception, SystemExit) as error:
        raise _in_file(path, error) from error
    if not isinstance(rig, Rig):
        raise RigError(f"{path}: rig() gave a {type(rig).__name__}, not a Rig")
    return rig


def _built_in() -> dict[str, Path]:
    return {
        module.name: FOLDER / f"{module.name}.py"
        for module in sorted(pkgutil.iter_modules([str(FOLDER)]), key=lambda found: found.name)
        if module.name not in NOT_RIGS and not module.name.startswith("_") and not module.ispkg
    }


def _find(name_or_path: str) -> Path:
    built_in = _built_in()
    if name_or_path in built_in:
        return built_in[name_or_path]
    if "\0" in name_or_path or not (name_or_path.endswith(".py") or os.sep in name_or_path):
        close = difflib.get_close_matches(name_or_path, built_in, n=1)
        hint = f"; did you mean {close[0]}?" if close else ""
        raise RigError(
            f"no rig {name_or_path!r}{hint}; rigs: {', '.join(built_in)}, or the path of a file that ends in .py"
        )
    path = Path(name_or_path).expanduser().resolve()
    if not path.is_file():
        raise RigError(f"{name_or_path}: no such rig file")
    return path


def _info(name: str, path: Path) -> RigInfo:
    try:
        module = _load(path)
        made = getattr(module, "rig", None)
        parameters = () if isinstance(made, Rig) or not callable(made) else parameters_of(made)
    except RigError as error:
        return RigInfo(name, "", path, problem=str(error))
    summary = (module.__doc__ or "").strip().partition("\n")[0]
    return RigInfo(name, summary, path, parameters)


def _load(path: Path) -> ModuleType:
    """Run the file as a module, under a name of its own: it must not be mistaken for another module.

    Raises:
        RigError: with file and line.
    """
    if path.stat().st_size > MAX_BYTES:
        raise RigError(f"{path}: over {MAX_BYTES} bytes; that is no rig file")
    if path.parent == FOLDER:
        name = f"rigs.{path.stem}"
        if name in sys.modules:
            return sys.modules[name]
    else:
        name = f"rig_file_{hashlib.sha256(str(path).encode()).hexdigest()[:12]}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise RigError(f"{path}: cannot be read as a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        sys.modules.pop(name, None)
        raise _in_file(path, error) from error
    return module


def _in_file(path: Path, error: BaseException) -> RigError:
    """The error with the file's line that it comes from."""
    line: int | None = None
    if isinstance(error, SyntaxError) and error.filename is not None and Path(error.filename) == path:
        line = error.lineno
    else:
        for frame in traceback.extract_tb(error.__traceback__):
            if Path(frame.filename) == path:
                line = frame.lineno
    where = f"{path}:{line}" if line is not None else str(path)
    text = str(error) if isinstance(error, RigError) else f"{type(error).__name__}: {error}"
    return RigError(f"{where}: {text}")
