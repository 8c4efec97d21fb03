"""From the numbers of masks that an experiment installed to the mean lookups (Q_l, Q_r) of its packets.

Assumption: the masks were there before the test's own flow, whose mask is therefore the last of each chain, so that each of its packets
looks up all of them first. With `cen` 20 and `sde` 80 a packet from client to server passes Q_l = 20, Q_r = 80. Who
measured Q_l and Q_r gives those.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import NamedTuple

from wallwatch.domain.perftest.runs import Quantity, Verb

MASK_NAMES = {"cen": "client encapsulation", "cde": "client decapsulation", "sen": "server encapsulation", "sde": "server decapsulation"}
MOST_MASKS = 100_000
"""More is a mistake in a name: no RNIC holds as many."""

WRITTEN = "cen=0,cde=0,sen=0,sde=0 (masks of client and server, encapsulation and decapsulation) or ql=0,qr=0 (mean mask lookups)"

_NAMED = re.compile(r"(?<![a-z])(cen|cde|sen|sde)[_=-]?(\d+)", re.IGNORECASE)
_QUERIES = re.compile(r"(?<![a-z])q_?([lr])[_=-]?(\d+(?:\.\d+)?)", re.IGNORECASE)


class Masks(NamedTuple):
    """Masks ahead of the test's flow in the four chains that its packets pass."""

    cen: int
    cde: int
    sen: int
    sde: int


class Queries(NamedTuple):
    """Mean mask lookups of the test's packets, if given directly."""

    q_l: float
    q_r: float


Place = Masks | Queries


def place_of_name(name: str) -> Place | None:
    """The numbers in a file's name; None unless it has all four masks or both lookup counts, once each.

    >>> place_of_name("cen_20_cde_100_sen_80_sde_80_send_bw_pod.log")
    Masks(cen=20, cde=100, sen=80, sde=80)
    >>> place_of_name("ql_10_qr_2.5_send_bw.log")
    Queries(q_l=10.0, q_r=2.5)
    >>> place_of_name("send_bw.log") is None
    True
    """
    masks = [(key.lower(), int(number)) for key, number in _NAMED.findall(name)]
    lookups = [("q" + key.lower(), float(number)) for key, number in _QUERIES.findall(name)]
    if sorted(key for key, _ in masks) == sorted(MASK_NAMES):
        return place_of(dict(masks))
    if not masks and sorted(key for key, _ in lookups) == ["ql", "qr"]:
        return place_of(dict(lookups))
    return None


def incomplete_counts(name: str) -> str:
    """What a name with some mask counts lacks, as a clause; empty if it has none.

    >>> incomplete_counts("cen_20_sde_80_send_bw.log"), incomplete_counts("cen_20_cen_30_send_bw.log"), incomplete_counts("send_bw.log")
    (' (its name has no cde, sen)', ' (its name has no cde, sen, sde, and cen twice)', '')
    """
    found = [key.lower() for key, _ in _NAMED.findall(name)]
    missing, twice = [key for key in MASK_NAMES if key not in found], sorted({key for key in found if found.count(key) > 1})
    parts = [f"has no {', '.join(missing)}"] if missing else []
    parts += [f"{'and ' if missing else 'has '}{', '.join(twice)} twice"] if twice else []
    return f" (its name {', '.join(parts)})" if found and parts else ""


def place_of(counts: Mapping[str, float]) -> Place:
    """Checked numbers of masks, or of lookups (`ql`, `qr`).

    Raises
    ------
    ValueError
        When one is missing, unknown, negative or absurdly large; the message names the expected values.
    """
    names = {"ql", "qr"} if set(counts) & {"ql", "qr"} else set(MASK_NAMES)
    unknown, missing = sorted(set(counts) - names), sorted(names - set(counts))
    if unknown or missing:
        raise ValueError(
            f"the mask counts must be written {WRITTEN}; {'unknown' if unknown else 'missing'}: {', '.join(unknown or missing)}"
        )
    for key, number in counts.items():
        real = isinstance(number, int | float) and not isinstance(number, bool) and math.isfinite(number) and 0 <= number <= MOST_MASKS
        if key in MASK_NAMES and not (real and float(number).is_integer()):
            raise ValueError(f"{key} ({MASK_NAMES[key]} masks) must be a whole number from 0 to {MOST_MASKS}, not {number}")
        if not real:
            raise ValueError(f"{key} (mean mask lookups) must be a number from 0 to {MOST_MASKS}, not {number}")
    if "ql" in counts:
        return Queries(float(counts["ql"]), float(counts["qr"]))
    return Masks(**{key: int(number) for key, number in counts.items()})


def queries(place: Place, quantity: Quantity, verb: Verb, bidirectional: bool) -> tuple[float, float]:
    """(Q_l, Q_r) of the packets that decide what the tool printed.

    Bandwidth of send and write: from client to server. Bandwidth of read: the data comes from the server. In both directions: the mean.

    Latency: the message passes one way's chains and its answer the other's, and all of them delay the number that is printed, half of the
    round trip. Where only one way has masks, as in the paper's sensitivity analysis, Q_l = cen and Q_r = sde; masks of the way back delay
    as much, so they are added. Table 3's CX-6 then meets the authors' logs: 19.6 us for measured 20.1 at Q_l = 100, Q_r = 180.

    Examples
    --------
    >>> masks = Masks(cen=20, cde=100, sen=80, sde=80)
    >>> queries(masks, "bandwidth", "write", False), queries(masks, "bandwidth", "read", False), queries(masks, "latency", "send", False)
    ((20.0, 80.0), (80.0, 100.0), (100.0, 180.0))
    """
    if isinstance(place, Queries):
        return place
    masks = place
    if quantity == "latency":
        return float(masks.cen + masks.sen), float(masks.cde + masks.sde)
    if bidirectional:
        return (masks.cen + masks.sen) / 2, (masks.cde + masks.sde) / 2
    if verb == "read":
        return float(masks.sen), float(masks.cde)
    return float(masks.cen), float(masks.sde)


ASSUMPTIONS_OF_MASKS = (
    "The masks were installed before the test's flow, whose own mask is the last of each chain: each packet passes all of them first.",
    "Bandwidth of send and write: Q_l = client encapsulation masks, Q_r = server decapsulation masks.",
    "Latency: masks of both ways delay it. Q_l = client and server encapsulation masks together, Q_r = their decapsulation masks together.",
)
