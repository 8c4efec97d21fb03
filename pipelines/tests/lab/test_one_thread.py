"""Libraries that a campaign loads calculate in one thread; what the user has set, and what devices see, stays as it was."""

import os
import subprocess
import sys

import pytest

from wallwatch.lab.one_thread import VARIABLES, one_thread


def test_inside_every_library_is_asked_for_one_thread_and_outside_nothing_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    with one_thread():
        assert {os.environ[name] for name in VARIABLES} == {"1"}
    assert not set(VARIABLES) & set(os.environ)


def test_what_the_user_has_set_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "3")
    with one_thread():
        assert os.environ["OPENBLAS_NUM_THREADS"] == "3"
    assert os.environ["OPENBLAS_NUM_THREADS"] == "3"


def test_the_modules_of_a_campaign_load_no_such_library_before() -> None:
    """Else the number of threads would be settled before the campaign says it."""
    check = "import sys, wallwatch.cli.lab, wallwatch.lab.campaign; print([one for one in ('numpy', 'scipy') if one in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, timeout=120, check=True)
    assert ran.stdout.strip() == "[]"
