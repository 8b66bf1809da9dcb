from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from episodes.columns import KEY_COLUMNS
from episodes.episode_row import EPISODE_SCHEMA
from episodes.info import COLUMN_CODES
from episodes.naming import RESERVED_SUFFIXES
from tests.task_builder import ROWS, TaskBuilder, depth_picture, matrix

from .appendix_b import declaration, info_of

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "data_format.md"


@pytest.fixture
def page() -> str:
    if not PAGE.exists():
        pytest.skip(f"{PAGE.name} is not part of this copy")
    return PAGE.read_text(encoding="utf-8")


def test_the_examples_of_the_page_run_and_give_what_they_say(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = TaskBuilder(tmp_path / "recordings" / "pour_water")
    task.episode(0)
    task.write()
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}

    examples = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    for example in examples:
        exec(compile(example, str(PAGE), "exec"), names)

    assert len(examples) == 9
    assert names["picture"].dtype == np.uint8
    assert names["picture"].shape == (48, 64, 3)
    np.testing.assert_array_equal(names["depth"], depth_picture(3))
    np.testing.assert_array_equal(names["pressed"], matrix(2))
    np.testing.assert_array_equal(names["index"], np.arange(ROWS))
    assert names["force_at_frame"][5] == [1.0, 2.0, 8.0]
    assert names["poses"].shape == (ROWS, 8)
    assert names["count"] == ROWS


@pytest.mark.parametrize("word", sorted({*KEY_COLUMNS, *EPISODE_SCHEMA.names, *COLUMN_CODES, *info_of(declaration())}))
def test_every_key_column_and_every_key_of_info_is_on_the_page(page: str, word: str) -> None:
    assert f"`{word}`" in page


@pytest.mark.parametrize("suffix", RESERVED_SUFFIXES)
def test_every_kind_of_column_is_on_the_page(page: str, suffix: str) -> None:
    column = rf"`[^`]*{suffix.replace('_force_matrix_ns', '_ns').replace('_force_ns', '_ns')}`"

    assert re.search(column, page)


def test_every_link_of_the_page_leads_somewhere(page: str) -> None:
    headings = re.findall(r"^#+ (.+)$", page, re.MULTILINE)
    anchors = {re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-") for heading in headings}
    for target in re.findall(r"\]\(([^)]+)\)", page):
        if target.startswith("#"):
            assert target[1:] in anchors, target
        else:
            assert (PAGE.parent / target).exists(), target
