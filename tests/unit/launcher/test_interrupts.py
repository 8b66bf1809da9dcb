from __future__ import annotations

import os
import signal

import pytest

from launcher.interrupts import Interrupts


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_is_a_wish_and_its_handler_is_put_back(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with Interrupts() as interrupts:
        assert not interrupts.wished()
        os.kill(os.getpid(), number)
        assert interrupts.wished()
        assert interrupts.name == number.name
    assert signal.getsignal(number) == before


def test_the_third_ctrl_c_leaves() -> None:
    with Interrupts():
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)


def test_sigterm_never_leaves_a_take_unsaved() -> None:
    with Interrupts() as interrupts:
        for _ in range(5):
            os.kill(os.getpid(), signal.SIGTERM)
        assert interrupts.wished()
