"""The words for states, mechanisms and roles, as the UI and findings show them. One home: the catalogue of the API serves them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Word:
    """One value with its label and its meaning in a sentence."""

    id: str
    label: str
    meaning: str


STATES = (
    Word("kept", "kept", "The VF got what was promised to it."),
    Word(
        "broken",
        "broken",
        "A promise to the VF was broken although it stayed inside its envelope, because other VFs overload what they share.",
    ),
    Word("unknown", "unknown", "There is no evidence: samples are missing, or the VF had no traffic to judge by. Never counted as kept."),
    Word("not promised", "not promised", "The VF has no SLO, or it is above its own envelope."),
)
"""States of a VF in a second."""

MECHANISMS = (
    Word("ingress packet rate", "packet rate", "The RNIC receives more packets per second than it can process, and drops for everyone."),
    Word("ingress bandwidth", "bandwidth", "The RNIC receives more bytes per second than it can process, and drops for everyone."),
    Word("egress buffer", "egress buffer", "A VF's waiting packets fill the transmit buffers that all VFs share; others wait behind them."),
    Word("pcie", "PCIe", "The RNIC waits for the PCIe bus, and packets pile up in its buffers."),
    Word("cpu", "CPU", "The host's CPU, which processes packets of several VFs, is overloaded."),
)
"""What was overloaded."""

ROLES = (
    Word("victim", "victim", "A promise to it is broken."),
    Word("aggressor", "aggressor", "It takes more than its fair share, and without it the promises would be kept."),
    Word("beyond", "beyond its envelope", "It sends or receives more than its own maximum; nothing is promised above that."),
)
"""Part of a VF in what happens."""
