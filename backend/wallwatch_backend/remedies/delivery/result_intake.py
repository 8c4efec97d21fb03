"""Stores results of commands, all that have arrived in one transaction; an agent gets its answer after the commit."""

from collections.abc import Sequence

from wallwatch_backend.kit.batcher import Batcher
from wallwatch_backend.kit.database import Database
from wallwatch_backend.remedies.orders import repository, results
from wallwatch_backend.remedies.orders.transitions import Outcome

GATHER_S = 0.01
"""Pause after each round: a result may be stored this much later, and more results share a transaction."""

HostResult = tuple[str, results.AgentResult]


class ResultIntake:
    """Takes the results of all connections of this process; `run` stores them.

    A result that cannot be stored raises for its own connection only, which ends, so that the agent sends it again. A
    process that is killed before the commit has acknowledged nothing; after the commit it recognizes the agent's
    repetition.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._batcher: Batcher[HostResult, Outcome | None] = Batcher(self._store, pause_s=GATHER_S)
        self.run = self._batcher.run

    async def store(self, host: str, result: results.AgentResult) -> Outcome:
        """Store a result; return after the commit."""
        outcome = await self._batcher.submit((host, result))
        if outcome is not None:
            return outcome
        async with self._database.write() as session:
            await repository.hold(session, [result.command_id] if result.command_id is not None else [])
            return await results.apply_result(session, host, result)

    async def _store(self, batch: Sequence[HostResult]) -> Sequence[Outcome | None]:
        """Store results; None for one that needs its own transaction: this one has locked another incident.

        Others lock several incidents too, in an order of their own.
        """
        async with self._database.write() as session:
            incidents = await repository.hold(session, [result.command_id for _, result in batch if result.command_id is not None])
            lockable = {None, next((incident for incident in incidents.values() if incident is not None), None)}
            return [
                await results.apply_result(session, host, result) if incidents.get(result.command_id) in lockable else None
                for host, result in batch
            ]
