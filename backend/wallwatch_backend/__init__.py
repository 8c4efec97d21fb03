"""The Wallwatch API: serve, authorise, command."""

__version__ = "0.1.0"
