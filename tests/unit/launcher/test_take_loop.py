from __future__ import annotations

from collections.abc import Sequence

import pytest

from flows.session_events import EndReason
from flows.summary import TakeSummary
from launcher.interrupts import Interrupts
from launcher.keys import Key, Keys
from launcher.take_loop import TakeLoop

from .takes import PlayedSession


class TypedKeys(Keys):
    """Gives the keys one a poll."""

    def __init__(self, typed: Sequence[Key | None]) -> None:
        super().__init__(None)
        self.typed = list(typed)

    def present(self) -> bool:
        return True

    def poll(self, timeout_s: float = 0.0) -> Key | None:
        assert self.typed, "the loop asked for more keys than were typed"
        return self.typed.pop(0)

    def clear(self) -> None:
        pass


class CalledOff(Interrupts):
    """Somebody wants to leave from the n-th question on."""

    def __init__(self, after: int) -> None:
        super().__init__()
        self._left = after

    def wished(self) -> bool:
        self._left -= 1
        return self._left < 0


def run(
    session: PlayedSession,
    *,
    keys: Keys | None = None,
    interrupts: Interrupts | None = None,
    episodes: int = 1,
) -> tuple[TakeLoop, list[TakeSummary]]:
    saved: list[TakeSummary] = []
    loop = TakeLoop(
        session,
        episodes=episodes,
        seconds=None,
        keys=keys or Keys(None),
        interrupts=interrupts or Interrupts(),
        saved=saved.append,
    )
    loop.run()
    return loop, saved


def test_a_take_that_ends_by_itself_is_saved() -> None:
    session = PlayedSession([None, None, EndReason.SECONDS])
    loop, saved = run(session)
    assert session.asked == ["start", "stop"]
    assert [summary.k for summary in saved] == [0]
    assert not loop.failed


def test_without_a_keyboard_the_takes_follow_each_other() -> None:
    session = PlayedSession([EndReason.SECONDS, None, EndReason.SOURCE_ENDED, EndReason.SECONDS])
    _, saved = run(session, episodes=3)
    assert session.asked == ["start", "stop"] * 3
    assert [summary.k for summary in saved] == [0, 1, 2]


def test_space_stops_and_saves_and_space_again_starts_the_next() -> None:
    session = PlayedSession()
    run(session, episodes=2, keys=TypedKeys([None, None, Key.STOP, None, Key.STOP, None, Key.STOP]))
    assert session.asked == ["start", "stop", "start", "stop"]


def test_a_take_thrown_away_is_not_counted_and_recorded_again() -> None:
    session = PlayedSession()
    _, saved = run(session, keys=TypedKeys([None, None, Key.REDO, None, Key.STOP, None, Key.STOP]))
    assert session.asked == ["start", "discard", "start", "stop"]
    assert len(saved) == 1


def test_quit_saves_the_running_take_and_starts_no_other() -> None:
    session = PlayedSession()
    run(session, episodes=5, keys=TypedKeys([None, None, Key.QUIT]))
    assert session.asked == ["start", "stop"]


def test_quit_between_takes_starts_no_other() -> None:
    session = PlayedSession([EndReason.SECONDS])
    run(session, episodes=5, keys=TypedKeys([None, None, Key.QUIT]))
    assert session.asked == ["start", "stop"]


def test_quit_pressed_while_waiting_for_the_first_frames_leaves_no_episode() -> None:
    session = PlayedSession()
    _, saved = run(session, episodes=5, keys=TypedKeys([Key.QUIT]))
    assert session.asked == ["start", "discard"]
    assert not saved


def test_a_signal_saves_the_running_take_and_ends_the_run() -> None:
    session = PlayedSession()
    _, saved = run(session, episodes=5, interrupts=CalledOff(after=3))
    assert session.asked == ["start", "stop"]
    assert len(saved) == 1


def test_a_signal_before_the_first_row_leaves_no_episode() -> None:
    session = PlayedSession()
    run(session, episodes=5, interrupts=CalledOff(after=0))
    assert session.asked == ["start", "discard"]


def test_a_signal_between_takes_starts_no_other() -> None:
    session = PlayedSession([EndReason.SECONDS])
    run(session, episodes=5, interrupts=CalledOff(after=2))
    assert session.asked == ["start", "stop"]


@pytest.mark.parametrize("reason", [reason for reason in EndReason if reason.is_failure])
def test_a_take_that_failed_is_saved_and_is_the_last(reason: EndReason) -> None:
    session = PlayedSession([reason])
    loop, saved = run(session, episodes=5)
    assert session.asked == ["start", "stop"]
    assert loop.failed
    assert saved[0].reason == reason
