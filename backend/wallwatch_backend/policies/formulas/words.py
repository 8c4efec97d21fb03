"""Steps of a trace as sentences."""

from collections.abc import Iterable, Sequence

from wallwatch.domain.policies.models import Policy
from wallwatch.domain.policies.vocabulary import event_kinds


def label(kind: str) -> str:
    """Return the label of a kind of event.

    >>> label("cni_add"), label("unknown word")
    ('Container attached', 'unknown word')
    """
    known = event_kinds().get(kind)
    return known.label if known is not None else kind


def text_of(policy: Policy | None, propositions: Iterable[str], kinds: Sequence[str] = ()) -> str:
    """Describe a step by its events or, where they are not stored, by those that set its propositions."""
    timer = policy.timer if policy is not None else None
    late = f"{timer.seconds:g} s after {timer.after}" if timer is not None and timer.name in propositions else ""
    if kinds:
        return " and ".join(late if kind == "timer" and late else label(kind) for kind in kinds)
    return " and ".join(late if timer is not None and name == timer.name else _of_proposition(policy, name) for name in propositions)


def _of_proposition(policy: Policy | None, name: str) -> str:
    bound = policy.propositions.get(name) if policy is not None else None
    return name if bound is None else " or ".join(label(kind) for kind in bound.kind)
