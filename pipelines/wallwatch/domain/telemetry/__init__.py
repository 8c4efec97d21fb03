"""The registry of topics and metrics."""
