"""What the page for rig developers shows, works."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import Any

import pytest

from rigs import load_rig
from tests.source_events import Listener

PAGE = Path(__file__).resolve().parents[2] / "docs" / "rigs.md"
_FENCED = re.compile(r"^ *```python\n(.*?)^ *```", re.DOTALL | re.MULTILINE)
BLOCKS = [textwrap.dedent(block) for block in _FENCED.findall(PAGE.read_text())]
RIGS = [block for block in BLOCKS if "-> Rig" in block or "rig = Rig" in block]
TESTS = [block for block in BLOCKS if "def test_" in block]


def test_every_example_is_a_rig_or_a_test() -> None:
    assert len(RIGS) == 3
    assert len(TESTS) == 2
    assert len(BLOCKS) == 5


@pytest.mark.parametrize("block", RIGS, ids=["bench", "load_cell", "depth_camera"])
def test_the_rig_can_be_built(tmp_path: Path, block: str) -> None:
    path = tmp_path / "example.py"
    path.write_text(block)
    assert load_rig(str(path), {}).declaration("task", "1.0").streams


@pytest.mark.parametrize("block", TESTS, ids=["marble", "twin"])
def test_the_test_holds(tmp_path: Path, block: str) -> None:
    names: dict[str, Any] = {}
    exec(compile(block, str(PAGE), "exec"), names)
    (test,) = (value for name, value in names.items() if name.startswith("test_"))
    if "tmp_path" in test.__annotations__:
        test(tmp_path)
    else:
        test()


def test_the_load_cells_source_reads_its_lines(tmp_path: Path) -> None:
    names: dict[str, Any] = {}
    exec(compile(next(block for block in RIGS if "load_cell" in block), str(PAGE), "exec"), names)
    port = tmp_path / "port"
    port.write_text("1 2 3\ngarbage\n4 5 6\n")
    with Listener(names["load_cell"](str(port))) as heard:
        heard.until_end()
    assert [sample.value.tolist() for sample in heard.items("vector")] == [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    assert "the port was closed" in str(heard.error)
