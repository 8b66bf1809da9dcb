from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from episodes.errors import CorruptFileError
from episodes.json_form import json_text, read_json_object

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(value=st.dictionaries(st.text(), VALUES, max_size=4))
def test_what_is_written_is_read_back_the_same(tmp_path_factory: pytest.TempPathFactory, value: dict[str, Any]) -> None:
    path = tmp_path_factory.mktemp("json") / "x.json"
    path.write_bytes(json_text(value).encode())

    assert read_json_object(path) == value


@given(text=st.binary(max_size=60))
def test_any_bytes_are_an_object_that_can_be_written_or_are_named(
    tmp_path_factory: pytest.TempPathFactory, text: bytes
) -> None:
    path = tmp_path_factory.mktemp("json") / "x.json"
    path.write_bytes(text)
    try:
        found = read_json_object(path)
    except CorruptFileError as error:
        refused = str(error)
    else:
        json_text(found).encode()
        return
    assert str(path) in refused


def test_numbers_that_json_does_not_have_are_refused_when_writing() -> None:
    with pytest.raises(ValueError, match="JSON"):
        json_text({"x": float("nan")})
