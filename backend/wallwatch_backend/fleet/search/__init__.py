"""Finds hosts, RNICs and pods by parts of their names."""
