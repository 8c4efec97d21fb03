"""Recent policy violations of a host and its RNICs as evidence.

They are shown with the causes that a policy names and do not change the posteriors: how often a policy is violated with and without its
cause is still unknown, and most of the events behind them are counted already.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wallwatch.domain.evidence import Feature, evidence
from wallwatch.domain.policies.load import policies

VIOLATED = "policy_violated"
SIGNAL = "policy_violations"
WINDOW_MS = 1_800_000
"""As far back as the longest window of a symptom's events (S3)."""

KEPT = 32
"""Policies and RNICs of one host of which violations are kept, those of the newest."""

Violations = dict[str, list[Any]]
"""`{"<policy>|<pci>": [first ms, last us, count, trace]}`."""


def take(kept: Violations, at_us: int, pci: str, fields: Mapping[str, Any]) -> None:
    """Remember the event of a violation; a duplicate changes nothing."""
    policy = fields.get("policy")
    if not isinstance(policy, str) or not policy:
        return
    left_out, trace = fields.get("left_out"), fields.get("trace")
    key, count = f"{policy}|{pci}", left_out if isinstance(left_out, int) and left_out > 0 else 1
    before = kept.pop(key, None)
    if before is None or at_us // 1000 - before[1] // 1000 > WINDOW_MS:
        kept[key] = [at_us // 1000, at_us, count, trace if isinstance(trace, str) else ""]
    elif at_us <= before[1]:  # repeated or late: the newest stays
        kept[key] = before
    else:
        kept[key] = [before[0], at_us, before[2] + count, trace if isinstance(trace, str) else before[3]]
    while len(kept) > KEPT:
        del kept[next(iter(kept))]


def join(finding: dict[str, Any], kept: Violations, now_ms: int) -> None:
    """Add the violations of the finding's RNIC, and of its host as a whole, to the supporting evidence of their policies' causes."""
    for id, (from_ms, last_us, count, trace) in _by_policy(kept, finding["pci"], now_ms).items():
        policy, last_ms = policies()[id], last_us // 1000
        text = f"Policy {id}: {policy.violation}" + (f" Last: {trace}." if trace else "")
        found = evidence(SIGNAL, Feature(float(count), from_ms, last_ms), "0 violations", text).as_json()
        for hypothesis in finding["hypotheses"]:
            if hypothesis["cause"] in policy.causes:
                hypothesis["evidence_for"].append(found)


def _by_policy(kept: Violations, of_pci: str, now_ms: int) -> Violations:
    """Recent violations of known policies by the RNIC and by its host as a whole: each policy once, with the trace of the newest."""
    found: Violations = {}
    for key, (from_ms, last_us, count, trace) in kept.items():
        id, _, pci = key.partition("|")
        recent = 0 <= now_ms - last_us // 1000 + 60_000 <= WINDOW_MS + 60_000
        if id not in policies() or pci not in ("", of_pci) or not recent:
            continue
        before = found.get(id, [from_ms, last_us, 0, trace])
        newest = trace if last_us >= before[1] else before[3]
        found[id] = [min(from_ms, before[0]), max(last_us, before[1]), before[2] + count, newest]
    return found
