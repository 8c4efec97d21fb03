"""Who has which policies."""

from wallwatch_backend.agents.policies import Compiled
from wallwatch_backend.kit.database import ReadSession
from wallwatch_backend.policies import repository
from wallwatch_backend.policies.schemas_states import PolicyDelivery, PolicyRefusal, PolicyTables

_REFUSALS = 100


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
                host=agent.host, at=agent.policies_refused_at, hash=agent.policies_refused_hash or "", reason=agent.policies_error or ""
            )
            for agent in await repository.refusals(session, _REFUSALS)
            if agent.policies_refused_at is not None
        ],
        left_out=compiled.left_out,
    )
