"""The examples in docstrings hold."""

import doctest
import importlib
import pkgutil

import pytest

import wallwatch_backend

MODULES = [m.name for m in pkgutil.walk_packages(wallwatch_backend.__path__, "wallwatch_backend.") if not m.ispkg]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_each_module_hold(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_there_are_examples_to_check() -> None:
    finder = doctest.DocTestFinder()
    examples = [t for name in MODULES for t in finder.find(importlib.import_module(name)) if t.examples]
    assert len(examples) >= 10
