"""Batches the orders of all requests of this process: one transaction for those that wait, and an answer for each request."""

from collections.abc import Sequence

from wallwatch_backend.hosts.command_keys.signing import CommandSigner
from wallwatch_backend.kit.access import Caller
from wallwatch_backend.kit.batcher import Batcher
from wallwatch_backend.kit.database import Database
from wallwatch_backend.kit.problems import WallwatchError
from wallwatch_backend.remedies.orders import service
from wallwatch_backend.remedies.orders.schemas import NewRemedy, Remedy
from wallwatch_backend.remedies.orders.service import Answer, Order
from wallwatch_backend.settings import Settings


class Intake:
    """`create` answers after the commit, so that a client can read at once what it was answered; `run` does the work."""

    def __init__(self, database: Database, settings: Settings, signer: CommandSigner) -> None:
        self._database, self._settings, self._signer = database, settings, signer
        self._batcher: Batcher[Order, Answer] = Batcher(self._create_batch, max_items=100)
        self.run = self._batcher.run

    async def create(self, caller: Caller, body: NewRemedy, idempotency_key: str | None) -> Remedy:
        """Create a remedy, as `service.create` does."""
        answer = await self._batcher.submit(Order(caller, body, idempotency_key))
        if isinstance(answer, WallwatchError):
            raise answer
        if answer is not None:
            return answer
        async with self._database.write() as session:
            return await service.create(session, self._settings, self._signer, caller, body, idempotency_key)

    async def _create_batch(self, orders: Sequence[Order]) -> Sequence[Answer]:
        async with self._database.write() as session:
            return await service.create_together(session, self._settings, self._signer, orders)
