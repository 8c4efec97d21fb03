"""Policies compiled for the collectors: a file of tables with its hash (read by collectors/internal/ltl)."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from typing import Any

import orjson

from wallwatch.domain.policies.load import machine
from wallwatch.domain.policies.models import Policy

FORMAT = "wallwatch-policies/1"
MAX_STATES = 256
MAX_PROPOSITIONS = 8
"""A collector keeps a state and a letter in a byte each."""


class DoesNotFit(ValueError):
    """A policy is too large for a collector."""


def tables(policies: Iterable[Policy]) -> bytes:
    """The file for these policies, without the server-side ones.

    Raises
    ------
    DoesNotFit
        When a machine has more states or propositions than a collector can hold.
    """
    compiled = orjson.dumps([_compiled(policy) for policy in policies if policy.where == "edge"])
    digest = hashlib.sha256(compiled).hexdigest()
    return b'{"format":"%b","hash":"sha256:%b","policies":%b}\n' % (FORMAT.encode(), digest.encode(), compiled)


def revision(policy: Policy) -> str:
    """Twelve hexadecimal digits of a digest over all that decides the policy's verdicts: words and severity may change without it."""
    deciding = policy.model_dump(mode="json", include={"formula", "subject", "where", "propositions", "timer"})
    return hashlib.sha256(orjson.dumps(deciding, option=orjson.OPT_SORT_KEYS)).hexdigest()[:12]


def _compiled(policy: Policy) -> dict[str, Any]:
    found = machine(policy.formula)
    # Propositions that the formula does not use cause steps too, and timers may start or stop at them: they are the upper bits of a letter.
    propositions = [*found.propositions, *(name for name in policy.propositions if name not in found.propositions)]
    if len(found.verdicts) > MAX_STATES or len(propositions) > MAX_PROPOSITIONS:
        raise DoesNotFit(
            f"policy {policy.id} has {len(found.verdicts)} states and {len(propositions)} propositions; "
            f"a collector supports {MAX_STATES} and {MAX_PROPOSITIONS}: split the formula at its conjunctions"
        )
    copies = 1 << (len(propositions) - len(found.propositions))
    timer = policy.timer
    return {
        "id": policy.id,
        "revision": revision(policy),
        "subject": policy.subject,
        "severity": policy.severity,
        "violation": policy.violation,
        "propositions": propositions,
        "events": [
            {"kind": kind, "when": proposition.when or None, "proposition": name}
            for name, proposition in policy.propositions.items()
            for kind in proposition.kind
        ],
        "timer": timer and {"name": timer.name, "after": timer.after, "unless": timer.unless or "", "seconds": timer.seconds},
        "verdicts": "".join(found.verdicts),
        "known": found.known,
        "retired": found.retired,
        "table": base64.b64encode(bytes(state for row in found.table for state in row * copies)).decode(),
        "gap": base64.b64encode(bytes(found.gap)).decode(),
    }
