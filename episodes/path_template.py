"""A path template of info.json: checked, filled in, and turned round to find what stands on disk."""

from __future__ import annotations

import os
import re
import string
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from episodes.errors import ContractError, EpisodeError

__all__ = ["PathTemplate", "names_in"]

NUMBERS = ("c", "f")
_PATTERNS = {
    "c": r"(?P<c>[0-9]{1,9})",
    "f": r"(?P<f>[0-9]{1,9})",
    "image_key": r"(?P<image_key>[^./\n][^/\n]*)",
    # Whatever stands behind the number: a half-written file still takes its number.
    "ext": r"(?P<ext>[^/\n]+)",
}


class PathTemplate:
    """One template, e.g. ``data/chunk-{c:03d}/episode-{f:03d}.parquet``.

    Args:
        text: relative to the task directory, with forward slashes.
        fields: the fields that it must have, and no other: an episode's path would not be its own without ``c`` and
            ``f``.

    Raises:
        ContractError: another or a missing field, a format that is not of whole numbers, a path that leaves the task
            directory or that cannot be told apart from another one.
    """

    def __init__(self, text: str, fields: tuple[str, ...]) -> None:
        self.text = text
        self._parts = tuple(_Part(part, text) for part in _split(text))
        found = [name for part in self._parts for name in part.fields]
        if sorted(found) != sorted(fields):
            raise ContractError(f"path template {text!r} must have the fields {', '.join(fields)}, each of them once")

    def path(self, **values: int | str) -> str:
        """The path with its fields filled in."""
        return "/".join(part.text.format(**values) for part in self._parts)

    def scan(self, root: Path, **known: int | str) -> Iterator[Mapping[str, str]]:
        """The fields of every path below ``root`` that has this form; ``known`` ones are given, not looked for.

        Folders are listed only where something of their names is not known.
        """
        yield from _walk(str(root), self._parts, known, {})

    def numbers(self, root: Path, chunks_size: int) -> set[int]:
        """The numbers c · chunks_size + f of every path below ``root`` that has this form."""
        return _numbers(str(root), self._parts, {}, chunks_size)


class _Part:
    """One name of the path: literal text and fields."""

    def __init__(self, text: str, template: str) -> None:
        self.text = text
        try:
            self._pieces = list(string.Formatter().parse(text))
        except ValueError as error:
            raise ContractError(f"path template {template!r} cannot be read: {error}") from error
        self.fields = [name for _literal, name, _spec, _conversion in self._pieces if name is not None]
        for place, (literal, name, spec, conversion) in enumerate(self._pieces):
            if name is None:
                continue
            # A width without the 0 pads with blanks, which no scan would find again.
            allowed = r"(0[1-9])?d?" if name in NUMBERS else ""
            if name not in _PATTERNS or conversion is not None or not re.fullmatch(allowed, spec or ""):
                raise ContractError(f"path template {template!r} has the unknown field {{{name}:{spec}}}")
            if place and not literal:
                raise ContractError(f"path template {template!r}: two fields stand side by side in {text!r}")

    def pattern(self, known: Mapping[str, int | str]) -> re.Pattern[str]:
        """The names of this form, with known fields filled in."""
        text = ""
        for literal, name, spec, _conversion in self._pieces:
            text += re.escape(literal)
            if name is not None:
                text += re.escape(format(known[name], spec or "")) if name in known else _PATTERNS[name]
        return re.compile(text)


def names_in(folder: str | Path) -> list[str]:
    """The names in a folder; none where there is no such folder.

    Raises:
        EpisodeError: the folder is there and cannot be listed: taking it for empty would lose track of numbers.
    """
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry in entries]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise EpisodeError(f"{folder}: cannot be listed: {error.strerror}; give the recorder the right to") from error


def _split(text: str) -> tuple[str, ...]:
    path = PurePosixPath(text)
    if path.is_absolute() or ".." in path.parts or "\\" in text or not text.isprintable():
        raise ContractError(f"path template {text!r} leaves the task directory")
    if any(part.startswith(".") for part in path.parts):
        raise ContractError(f"path template {text!r} has a hidden name, which readers pass over")
    return path.parts


def _walk(
    folder: str, parts: tuple[_Part, ...], known: Mapping[str, int | str], found: dict[str, str]
) -> Iterator[Mapping[str, str]]:
    part, rest = parts[0], parts[1:]
    if all(name in known for name in part.fields):
        path = f"{folder}/{part.text.format(**known)}"
        if rest:
            yield from _walk(path, rest, known, found)
        elif os.path.lexists(path):
            yield found
        return
    match_name = part.pattern(known).fullmatch
    for name in names_in(folder):
        match = match_name(name)
        if match is None:
            continue
        if rest:
            yield from _walk(f"{folder}/{name}", rest, known, {**found, **match.groupdict()})
        else:
            yield {**found, **match.groupdict()}


def _numbers(folder: str, parts: tuple[_Part, ...], known: dict[str, int | str], size: int) -> set[int]:
    part, rest = parts[0], parts[1:]
    if not part.fields:
        return _numbers(f"{folder}/{part.text.format()}", rest, known, size)
    names = names_in(folder)
    if not rest and part.fields[0] == "f" and "c" in known:
        # Thousands of names in one folder: one search over all of them, not a match for each.
        found = re.findall(rf"^{part.pattern({}).pattern}$", "\n".join(names), re.MULTILINE)
        first = int(known["c"]) * size
        return {first + int(f if isinstance(f, str) else f[0]) for f in found}
    numbers: set[int] = set()
    match_name = part.pattern({}).fullmatch
    for name in names:
        match = match_name(name)
        if match is None:
            continue
        at = {**known, **match.groupdict()}
        numbers |= _numbers(f"{folder}/{name}", rest, at, size) if rest else {int(at["c"]) * size + int(at["f"])}
    return numbers
