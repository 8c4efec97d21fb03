"""What is promised to each VF: a bandwidth envelope, delay and loss (PicNIC, section 4, table 2)."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import Any

VF_NAME = re.compile(r"vf(0|[1-9]\d{0,4})")
"""How a VF is named in files: vf0, vf1, ..."""


class BadSlo(ValueError):
    """An SLO that is malformed or that cannot be promised; the text says what to change."""


@dataclass(frozen=True, slots=True)
class Slo:
    """The promise to one VF. Rates hold for each direction (hose model)."""

    min_bps: float
    max_bps: float
    p50_us: float | None = None
    p99_us: float | None = None
    loss: float | None = None
    """Largest promised fraction of lost packets while the VF stays inside its envelope."""
    policed_bps: float | None = None
    """Rate at which the VF's own limiter drops; those drops are no breakage."""


@dataclass(frozen=True, slots=True)
class SloFile:
    """Line rate of the RNIC, and the promise to each of its VFs."""

    nic_bps: float
    slo: dict[str, Slo]
    ignored: tuple[str, ...] = ()
    """Keys that mean nothing here, as `vf0.max_mbps`: perhaps typing errors."""


def check_minima(nic_bps: float, slo: dict[str, Slo]) -> None:
    """Refuse minima that the link cannot hold at the same time (section 4: the sum is at most the line rate).

    Raises
    ------
    BadSlo
        Names the sum and the line rate.

    >>> check_minima(10e9, {"vf0": Slo(6e9, 8e9), "vf1": Slo(5e9, 8e9)})
    Traceback (most recent call last):
    wallwatch.domain.isolation.slo.BadSlo: the minima of 2 VFs add up to 11,000 Mbit/s, more than the link's 10,000 Mbit/s: lower minima
    """
    total = math.fsum(promise.min_bps for promise in slo.values())
    if total > nic_bps:
        raise BadSlo(
            f"the minima of {len(slo)} VFs add up to {total / 1e6:,.10g} Mbit/s, more than the link's {nic_bps / 1e6:,.10g} Mbit/s: "
            "lower minima"
        )


def read_slo_file(text: str) -> SloFile:
    """Read `{"nic_bps": ..., "slo": {"vf0": {"min_bps", "max_bps", "p50_us", "p99_us", "loss", "policed_bps"}, ...}}`.

    Raises
    ------
    BadSlo
        If the text is no such JSON, a number is negative or not finite, min_bps > max_bps, or the minima exceed the line rate.
    """
    try:
        found = json.loads(text)
    except ValueError as error:
        raise BadSlo(f"the SLO file is not JSON: {error}") from None
    except RecursionError:
        raise BadSlo("the SLO file is not an SLO: its JSON is nested too deeply") from None
    if not isinstance(found, dict) or not isinstance(found.get("slo"), dict):
        raise BadSlo('the SLO file must be an object with "nic_bps" and "slo"')
    nic_bps = _number("nic_bps", found.get("nic_bps"))
    if nic_bps is None or nic_bps <= 0:
        raise BadSlo("nic_bps must be the line rate in bit/s, larger than 0")
    slo = {vf: _promise(vf, values) for vf, values in found["slo"].items()}
    if not slo:
        raise BadSlo('"slo" names no VF')
    check_minima(nic_bps, slo)
    ignored = tuple(f"{vf}.{key}" for vf, values in found["slo"].items() for key in sorted(set(values) - set(_KEYS)))
    return SloFile(nic_bps, slo, ignored)


_KEYS = ("min_bps", "max_bps", "p50_us", "p99_us", "loss", "policed_bps")


def _promise(vf: str, values: Any) -> Slo:
    if not VF_NAME.fullmatch(vf):
        raise BadSlo(f"{vf!r:.40} is not the name of a VF: write vf0, vf1, ...")
    if not isinstance(values, dict):
        raise BadSlo(f"{vf}: the promise must be an object with min_bps and max_bps")
    number = {key: _number(f"{vf}: {key}", values.get(key)) for key in _KEYS}
    max_bps = number["max_bps"]
    if max_bps is None or max_bps <= 0:
        raise BadSlo(f"{vf}: max_bps is required and must be larger than 0")
    min_bps = number["min_bps"] or 0.0
    if min_bps > max_bps:
        raise BadSlo(f"{vf}: min_bps {min_bps:,.10g} is larger than max_bps {max_bps:,.10g}")
    loss = number["loss"]
    if loss is not None and loss > 1:
        raise BadSlo(f"{vf}: loss is a fraction from 0 to 1, not {loss:g}")
    return Slo(min_bps, max_bps, number["p50_us"], number["p99_us"], loss, number["policed_bps"])


def _number(name: str, value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadSlo(f"{name} must be a number, not {value!r:.40}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number) or number < 0:
        raise BadSlo(f"{name} must be a finite number of at least 0, not {value!r:.40}")
    return number
