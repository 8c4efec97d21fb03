"""The words for states, mechanisms and roles, as the UI and findings show them. One home: the catalogue of the API serves them."""

from __future__ import annotations

from dataclasses import dataclass

from wallwatch.domain.isolation.verdicts import Mechanism, State


@dataclass(frozen=True)
class Word:
    """One value with its label and its meaning in a sentence."""

    id: str
    label: str
    meaning: str


STATES = (
    Word(State.KEPT.value, "kept", "The VF got what was promised to it."),
    Word(
        State.BROKEN.value,
        "broken",
        "A promise to the VF was broken although it stayed inside its envelope, because other VFs overload what they share.",
    ),
    Word(State.UNKNOWN.value, "unknown", "There is no evidence: samples are missing, or the VF had no traffic. Never counted as kept."),
    Word(State.NOT_PROMISED.value, "not promised", "The VF has no SLO, or it is above its own envelope."),
)
"""States of a VF in a second."""

MECHANISMS = (
    Word(Mechanism.PACKET_RATE.value, "packet rate", "The RNIC receives more packets than it can process, and drops for everyone."),
    Word(Mechanism.BANDWIDTH.value, "bandwidth", "The RNIC receives more bytes than it can process, and drops for everyone."),
    Word(Mechanism.EGRESS.value, "egress buffer", "Waiting packets of one VF fill the transmit buffers that all VFs share."),
    Word(Mechanism.PCIE.value, "PCIe", "The RNIC waits for the PCIe bus, and packets pile up in its buffers."),
    Word(Mechanism.CPU.value, "CPU", "The host's CPU, which processes packets of several VFs, is overloaded."),
)
"""What was overloaded."""

ROLES = (
    Word("victim", "victim", "A promise to it is broken."),
    Word("aggressor", "aggressor", "It takes more than its fair share, and without it the promises would be kept."),
    Word("beyond", "beyond its envelope", "It sends or receives more than its own maximum; nothing is promised above that."),
)
"""Part of a VF in what happens."""
