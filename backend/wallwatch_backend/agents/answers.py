"""Stores what agents answer: all results that have come in one transaction, and each agent is told once its own is stored."""

from collections.abc import Sequence

from wallwatch_backend.kit.database import Database
from wallwatch_backend.kit.together import Together
from wallwatch_backend.remedies import repository, results

GATHER_S = 0.01
"""After each round; so much later a result may be stored, and so many more share a transaction."""

Answered = tuple[str, results.AgentResult]


class Answers:
    """Takes results of all connections of this process: `outcome = await answers.take(host, result)`, `run` stores them.

    A result that cannot be stored raises for its own connection only, which ends, so that the agent sends it again. A process that is
    killed before the commit has acknowledged nothing, and after it the agent's repetition is known.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._together: Together[Answered, results.Outcome | None] = Together(self._store, pause_s=GATHER_S)
        self.run = self._together.run

    async def take(self, host: str, result: results.AgentResult) -> results.Outcome:
        outcome = await self._together((host, result))
        if outcome is not None:
            return outcome
        async with self._database.write() as session:
            await repository.hold(session, [result.command_id] if result.command_id is not None else [])
            return await results.apply_result(session, host, result)

    async def _store(self, answered: Sequence[Answered]) -> Sequence[results.Outcome | None]:
        """Store results; None for one that goes by itself, as its incident would be the second one that this transaction locks.

        Others lock several incidents too, in an order of their own.
        """
        async with self._database.write() as session:
            incidents = await repository.hold(session, [result.command_id for _, result in answered if result.command_id is not None])
            here = {None, next((incident for incident in incidents.values() if incident is not None), None)}
            return [
                await results.apply_result(session, host, result) if incidents.get(result.command_id) in here else None
                for host, result in answered
            ]
