"""The stack on one machine without Docker, for the demo and for tests."""
