"""Ctrl-C is a wish to stop, unless whoever started us said to ignore it."""

import signal
from collections.abc import Callable

import pytest

from ldp3.progress import Terminal


@pytest.fixture
def ctrl_c() -> object:
    before = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, before)


def test_the_tests_hear_ctrl_c_however_they_were_started() -> None:
    assert isinstance(signal.getsignal(signal.SIGINT), Callable)  # type: ignore[arg-type]


@pytest.mark.usefixtures("ctrl_c")
def test_a_signal_that_is_ignored_stays_ignored() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with Terminal() as terminal:
        signal.raise_signal(signal.SIGINT)
    assert not terminal.stopped()
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_asks_to_stop_once_and_the_handler_comes_back() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with Terminal() as terminal:
        signal.raise_signal(signal.SIGINT)
        assert terminal.stopped()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_DFL  # the second one ends us
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.usefixtures("ctrl_c")
def test_the_handler_comes_back_however_often_a_terminal_is_begun() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with Terminal() as terminal, terminal:  # a command, and what it calls
        pass
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
