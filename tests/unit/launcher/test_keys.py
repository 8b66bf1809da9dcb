from __future__ import annotations

import os
import pty
import select
import termios
from collections.abc import Iterator

import pytest

from launcher.keys import Key, Keys

WAIT_S = 10.0


@pytest.fixture
def terminal() -> Iterator[tuple[int, int]]:
    """The person's end and the program's end of a terminal."""
    person, program = pty.openpty()
    yield person, program
    for fd in (person, program):
        try:
            os.close(fd)
        except OSError:
            continue


def press(terminal: tuple[int, int], typed: bytes) -> None:
    """Type, and wait until the program's end has it."""
    person, program = terminal
    os.write(person, typed)
    assert select.select([program], [], [], WAIT_S)[0]


@pytest.mark.parametrize(
    ("typed", "key"),
    [
        (b" ", Key.STOP),
        (b"\r", Key.STOP),
        (b"\n", Key.STOP),
        (b"r", Key.REDO),
        (b"R", Key.REDO),
        (b"\x7f", Key.REDO),
        (b"\x08", Key.REDO),
        (b"q", Key.QUIT),
        (b"xyq", Key.QUIT),
        (b"  r", Key.STOP),
    ],
)
def test_a_key_counts_without_enter(terminal: tuple[int, int], typed: bytes, key: Key) -> None:
    with Keys(terminal[1]) as keys:
        assert keys.present()
        press(terminal, typed)
        assert keys.poll() is key
        assert keys.poll() is None


@pytest.mark.parametrize("typed", [b"x", b"\x1b[A", b"\x1bq", "ü".encode(), b"\x00", b"\x13"])
def test_other_keys_and_arrows_mean_nothing(terminal: tuple[int, int], typed: bytes) -> None:
    with Keys(terminal[1]) as keys:
        press(terminal, typed)
        assert keys.poll() is None


def test_keys_pressed_too_early_are_forgotten(terminal: tuple[int, int]) -> None:
    with Keys(terminal[1]) as keys:
        press(terminal, b" ")
        keys.clear()
        assert keys.poll() is None


def raise_inside(keys: Keys, fd: int) -> None:
    with keys:
        assert termios.tcgetattr(fd)[3] & termios.ICANON == 0
        raise RuntimeError


def test_the_terminal_is_restored_after_an_error(terminal: tuple[int, int]) -> None:
    before = termios.tcgetattr(terminal[1])
    with pytest.raises(RuntimeError):
        raise_inside(Keys(terminal[1]), terminal[1])
    assert termios.tcgetattr(terminal[1]) == before


def test_ctrl_c_stays_a_signal(terminal: tuple[int, int]) -> None:
    with Keys(terminal[1]):
        assert termios.tcgetattr(terminal[1])[3] & termios.ISIG


def test_a_closed_terminal_has_no_keys(terminal: tuple[int, int]) -> None:
    with Keys(terminal[1]) as keys:
        os.close(terminal[0])
        assert keys.poll(WAIT_S) is None
        assert not keys.present()


def test_a_pipe_is_no_keyboard() -> None:
    reading, writing = os.pipe()
    try:
        os.write(writing, b"q")
        with Keys(reading) as keys:
            assert not keys.present()
            assert keys.poll() is None
    finally:
        os.close(reading)
        os.close(writing)
