"""``rigflow record`` as a process: with a program behind its pipe, and with a person at its terminal."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from episodes.reader import Task, open_task
from episodes.validator import validate_task

RIGFLOW = [sys.executable, "-c", "from launcher.cli import main; main()"]
ON_ITS_TERMINAL = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
)
PATIENCE_S = 60.0


class Person:
    """Somebody at a terminal of 120 columns and 40 lines who runs ``rigflow record``."""

    def __init__(self, *arguments: str) -> None:
        self._fd, program = pty.openpty()
        self._process = subprocess.Popen(
            [sys.executable, "-c", ON_ITS_TERMINAL, *RIGFLOW, "record", *arguments],
            stdin=program,
            stdout=program,
            stderr=program,
            start_new_session=True,
            env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "120", "LINES": "40"},
        )
        os.close(program)
        self.seen = ""

    def wait_for(self, words: str) -> None:
        """Read until ``words`` stand on the terminal after everything that was waited for before."""
        deadline = time.monotonic() + PATIENCE_S
        unread = ""
        while words not in unread:
            left = deadline - time.monotonic()
            assert left > 0, f"{words!r} did not come; seen: {self.seen[-3000:]}"
            if select.select([self._fd], [], [], left)[0]:
                try:
                    raw = os.read(self._fd, 65536)
                except OSError as error:
                    raise AssertionError(f"{words!r} did not come before the end; seen: {self.seen[-3000:]}") from error
                text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", raw.decode(errors="replace"))
                unread += text
                self.seen += text

    def press(self, key: str) -> None:
        os.write(self._fd, key.encode())

    def hang_up(self) -> None:
        """Close the terminal."""
        os.close(self._fd)
        self._fd = -1

    def leave(self) -> int:
        """The exit code, once the command has ended."""
        while self._fd >= 0 and self._process.poll() is None:
            if select.select([self._fd], [], [], 0.1)[0]:
                try:
                    self.seen += os.read(self._fd, 65536).decode(errors="replace")
                except OSError:
                    break
        return self._process.wait(PATIENCE_S)

    def close(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        if self._fd >= 0:
            os.close(self._fd)


@pytest.fixture
def people() -> Iterator[list[Person]]:
    """Those who came; whatever still runs at the end is ended."""
    found: list[Person] = []
    yield found
    for person in found:
        person.close()


def the_task(root: Path) -> Task:
    (folder,) = root.iterdir()
    assert validate_task(folder, deep=True).of("error") == ()
    return open_task(folder)


def lines_of(output: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in output.splitlines()]


def test_json_lines_tell_the_life_of_a_take(tmp_path: Path) -> None:
    root = tmp_path / "recordings"
    done = subprocess.run(
        [*RIGFLOW, "record", "demo", "--task", "t", "--seconds", "1", "--episodes", "2", "--root", str(root), "--json"],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = lines_of(done.stdout)
    life = [line["event"] for line in lines if line["event"] not in ("devicechanged", "warned")]
    assert life == ["armed", "primed", "recording", "stopped", "committed"] * 2 + ["end"]
    assert lines[-1] == {"event": "end", "exit_code": 0, "episodes": [0, 1], "error": ""}
    lengths = [line["summary"]["rows"] for line in lines if line["event"] == "committed"]
    assert [episode.length for episode in the_task(root).episodes] == lengths
    assert all(length > 0 for length in lengths)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_saves_the_take(tmp_path: Path, number: signal.Signals) -> None:
    root = tmp_path / "recordings"
    process = subprocess.Popen(
        [*RIGFLOW, "record", "demo", "--task", "t", "--root", str(root), "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    for line in process.stdout:
        if json.loads(line)["event"] == "recording":
            break
    time.sleep(1.0)
    process.send_signal(number)
    output, errors = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, errors
    lines = lines_of(output)
    assert lines[-1]["episodes"] == [0]
    assert [line["reason"] for line in lines if line["event"] == "stopped"] == ["stopped"]
    assert [episode.k for episode in the_task(root).episodes] == [0]


def test_a_pipe_that_nobody_reads_any_more_does_not_end_the_take(tmp_path: Path) -> None:
    root = tmp_path / "recordings"
    process = subprocess.Popen(
        [*RIGFLOW, "record", "demo", "--task", "t", "--seconds", "2", "--root", str(root), "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(PATIENCE_S) == 0
    (episode,) = the_task(root).episodes
    assert episode.length > 30


def test_keys_throw_away_redo_save_and_start_the_next(tmp_path: Path, people: list[Person]) -> None:
    root = tmp_path / "recordings"
    person = Person("demo", "--task", "pour water", "--episodes", "2", "--root", str(root))
    people.append(person)
    person.wait_for("recording episode 0")
    person.wait_for("stop and save")
    person.press("r")
    person.wait_for("episode 0 thrown away")
    person.wait_for("next take")
    person.press(" ")
    person.wait_for("recording episode 0")
    person.wait_for("stop and save")
    person.press(" ")
    person.wait_for("episode 0 of pour water saved")
    person.wait_for("next take")
    person.press("\r")
    person.wait_for("recording episode 1")
    person.wait_for("stop and save")
    person.press("q")
    person.wait_for("episode 1 of pour water saved")
    assert person.leave() == 0
    assert [episode.k for episode in the_task(root).episodes] == [0, 1]


def test_a_closed_terminal_saves_the_take(tmp_path: Path, people: list[Person]) -> None:
    root = tmp_path / "recordings"
    person = Person("demo", "--task", "t", "--root", str(root))
    people.append(person)
    person.wait_for("recording episode 0")
    person.wait_for("stop and save")
    person.hang_up()
    assert person.leave() == 0
    assert [episode.k for episode in the_task(root).episodes] == [0]


def test_ctrl_c_on_the_terminal_saves_the_take(tmp_path: Path, people: list[Person]) -> None:
    root = tmp_path / "recordings"
    person = Person("demo", "--task", "t", "--root", str(root))
    people.append(person)
    person.wait_for("recording episode 0")
    person.wait_for("stop and save")
    person.press("\x03")
    person.wait_for("episode 0 of t saved")
    assert person.leave() == 0
    assert [episode.k for episode in the_task(root).episodes] == [0]
