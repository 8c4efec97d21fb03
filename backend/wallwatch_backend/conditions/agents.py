"""Hosts whose agent is not connected, or has not renewed its certificate."""

from datetime import datetime, timedelta

from wallwatch_backend.conditions.kinds import Condition
from wallwatch_backend.conditions.schemas import AgentData, CertificateData
from wallwatch_backend.hosts.enrolment import repository
from wallwatch_backend.kit.database import ReadSession
from wallwatch_backend.kit.matchers import labels_of

LOST_AFTER = timedelta(minutes=5)
"""A host that restarts is back within this time; so is every agent after a restart of the server. Alert rules wait as long."""
_PATH = "/agents"


async def lost(session: ReadSession, at: datetime, listening_since: datetime) -> list[Condition]:
    """Return hosts without a connected agent.

    No agent could report while the server was down, so silence counts from `listening_since` on.
    """
    found = []
    for row in await repository.disconnected(session):
        seen = row.agent.last_seen_at
        silent_since = max(seen or row.agent.enrolled_at, listening_since)
        last = f"was last heard at {seen:%Y-%m-%d %H:%M} UTC" if seen is not None else "has never connected since it was enrolled"
        found.append(
            Condition(
                subject=row.agent.host,
                standing="begins" if at - silent_since >= LOST_AFTER else "holds",
                since=seen or row.agent.enrolled_at,
                text=f"The agent of {row.agent.host} {last}. Missing data does not mean healthy.",
                data=AgentData(host=row.agent.host, last_seen_at=seen).model_dump(mode="json"),
                labels=labels_of({"host": row.agent.host}),
                path=_PATH,
            )
        )
    return found


async def late_certificates(session: ReadSession, at: datetime) -> list[Condition]:
    """Return hosts whose agent should have a new certificate by now."""
    found = []
    for row in await repository.overdue(session, at):
        assert row.not_after is not None  # noqa: S101 - the query asks for it
        host = row.agent.host
        found.append(
            Condition(
                subject=host,
                standing="begins",
                since=at,
                text=f"The agent of {host} has not renewed its certificate, which expires at {row.not_after:%Y-%m-%d %H:%M} UTC.",
                data=CertificateData(host=host, expires_at=row.not_after).model_dump(mode="json"),
                labels=labels_of({"host": host}),
                path=_PATH,
            )
        )
    return found
