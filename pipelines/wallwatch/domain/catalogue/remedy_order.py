"""In which order remedies are offered: what the likely cause asks for, then the symptom's own, then what only contains the damage."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from wallwatch.domain.catalogue.load import causes, remedies
from wallwatch.domain.catalogue.models import SuggestedRemedy


def asked_for(likely_causes: Iterable[str], symptom: str) -> list[SuggestedRemedy]:
    """What causes ask for, the likeliest cause's first, as far as it is for this symptom.

    >>> [each.action for each in asked_for(["C6"], "S6")], asked_for(["C6"], "S1")
    (['apply-mask-plan'], [])
    """
    asked = [each for cause in likely_causes if cause in causes() for each in causes()[cause].remedies]
    return [each for each in asked if symptom in remedies()[each.action].helped_symptoms]


def offered(likely_causes: Sequence[str], symptom: str, suggested: Sequence[SuggestedRemedy]) -> list[SuggestedRemedy]:
    """All remedies of a finding in the order in which they are offered, each once.

    >>> from wallwatch.domain.catalogue.load import symptoms
    >>> own = symptoms()["S5"].definition.remedies
    >>> [each.action for each in offered(["C5"], "S5", own)]
    ['tune-revalidator', 'cordon-rnic']
    """
    first: dict[str, SuggestedRemedy] = {}
    for each in (*asked_for(likely_causes, symptom), *suggested):
        first.setdefault(each.action, each)
    return [first[action] for action in in_order(first, likely_causes)]


def in_order(actions: Iterable[str], likely_causes: Sequence[str]) -> list[str]:
    """Actions of one or several findings in the order in which they are offered; otherwise they keep theirs.

    >>> in_order(["cordon-rnic", "pace-vf-unbinding", "tune-revalidator"], ["C5"])
    ['tune-revalidator', 'pace-vf-unbinding', 'cordon-rnic']
    """
    asked = [each.action for cause in likely_causes if cause in causes() for each in causes()[cause].remedies]

    def place(action: str) -> tuple[bool, int]:
        known = remedies().get(action)
        return (known is not None and known.contains, asked.index(action) if action in asked else len(asked))

    return sorted(dict.fromkeys(actions), key=place)
