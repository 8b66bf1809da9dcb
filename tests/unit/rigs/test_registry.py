from __future__ import annotations

from pathlib import Path

import pytest

from operators.errors import RigError
from rigs.registry import list_rigs, load_rig

GOOD = '''
"""A camera on the bench."""
from typing import Literal
from pathlib import Path
from rigs import Rig
from tests.fake_devices import camera

def rig(path: Path, fps: float = 30, count: int = 1, dark: bool = False, side: Literal["left", "right"] = "left",
        limit: int | None = None) -> Rig:
    assert isinstance(path, Path)
    return Rig(f"{path.name} {count} {dark} {side} {limit}", [camera("head")], fps=fps)
'''


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "my_rig.py"
    path.write_text(text)
    return path


def test_parameters_are_converted_to_their_types(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD)
    given = {"path": "/x/y", "fps": "25.5", "count": "3", "dark": "yes", "side": "right", "limit": "7"}
    rig = load_rig(str(path), given)
    assert (rig.name, rig.fps) == ("y 3 True right 7", 25.5)


def test_a_rig_may_be_a_value(tmp_path: Path) -> None:
    path = write(
        tmp_path, "from rigs import Rig\nfrom tests.fake_devices import camera\nrig = Rig('mine', [camera('a')])\n"
    )
    assert load_rig(str(path)).name == "mine"
    with pytest.raises(RigError, match="takes no parameters, so not fps"):
        load_rig(str(path), {"fps": "3"})


def test_an_unknown_parameter_is_named_with_the_known_ones(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD)
    with pytest.raises(RigError, match=r"no parameter 'cuont'; did you mean count\?; it takes: path, fps, count"):
        load_rig(str(path), {"path": "x", "cuont": "3"})


def test_a_missing_parameter_is_named(tmp_path: Path) -> None:
    with pytest.raises(RigError, match="parameter path must be given"):
        load_rig(str(write(tmp_path, GOOD)))


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("count", "many", "integer"),
        ("fps", "nan", "number"),
        ("dark", "maybe", "true or false"),
        ("side", "up", "left or right"),
    ],
)
def test_a_value_of_another_type_is_named_with_its_parameter(tmp_path: Path, name: str, text: str, kind: str) -> None:
    with pytest.raises(RigError, match=f"parameter {name}='{text}' is no {kind}"):
        load_rig(str(write(tmp_path, GOOD)), {"path": "x", name: text})


def test_an_error_in_the_file_shows_file_and_line(tmp_path: Path) -> None:
    path = write(tmp_path, "import math\n\nx = 1 / 0\n")
    with pytest.raises(RigError, match=rf"{path}:3: ZeroDivisionError: division by zero"):
        load_rig(str(path))


def test_a_syntax_error_shows_file_and_line(tmp_path: Path) -> None:
    path = write(tmp_path, "a = 1\nb = = 2\n")
    with pytest.raises(RigError, match=rf"{path}:2: SyntaxError"):
        load_rig(str(path))


def test_a_rig_that_cannot_work_shows_the_line_that_builds_it(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "from rigs import Rig\nfrom tests.fake_devices import camera\n\n"
        "def rig() -> Rig:\n    return Rig('r', [camera('a'), camera('a')])\n",
    )
    with pytest.raises(RigError, match=rf"{path}:5: camera:a: declared twice"):
        load_rig(str(path))


def test_a_file_that_leaves_the_program_is_an_error_of_the_file(tmp_path: Path) -> None:
    with pytest.raises(RigError, match=r"my_rig\.py:1: SystemExit"):
        load_rig(str(write(tmp_path, "raise SystemExit(3)\n")))


def test_a_file_without_a_rig_says_what_to_write(tmp_path: Path) -> None:
    with pytest.raises(RigError, match=r"defines no rig; write `rig = Rig"):
        load_rig(str(write(tmp_path, "x = 1\n")))


def test_a_function_that_gives_no_rig_is_named(tmp_path: Path) -> None:
    with pytest.raises(RigError, match=r"rig\(\) gave a int, not a Rig"):
        load_rig(str(write(tmp_path, "def rig():\n    return 3\n")))


def test_a_parameter_without_a_name_of_its_own_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RigError, match="'extra' must have a name of its own"):
        load_rig(str(write(tmp_path, "def rig(**extra):\n    return 3\n")))


def test_a_file_is_read_anew_each_time(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD)
    load_rig(str(path), {"path": "x"})
    path.write_text(
        "from rigs import Rig\nfrom tests.fake_devices import camera\nrig = Rig('other one', [camera('a')])\n"
    )
    assert load_rig(str(path)).name == "other one"


@pytest.mark.parametrize("name", ["nothing_like_it", "a\0b", "/no/such/file.py", "registry", "../rigs/registry"])
def test_a_rig_that_is_not_there_is_an_error(name: str) -> None:
    with pytest.raises(RigError, match=r"no rig|no such rig file"):
        load_rig(name)


def test_rigs_that_come_along_can_all_be_loaded() -> None:
    assert [info.problem for info in list_rigs()] == [""] * len(list_rigs())
