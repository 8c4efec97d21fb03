"""RNICs that are predicted to lose bandwidth within the hour."""

from collections.abc import Collection
from datetime import datetime
from typing import Any

from wallwatch.domain.forecast.decline_notice import withdrawn
from wallwatch.domain.performance.parameters import DECLINE_SHARE
from wallwatch_backend.conditions.kinds import Condition, rnic_of
from wallwatch_backend.conditions.schemas import DeclineData
from wallwatch_backend.conditions.words import minutes_of
from wallwatch_backend.fleet.forecasts import repository
from wallwatch_backend.fleet.forecasts.service import LISTED
from wallwatch_backend.kit.database import ReadSession
from wallwatch_backend.kit.matchers import labels_of


async def read(session: ReadSession, at: datetime, known: Collection[str]) -> list[Condition]:
    """Return the predicted declines, and those of the known ones that are not predicted now but not withdrawn either."""
    places = [rnic_of(subject) for subject in known]
    return [
        _condition(row)
        for row in await repository.with_decline(session, places, at - LISTED)
        if row.decline_since is not None or not withdrawn(row.chance, row.cold_start, row.confidence, row.wall_chance)
    ]


def _condition(row: Any) -> Condition:
    data = DeclineData(
        host=row.host,
        pci=row.pci,
        rack=row.rack or None,
        model=row.model,
        made_at=row.made_at,
        since=row.decline_since,
        share=row.decline_share if row.decline_share is not None and row.decline_share >= DECLINE_SHARE else None,
        chance=row.chance,
        in_s=row.decline_in_s,
        bandwidth_gbps=row.bandwidth_gbps,
        confidence=row.confidence,
    )
    place = f"{row.host} {row.pci}"
    return Condition(
        subject=place,
        standing="begins" if row.decline_since is not None else "holds",
        since=row.decline_since or row.made_at,
        text=f"{place} {in_words(data)}",
        data=data.model_dump(mode="json"),
        labels=labels_of({"host": row.host, "pci": row.pci, "rack": row.rack, "model": row.model}),
        path=f"/rnics/{row.host}/{row.pci}",
    )


def in_words(data: DeclineData) -> str:
    """What is predicted, and how sure.

    >>> from datetime import datetime
    >>> values = {"host": "h", "pci": "p", "rack": None, "model": None, "made_at": datetime(2026, 1, 1)}
    >>> in_words(DeclineData(**values, since=None, confidence="high", share=0.22, chance=0.81, in_s=1200, bandwidth_gbps=352.0))
    'is predicted to lose 22% of its bandwidth in about 20 min (352 Gbit/s now, chance 81%).'
    >>> in_words(DeclineData(**values, since=None, confidence=None, share=None, chance=None, in_s=None, bandwidth_gbps=None))
    'is predicted to lose 5% or more of its bandwidth within the hour.'
    """
    share = f"{data.share:.0%}" if data.share is not None else f"{DECLINE_SHARE:.0%} or more"
    when = "within the hour" if data.in_s is None else f"in about {minutes_of(data.in_s)} min"
    facts = [f"{data.bandwidth_gbps:.3g} Gbit/s now"] if data.bandwidth_gbps is not None else []
    facts += [f"chance {data.chance:.0%}"] if data.chance is not None else []
    how_sure = f" ({', '.join(facts)})" if facts else ""
    return f"is predicted to lose {share} of its bandwidth {when}{how_sure}."
