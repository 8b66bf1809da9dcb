"""JSON as the contract has it: UTF-8, indented by two; what is read is bounded and can be written again."""

from __future__ import annotations

import json
from math import isfinite
from pathlib import Path
from typing import Any

from episodes.errors import CorruptFileError

__all__ = ["MAX_BYTES", "json_text", "read_json_object"]

MAX_BYTES = 64 * 1024 * 1024


def json_text(value: object) -> str:
    """The text of a file under ``meta/``.

    Raises:
        ValueError: a number that is not finite, which JSON does not have.
    """
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)


def read_json_object(path: Path, max_bytes: int = MAX_BYTES) -> dict[str, Any]:
    """The object in a JSON file. Numbers that are not finite, which other programs write, become None.

    What is read here is merged and written back when an episode is committed, so what could not be written again is
    refused now, before anything is recorded.

    Raises:
        FileNotFoundError: there is none. CorruptFileError: it is damaged, too large, or no object.
    """
    try:
        with path.open("rb") as file:
            text = file.read(max_bytes + 1)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise CorruptFileError(path, f"cannot be read: {error.strerror or error}") from error
    if len(text) > max_bytes:
        raise CorruptFileError(path, f"is over {max_bytes} bytes")
    try:
        found = json.loads(text, parse_constant=lambda _: None, parse_float=_finite)
        json_text(found).encode()
    except UnicodeEncodeError as error:
        raise CorruptFileError(path, "holds half of a surrogate pair, which is no text") from error
    except (ValueError, RecursionError) as error:
        raise CorruptFileError(path, f"is not JSON: {error}; restore it from a copy") from error
    if not isinstance(found, dict):
        raise CorruptFileError(path, "is not a JSON object")
    return found


def _finite(text: str) -> float | None:
    value = float(text)
    return value if isfinite(value) else None
