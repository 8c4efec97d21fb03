"""Queries of the exposition about agents, their certificates, and policies. None of them is of a rack."""

from sqlalchemy import text

from wallwatch_backend.kit import clock
from wallwatch_backend.kit.database import ReadSession

_SEEN = text("SELECT host, coalesce(extract(epoch FROM last_seen_at), 0)::float8 FROM agent ORDER BY host")
_CERTIFICATES = text("""
    SELECT DISTINCT ON (a.host) a.host, extract(epoch FROM c.issued_at)::float8, extract(epoch FROM c.not_after)::float8
    FROM agent a JOIN agent_certificate c ON c.agent_id = a.id WHERE c.revoked_at IS NULL ORDER BY a.host, c.issued_at DESC
""")
_VIOLATIONS = text("""
    SELECT other->>'policy', sum(coalesce((other->>'left_out')::int, 1))::float8 FROM event
    WHERE kind = 'policy_violated' AND time > CAST(:now AS timestamptz) - interval '1 hour' AND other->>'policy' IS NOT NULL
    GROUP BY 1 ORDER BY 1
""")


async def last_seen(session: ReadSession) -> dict[str, float]:
    """Host -> when its agent was last heard, in seconds since 1970; 0: never."""
    return {row[0]: row[1] for row in await session.execute(_SEEN)}


async def certificates(session: ReadSession) -> dict[str, tuple[float, float]]:
    """Host -> begin and end of the newest certificate of its agent, in seconds since 1970."""
    return {row[0]: (row[1], row[2]) for row in await session.execute(_CERTIFICATES)}


async def violations(session: ReadSession) -> dict[str, float]:
    """Policy -> violations of the last hour, with those that hosts counted only."""
    return {row[0]: row[1] for row in await session.execute(_VIOLATIONS, {"now": clock.now()})}
