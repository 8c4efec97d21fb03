"""Campaigns of the lab: what makes an RNIC fall over, and at which value."""
