from __future__ import annotations

import io
import json
import math
from pathlib import Path

import pytest

from flows.session_events import Committed, event_record
from launcher.json_lines import JsonLines

from .takes import take_summary


def test_a_record_is_one_line() -> None:
    out = io.BytesIO()
    lines = JsonLines(out)
    lines.write({"event": "a", "text": "two\nlines", "task": "倒水", "path": Path("x"), "nan": math.nan})
    lines.write({"event": "b"})
    first, second = out.getvalue().decode().splitlines()
    assert json.loads(first) == {"event": "a", "text": "two\nlines", "task": "倒水", "path": "x", "nan": None}
    assert json.loads(second) == {"event": "b"}


def test_a_summary_goes_through_json() -> None:
    out = io.BytesIO()
    JsonLines(out).write(event_record(Committed(at_ns=5, k=0, summary=take_summary())))
    found = json.loads(out.getvalue())
    assert found["event"] == "committed"
    assert found["summary"]["slots"][0]["slot"] == "head_rgb"


class _Closed(io.BytesIO):
    def flush(self) -> None:
        raise BrokenPipeError


def test_a_closed_pipe_is_told() -> None:
    with pytest.raises(BrokenPipeError):
        JsonLines(_Closed()).write({"event": "a"})


def test_the_last_line_may_go_unread() -> None:
    JsonLines(_Closed()).write_if_read({"event": "end"})
