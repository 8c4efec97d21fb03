"""Headroom of an RNIC to each of its walls."""
