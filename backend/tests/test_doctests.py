"""The examples in docstrings hold."""

import doctest
import importlib

import pytest

from wallwatch_testing.examples import modules_with_examples

MODULES = modules_with_examples("wallwatch_backend")


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_each_module_hold(name: str) -> None:
    outcome = doctest.testmod(importlib.import_module(name))
    assert outcome.failed == 0
    assert outcome.attempted > 0, "a prompt outside of a docstring: this module's examples are not run"


def test_there_are_examples_to_check() -> None:
    assert len(MODULES) >= 10
