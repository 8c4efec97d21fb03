"""Planted devices for the lab: executables and objects that speak `dut/1`, each with the truth of what makes it fail.

They are written apart from the lab and share no code with it. Only the standard library is imported: a device starts in a fraction of
a second, and what it answers does not depend on any version of a library.
"""

from dut_zoo.device import Device, Ledger
from dut_zoo.kinds import KINDS, TRAPS, make
from dut_zoo.planted import Fault, Planted

__all__ = ["KINDS", "TRAPS", "Device", "Fault", "Ledger", "Planted", "make"]
