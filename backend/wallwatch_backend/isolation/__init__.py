"""Isolation: whose traffic broke whose promise, and what was promised to whom."""
