"""The recycled marker: the number that an aborted take gave back."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

from episodes.errors import ContractError
from episodes.numbering import EpisodeNumber

__all__ = ["read_recycled", "recycled_json"]

MAX_BYTES = 4096


def read_recycled(path: Path) -> EpisodeNumber | None:
    """The number in the marker; None where there is none, or none that can be used."""
    try:
        with path.open("rb") as file:
            found = json.loads(file.read(MAX_BYTES))
        return EpisodeNumber.from_n(int(found["episode_index"]))
    except (OSError, ValueError, KeyError, TypeError, ContractError):
        return None


def recycled_json(number: EpisodeNumber, now: float) -> str:
    """The marker's text for ``number`` freed at Unix time ``now``."""
    freed = datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return json.dumps({"episode_index": number.n, "freed_at": freed}, indent=2)
