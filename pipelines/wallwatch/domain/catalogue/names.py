"""Common names of RNIC models."""

from __future__ import annotations

import re

from wallwatch.domain.catalogue.load import profiles

_FAMILIES = {"connectx": "cx", "bluefield": "bf"}
_VARIANT = re.compile(r"(?<=\d)(dx|lx|vpi|ex|en)$")
"""ConnectX-6 Dx and ConnectX-4 Lx are of the profile of their generation."""


def profile_named(text: str) -> str | None:
    """The profile for a name, a title, a PCI id or an HCA type; None if there is none.

    >>> [profile_named(name) for name in ("cx-6", "CX6", "ConnectX-6 Dx", "NVIDIA BlueField-3", "intel e810", "15b3:1021", "mt4129", "CX")]
    ['CX-6', 'CX-6', 'CX-6', 'BF-3', 'E810', 'CX-7', 'CX-7', None]
    >>> profile_named("Broadcom P2100")
    'P2100'
    """
    wanted = _plain(text)
    for name, profile in profiles().items():
        if wanted in {_plain(name), _plain(profile.title), *(_plain(key) for key in (*profile.pci_ids, *profile.hca_types))}:
            return name
    return None


def _plain(text: str) -> str:
    plain = re.sub(r"[^a-z0-9]", "", text.lower())
    for maker in ("nvidia", "mellanox", "intel", "broadcom"):
        plain = plain.removeprefix(maker)
    for family, short in _FAMILIES.items():
        plain = plain.replace(family, short)
    return _VARIANT.sub("", plain)
