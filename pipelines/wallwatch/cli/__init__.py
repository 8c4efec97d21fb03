"""The `wallwatch` command."""
