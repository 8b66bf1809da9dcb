from __future__ import annotations

import json
from pathlib import Path

import pytest

from episodes.numbering import EpisodeNumber
from episodes.recycled import read_recycled, recycled_json


def test_the_marker_holds_the_one_based_number_and_the_time_in_utc() -> None:
    assert json.loads(recycled_json(EpisodeNumber(4), 1790000000.9)) == {
        "episode_index": 5,
        "freed_at": "2026-09-21T14:13:20Z",
    }


def test_the_marker_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "recycled_episode.json"
    path.write_text(recycled_json(EpisodeNumber(4), 0.0))

    assert read_recycled(path) == EpisodeNumber(4)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[1]",
        '{"episode_index": 0}',
        '{"episode_index": true}',
        '{"episode_index": 2.0}',
        '{"episode_index": 1e999}',
        '{"episode_index": 99999999999}',
        '{"episode_index": 1}' + " " * 5000,
    ],
)
def test_a_marker_that_cannot_be_used_is_none(tmp_path: Path, text: str) -> None:
    path = tmp_path / "recycled_episode.json"
    path.write_text(text)

    assert read_recycled(path) is None


def test_no_marker_is_none(tmp_path: Path) -> None:
    assert read_recycled(tmp_path / "recycled_episode.json") is None
