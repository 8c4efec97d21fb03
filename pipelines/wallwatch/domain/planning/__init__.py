"""Mask plans: which masks an RNIC should try first, the steps that get there, and the proof that no packet is treated otherwise."""
