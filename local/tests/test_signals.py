import os
import signal
import threading
import time

import pytest

from wallwatch_local.signals import Interrupted, interruptible, pause


def test_a_pause_ends_when_the_terminal_is_gone() -> None:
    master, terminal = os.openpty()
    threading.Timer(0.2, os.close, [master]).start()
    begin = time.monotonic()
    try:
        with pytest.raises(Interrupted), interruptible():
            pause(20, terminal)
        assert time.monotonic() - begin < 10
        with pytest.raises(Interrupted), interruptible():  # and ends at once when it was gone before
            pause(20, terminal)
    finally:
        os.close(terminal)


def test_a_pause_is_only_a_pause_while_the_terminal_lives() -> None:
    master, terminal = os.openpty()
    try:
        pause(0.05, terminal)
    finally:
        os.close(master)
        os.close(terminal)


def test_without_a_terminal_a_pause_is_only_a_pause() -> None:
    reading, writing = os.pipe()
    os.close(writing)
    try:
        pause(0.05, reading)
    finally:
        os.close(reading)


def end_twice() -> None:
    try:
        signal.raise_signal(signal.SIGTERM)
    finally:
        signal.raise_signal(signal.SIGINT)  # must not cut the stopping short


def test_the_first_signal_interrupts_and_the_next_is_ignored() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(Interrupted), interruptible():
        end_twice()
    assert signal.getsignal(signal.SIGTERM) == before
