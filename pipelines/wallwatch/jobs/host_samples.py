"""The samples of one host that came together, through the stage of `classify`."""

from __future__ import annotations

from typing import Any

from wallwatch.domain.symptoms.host_stage import HOST, step
from wallwatch.domain.symptoms.peers import Peers
from wallwatch.domain.telemetry.decode import Message
from wallwatch.jobs.host_state import HostState

IGNORED = ("late", "flooded", "wrong")
"""Why samples, or fields of them, are not used."""

Ignored = tuple[int, int, int]


def judge(state: HostState, samples: list[Message], peers: Peers, heard_from_ns: int) -> tuple[list[dict[str, Any]], Ignored]:
    """Findings, and how many of these samples were ignored for each reason.

    Parameters
    ----------
    heard_from_ns : int
        Of older samples the whole fleet is not heard in time.
    """
    found: list[dict[str, Any]] = []
    late, flooded, wrong = _ignored_of(state.get(HOST))
    for sample in samples:
        peers.all_heard = sample.at_ns >= heard_from_ns
        found += step(state, sample, peers)[1]
    late_now, flooded_now, wrong_now = _ignored_of(state.get(HOST))
    return found, (late_now - late, flooded_now - flooded, wrong_now - wrong)


def _ignored_of(host: dict[str, Any] | None) -> Ignored:
    return (0, 0, 0) if host is None else (host["late"], host["flooded"], host["wrong"])
