"""Two to six sentences for a ticket, from a finding's evidence and ranking."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from wallwatch.domain.catalogue.behaviour_models import Behaviour
from wallwatch.domain.catalogue.load import causes as all_causes
from wallwatch.domain.catalogue.models import Detected
from wallwatch.domain.evidence import WITHOUT_UNIT, Evidence
from wallwatch.domain.hypotheses.versions import Identity, flawed_by, repaired_by

if TYPE_CHECKING:
    from wallwatch.domain.hypotheses.rank import Hypothesis

CLOSE = 0.15
"""A second cause at least this likely gets its own sentence."""


def clock(at_ms: int) -> str:
    """A time as a ticket shows it.

    >>> clock(1_790_000_000_123)
    '2026-09-21 14:13:20 UTC'
    """
    return datetime.fromtimestamp(at_ms // 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def who(subject: dict[str, str], rnic: Identity) -> str:
    """The RNIC or host in words.

    >>> who({"host": "h1", "pci": "0000:17:00.0", "rack": "r1"}, Identity("CX-6", "mlx5_core", "20.35.1012"))
    'RNIC 0000:17:00.0 of host h1 (rack r1; CX-6, mlx5_core, firmware 20.35.1012)'
    """
    details = [f"rack {subject['rack']}"] if subject["rack"] else []
    if not subject["pci"]:
        return f"host {subject['host']}" + (f" ({details[0]})" if details else "")
    known = [rnic.model, rnic.driver, f"firmware {rnic.fw_ver}" if rnic.fw_ver else ""]
    details += [", ".join(text for text in known if text)] if any(known) else []
    inside = "; ".join(details)
    return f"RNIC {subject['pci']} of host {subject['host']}" + (f" ({inside})" if inside else "")


def measured(e: Evidence) -> str:
    """One piece of evidence in words."""
    unit = "" if e.unit in WITHOUT_UNIT else f" {e.unit}"
    return f"{e.label}: {e.value:.3g}{unit} (expected {e.expected})"


def explain_active(
    entry: Detected,
    subject: dict[str, str],
    rnic: Identity,
    started_ms: int,
    summary: str,
    evidence: Sequence[Evidence],
    ranked: Sequence[Hypothesis],
    known_model: bool,
) -> str:
    """What is wrong, how one sees it, why it is so, and what would settle it."""
    sentences = [f"{entry.title} on {who(subject, rnic)} since {clock(started_ms)}.", summary]
    if not ranked:
        if evidence:
            sentences.append("; ".join(measured(e) for e in evidence[:3]) + ".")
    else:
        first, second = ranked[0], ranked[1]
        because = f" because {_lower(first.evidence_for[0].text)}" if first.evidence_for else "."
        sentences.append(f"The most likely cause is {first.cause} ({_lower(first.title)}; {first.posterior:.0%}){because}")
        if second.posterior >= CLOSE:
            sentences.append(f"{second.cause} ({_lower(second.title)}) is also possible ({second.posterior:.0%}).")
        cause = all_causes()[first.cause]
        flawed, repaired = flawed_by(cause, rnic), repaired_by(cause, rnic)
        if cause.settled_by_upgrade and flawed:
            sentences.append(f"An upgrade removes this cause; installed: {flawed}.")
        elif repaired:
            sentences.append(f"The installed {repaired} should not have this cause, so verify it.")
        if len(sentences) < 6:
            sentences.append(f"To confirm: {first.next_test}" if first.next_test.endswith(".") else f"To confirm: {first.next_test}.")
    if not known_model and subject["pci"] and len(sentences) < 6:
        sentences.append("The RNIC's model is not in the catalogue, so the limits come from a generic profile.")
    return " ".join(sentences[:6])


def explain_behaviour(entry: Behaviour, subject: dict[str, str], rnic: Identity, started_ms: int, summary: str) -> str:
    """What is wrong, whether it is known of this model, what to do about it, and what to ask the vendor."""
    known = [each for each in entry.known_on if each.model in (rnic.variant, rnic.model)]
    if known:
        sentence = f"A known limitation of {known[0].model} ({known[0].source}): {known[0].figures}"
    else:
        others = ", ".join(each.model for each in entry.known_on)
        sentence = f"It is not known of this model; it was published for {others}"
    head = f"{entry.title} on {who(subject, rnic)} since {clock(started_ms)}."
    return f"{head} {summary} {sentence.rstrip('.')}. {entry.advice} For the vendor: {entry.ticket}"


def explain_cleared(entry: Detected, subject: dict[str, str], rnic: Identity, started_ms: int, at_ms: int) -> str:
    """The explanation of a cleared finding: when it was active."""
    minutes = (at_ms - started_ms) / 60_000
    active = f"It was active from {clock(started_ms)} to {clock(at_ms)} ({minutes:.1f} minutes)."
    return f"{entry.title} on {who(subject, rnic)} has cleared. {active}"


def _lower(text: str) -> str:
    """A sentence or title inside another one; names that begin with more than one capital stay."""
    return text if text[:2].isupper() else text[:1].lower() + text[1:]
