"""Takes orders of all requests of this process: what has come is ordered in one transaction, and each request gets its own answer."""

from collections.abc import Sequence

from wallwatch_backend.kit.access import Caller
from wallwatch_backend.kit.database import Database
from wallwatch_backend.kit.problems import WallwatchError
from wallwatch_backend.kit.together import Together
from wallwatch_backend.remedies import service
from wallwatch_backend.remedies.schemas import NewRemedy, Remedy
from wallwatch_backend.remedies.service import Ask
from wallwatch_backend.remedies.signing import CommandSigner
from wallwatch_backend.settings import Settings

Taken = Remedy | WallwatchError | None


class Intake:
    """`take` answers after the commit, so whoever has an answer can read what it says; `run` does the work."""

    def __init__(self, database: Database, settings: Settings, signer: CommandSigner) -> None:
        self._database, self._settings, self._signer = database, settings, signer
        self._together: Together[Ask, Taken] = Together(self._take, most=100)
        self.run = self._together.run

    async def take(self, caller: Caller, body: NewRemedy, idempotency_key: str | None) -> Remedy:
        """Order a remedy, as `service.create` does."""
        taken = await self._together(Ask(caller, body, idempotency_key))
        if isinstance(taken, WallwatchError):
            raise taken
        if taken is not None:
            return taken
        async with self._database.write() as session:
            return await service.create(session, self._settings, self._signer, caller, body, idempotency_key)

    async def _take(self, asks: Sequence[Ask]) -> Sequence[Taken]:
        async with self._database.write() as session:
            return await service.create_together(session, self._settings, self._signer, asks)
