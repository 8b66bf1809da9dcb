from __future__ import annotations

import io

from launcher.terminal import TolerantOutput


class _Gone(io.StringIO):
    def write(self, _text: str) -> int:
        raise OSError(5, "Input/output error")


def test_a_terminal_that_went_away_is_written_to_no_more() -> None:
    output = TolerantOutput(_Gone())
    assert output.write("abc") == 3
    assert output.lost
    output.write("def")
    output.flush()
    assert not output.isatty()


def test_text_passes_through() -> None:
    out = io.StringIO()
    output = TolerantOutput(out)
    output.write("abc")
    output.flush()
    assert out.getvalue() == "abc"
