"""Whether an RNIC's model, driver and firmware support or contradict a cause."""

from __future__ import annotations

import re
from dataclasses import dataclass

from wallwatch.domain.catalogue.models import Cause, FixedIn


@dataclass(frozen=True, slots=True)
class Identity:
    """The identity of an RNIC; "" for unknown parts."""

    model: str = ""
    driver: str = ""
    fw_ver: str = ""
    driver_version: str = ""


def version(text: str) -> tuple[int, ...]:
    """The numbers of a version, to be compared.

    >>> version("20.41.1000") > version("20.35.1012"), version("24.10-1.1.4"), version("?")
    (True, (24, 10, 1, 1, 4), ())
    """
    return tuple(int(n) for n in re.findall(r"\d+", text))


def repaired_by(cause: Cause, rnic: Identity) -> str:
    """The installed version that is known to fix a cause, as text; "" if there is none, or the version is unknown.

    >>> from wallwatch.domain.catalogue.load import causes
    >>> repaired_by(causes()["C5"], Identity("CX-6", "mlx5_core", "20.43.2000"))
    'firmware 20.43.2000 (fixed from 20.41.1000 on)'
    """
    for fix in cause.fixed_in:
        if _concerns(fix, rnic):
            for what, installed, since in (("firmware", rnic.fw_ver, fix.firmware_from), ("driver", rnic.driver_version, fix.driver_from)):
                if since is not None and version(installed) >= version(since) and version(installed):
                    return f"{what} {installed} (fixed from {since} on)"
    return ""


def flawed_by(cause: Cause, rnic: Identity) -> str:
    """The installed version that is known to have a cause, as text; "" if it is fixed or unknown."""
    for fix in cause.fixed_in:
        if _concerns(fix, rnic):
            for what, installed, since in (("firmware", rnic.fw_ver, fix.firmware_from), ("driver", rnic.driver_version, fix.driver_from)):
                if since is not None and version(installed) and version(installed) < version(since):
                    return f"{what} {installed} (fixed from {since} on)"
    return ""


def _concerns(fix: FixedIn, rnic: Identity) -> bool:
    return (not fix.models or rnic.model in fix.models) and (fix.driver is None or rnic.driver == fix.driver)
