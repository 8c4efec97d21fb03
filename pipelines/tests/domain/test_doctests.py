"""Every example in a docstring of the package is true."""

import doctest
import importlib
import pkgutil

import pytest

import wallwatch

MODULES = [m.name for m in pkgutil.walk_packages(wallwatch.__path__, "wallwatch.") if m.name != "wallwatch.jobs.classify"]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_each_module_hold(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_there_are_examples_to_check() -> None:
    finder = doctest.DocTestFinder()
    examples = [t for name in MODULES for t in finder.find(importlib.import_module(name)) if t.examples]
    assert len(examples) >= 10
