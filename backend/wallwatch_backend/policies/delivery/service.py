"""Which agents run which policies."""

from wallwatch_backend.kit.database import ReadSession
from wallwatch_backend.policies.delivery.agent_config import Compiled
from wallwatch_backend.policies.delivery.schemas import PolicyDelivery, PolicyRefusal, PolicyTables
from wallwatch_backend.policies.registry import repository

_MAX_REFUSALS = 100


async def delivery(session: ReadSession, compiled: Compiled) -> PolicyDelivery:
    hash, counts = compiled.hash.decode(), await repository.agent_counts(session)
    tables = [
        PolicyTables(
            hash=row.hash,
            current=row.hash == hash,
            made_at=row.made_at,
            agents=row.agents,
            policies=None if row.policies is None else len(row.policies),
        )
        for row in await repository.agents_by_hash(session)
    ]
    return PolicyDelivery(
        hash=hash,
        policies=len(compiled.versions),
        bytes=len(compiled.body),
        agents=counts.agents,
        takes=counts.takes,
        connected=counts.connected,
        applied=sum(one.agents for one in tables if one.current),
        refused=counts.refused,
        tables=tables,
        refusals=[
            PolicyRefusal(
                host=agent.host, at=agent.config_refused_at, hash=agent.config_refused_hash or "", reason=agent.config_error or ""
            )
            for agent in await repository.refusals(session, _MAX_REFUSALS)
            if agent.config_refused_at is not None
        ],
        left_out=compiled.left_out,
    )
