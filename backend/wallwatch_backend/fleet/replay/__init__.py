"""The fleet as it was at a minute of the past."""
