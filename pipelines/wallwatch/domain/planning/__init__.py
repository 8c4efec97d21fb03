"""Mask plans: which masks an RNIC should look up first, the steps to get there, and the proof that every packet is handled as before."""
