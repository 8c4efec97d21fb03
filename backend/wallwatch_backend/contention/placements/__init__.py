"""Placement of a batch of functions on cards."""
