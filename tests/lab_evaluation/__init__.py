"""Judges the lab on planted devices: whether it names what was planted, and with how many tests.

`python -m tests.lab_evaluation` runs it; the devices are in `tests/support/dut_zoo`.
"""
