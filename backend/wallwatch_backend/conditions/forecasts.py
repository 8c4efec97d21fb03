"""RNICs that are expected to reach a limit within the hour."""

from datetime import datetime

from wallwatch.domain.catalogue import load
from wallwatch.domain.forecast.wall_chance import LIKELY_FROM, UNLIKELY_BELOW
from wallwatch_backend.conditions.kinds import Condition
from wallwatch_backend.conditions.schemas import ForecastData
from wallwatch_backend.conditions.words import minutes_of
from wallwatch_backend.fleet.forecasts import repository
from wallwatch_backend.fleet.forecasts.service import LISTED
from wallwatch_backend.kit.database import ReadSession
from wallwatch_backend.kit.matchers import labels_of


async def read(session: ReadSession, at: datetime) -> list[Condition]:
    """Return what the newest forecasts expect, from the chance on below which it is withdrawn."""
    found = []
    for row in await repository.with_chance(session, UNLIKELY_BELOW, at - LISTED):
        wall = load.walls().get(row.next_wall)
        if wall is None:  # of another version of the catalogue
            continue
        data = ForecastData(
            host=row.host,
            pci=row.pci,
            rack=row.rack or None,
            model=row.model,
            wall=wall.id,
            label=wall.label,
            made_at=row.made_at,
            chance=row.wall_chance,
            earliest_in_s=row.earliest_in_s,
            likely_in_s=row.likely_in_s,
            latest_in_s=row.latest_in_s,
        )
        reached = row.likely_in_s == 0
        place = f"{row.host} {row.pci}"
        found.append(
            Condition(
                subject=place,
                standing="over" if reached else "begins" if row.wall_chance >= LIKELY_FROM else "holds",
                since=row.made_at,
                text=f"{place} has reached its limit: {wall.label}." if reached else f"{place} {in_words(data)}",
                data=data.model_dump(mode="json"),
                labels=labels_of({"host": row.host, "pci": row.pci, "rack": row.rack, "model": row.model}),
                path=f"/rnics/{row.host}/{row.pci}",
            )
        )
    return found


def in_words(data: ForecastData) -> str:
    """What is expected, and how sure.

    >>> from datetime import datetime
    >>> values = {"host": "h", "pci": "p", "rack": None, "model": None, "wall": "egress_masks", "label": "Egress masks"}
    >>> times = {"made_at": datetime(2026, 1, 1), "earliest_in_s": 300, "likely_in_s": 1200, "latest_in_s": None}
    >>> in_words(ForecastData(**values, **times, chance=0.75))
    'reaches its limit in about 20 min: Egress masks (chance 75%, earliest in 5 min).'
    """
    when = "within the hour" if data.likely_in_s is None else f"in about {minutes_of(data.likely_in_s)} min"
    earliest = f", earliest in {minutes_of(data.earliest_in_s)} min" if data.earliest_in_s is not None else ""
    return f"reaches its limit {when}: {data.label} (chance {data.chance:.0%}{earliest})."
