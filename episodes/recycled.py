"""The recycled marker: the number that an aborted take gave back."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from episodes.errors import ContractError, CorruptFileError
from episodes.json_form import json_text, read_json_object
from episodes.numbering import EpisodeNumber

__all__ = ["read_recycled", "recycled_json"]

MAX_BYTES = 4096


def read_recycled(path: Path) -> EpisodeNumber | None:
    """The number in the marker; None where there is none, or none that can be used."""
    try:
        n = read_json_object(path, MAX_BYTES).get("episode_index")
        return EpisodeNumber.from_n(n) if type(n) is int else None
    except (FileNotFoundError, CorruptFileError, ContractError):
        return None


def recycled_json(number: EpisodeNumber, now: float) -> str:
    """The marker's text for ``number`` freed at Unix time ``now``."""
    freed = datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return json_text({"episode_index": number.n, "freed_at": freed})
