"""The Wallwatch API: serve, authorise, command."""

from importlib.metadata import version

__version__ = version("wallwatch")
"""Of the installed package: pyproject.toml is where it is set."""
