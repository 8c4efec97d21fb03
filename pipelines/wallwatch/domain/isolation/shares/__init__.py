"""Exact fair shares of a RNIC's bandwidth: per virtual function, and per pair of sender and receiver."""
