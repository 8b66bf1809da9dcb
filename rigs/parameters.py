"""The parameters of a rig: from text on a command line to what ``def rig(...)`` is typed to take."""

from __future__ import annotations

import difflib
import inspect
import math
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from operators.errors import RigError

__all__ = ["RigParameter", "converted", "parameters_of"]

_BOOL = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
_KINDS: dict[object, str] = {str: "text", int: "integer", float: "number", bool: "true or false", Path: "path"}


@dataclass(frozen=True, slots=True)
class RigParameter:
    """One parameter of a rig. ``kind``: its type in words; ``default``: as text, None when it must be given."""

    name: str
    kind: str
    default: str | None


def parameters_of(make: Callable[..., Any]) -> tuple[RigParameter, ...]:
    """The parameters of a rig function, in its order.

    Raises:
        RigError: one of them cannot be given as text.
    """
    hints = _hints(make)
    found = []
    for name, parameter in inspect.signature(make).parameters.items():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise RigError(f"rig(): parameter {name!r} must have a name of its own; *args, **kwargs and / are not read")
        default = None if parameter.default is parameter.empty else _as_text(parameter.default)
        found.append(RigParameter(name, _kind(name, hints.get(name, str)), default))
    return tuple(found)


def converted(make: Callable[..., Any], given: Mapping[str, str], rig: str) -> dict[str, Any]:
    """The arguments for a rig function.

    Raises:
        RigError: a parameter is unknown, missing, or not of its type; it is named.
    """
    known = {parameter.name: parameter for parameter in parameters_of(make)}
    hints = _hints(make)
    values: dict[str, Any] = {}
    for raw, text in given.items():
        name = raw.replace("-", "_")
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean {close[0]}?" if close else ""
            raise RigError(f"rig {rig}: no parameter {raw!r}{hint}; it takes: {', '.join(known) or 'none'}")
        try:
            values[name] = _convert(text, hints.get(name, str))
        except ValueError as error:
            raise RigError(f"rig {rig}: parameter {name}={text!r} is no {known[name].kind}") from error
    missing = [
        parameter.name for parameter in known.values() if parameter.default is None and parameter.name not in values
    ]
    if missing:
        raise RigError(f"rig {rig}: parameter {missing[0]} must be given: --param {missing[0]}=…")
    return values


def _hints(make: Callable[..., Any]) -> dict[str, Any]:
    try:
        return typing.get_type_hints(make)
    except Exception as error:
        raise RigError(f"rig(): a parameter's type cannot be understood: {error}") from error


def _options(hint: Any) -> tuple[Any, ...]:
    """The types that a hint allows, without None."""
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return tuple(option for option in typing.get_args(hint) if option is not type(None))
    return (hint,)


def _kind(name: str, hint: Any) -> str:
    words = []
    for option in _options(hint):
        if typing.get_origin(option) is typing.Literal:
            words.append(" or ".join(str(choice) for choice in typing.get_args(option)))
        elif option in _KINDS:
            words.append(_KINDS[option])
        else:
            raise RigError(
                f"rig(): parameter {name!r} is typed {hint!r}; use str, int, float, bool, Path or Literal, with | None "
                "or without"
            )
    return " or ".join(words)


def _convert(text: str, hint: Any) -> Any:
    for option in _options(hint):
        try:
            return _convert_one(text, option)
        except ValueError:
            continue
    raise ValueError(text)


def _convert_one(text: str, kind: Any) -> Any:
    if typing.get_origin(kind) is typing.Literal:
        for choice in typing.get_args(kind):
            if str(choice) == text:
                return choice
        raise ValueError(text)
    if kind is bool:
        if text.lower() not in _BOOL:
            raise ValueError(text)
        return _BOOL[text.lower()]
    if kind is float:
        number = float(text)
        if not math.isfinite(number):
            raise ValueError(text)
        return number
    if kind is Path:
        if not text or "\0" in text:
            raise ValueError(text)
        return Path(text).expanduser()
    return kind(text)


def _as_text(value: object) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)
