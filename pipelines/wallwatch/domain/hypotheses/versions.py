"""Whether an RNIC's model, driver and firmware support or contradict a cause."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from wallwatch.domain.catalogue.load import firmware_families, profiles
from wallwatch.domain.catalogue.models import Cause, FixedIn


@dataclass(frozen=True, slots=True)
class Identity:
    """The identity of an RNIC; "" for unknown parts."""

    model: str = ""
    driver: str = ""
    fw_ver: str = ""
    driver_version: str = ""
    variant: str = ""
    """Which of its profile's cards it is, such as `CX-4 Lx` of `CX-4`; the profile where the catalogue makes no difference."""


def version(text: str) -> tuple[int, ...]:
    """The numbers of a version, to be compared.

    >>> version("20.41.1000") > version("20.35.1012"), version("24.10-1.1.4"), version("?")
    (True, (24, 10, 1, 1, 4), ())
    """
    return tuple(int(n) for n in re.findall(r"\d+", text))


def comparable(model: str, installed: str, since: str) -> bool:
    """Whether a firmware version says anything about another one of the same model: a profile may cover several families of cards.

    >>> comparable("CX-6", "20.35.1012", "20.41.1000"), comparable("CX-6", "22.41.1000", "20.41.1000")
    (True, False)
    """
    if not version(installed):
        return False
    profile = profiles().get(model)
    return profile is None or profile.vendor not in firmware_families() or version(installed)[0] == version(since)[0]


def repaired_by(cause: Cause, rnic: Identity) -> str:
    """The installed version that is known to fix a cause, as text; "" if there is none, or the version is unknown.

    >>> from wallwatch.domain.catalogue.load import causes
    >>> repaired_by(causes()["C5"], Identity("CX-6", "mlx5_core", "20.43.2000"))
    'firmware 20.43.2000 (fixed from 20.41.1000 on)'
    """
    for what, installed, since in _compared(cause, rnic):
        if version(installed) >= version(since):
            return f"{what} {installed} (fixed from {since} on)"
    return ""


def flawed_by(cause: Cause, rnic: Identity) -> str:
    """The installed version that is known to have a cause, as text; "" if it is fixed or unknown."""
    for what, installed, since in _compared(cause, rnic):
        if version(installed) < version(since):
            return f"{what} {installed} (fixed from {since} on)"
    return ""


def _compared(cause: Cause, rnic: Identity) -> Iterator[tuple[str, str, str]]:
    """What of the RNIC is versioned, the installed version, and the first one with the fix, for each fix that says something about it."""
    for fix in cause.fixed_in:
        if not _concerns(fix, rnic):
            continue
        if fix.firmware_from is not None and comparable(rnic.model, rnic.fw_ver, fix.firmware_from):
            yield "firmware", rnic.fw_ver, fix.firmware_from
        if fix.driver_from is not None and version(rnic.driver_version):
            yield "driver", rnic.driver_version, fix.driver_from


def _concerns(fix: FixedIn, rnic: Identity) -> bool:
    return (not fix.models or rnic.model in fix.models) and (fix.driver is None or rnic.driver == fix.driver)
