"""Plans that a predicted decline asks for: they are made, and wait for somebody to apply them."""

from datetime import timedelta
from uuid import NAMESPACE_URL, uuid5

from wallwatch_backend.kit import clock
from wallwatch_backend.kit.access import Caller, Role
from wallwatch_backend.kit.database import Database
from wallwatch_backend.kit.problems import WallwatchError
from wallwatch_backend.plans import repository, service
from wallwatch_backend.plans.schemas import NewPlan
from wallwatch_backend.remedies.signing import CommandSigner
from wallwatch_backend.settings import Settings

MOST_AT_ONCE = 4
"""Plans that are being made for declines; hosts and planner have other work."""
AGAIN_AFTER = timedelta(minutes=30)
FRESH = timedelta(minutes=5)


async def begin(database: Database, settings: Settings, signer: CommandSigner) -> None:
    """Make plans for RNICs whose bandwidth is likely to fall, the next one first; one is not planned again within half an hour."""
    at = clock.now()
    async with database.read() as session:
        rnics = await repository.declining(session, at - FRESH, at - AGAIN_AFTER, MOST_AT_ONCE)
    caller = Caller(kind="user", id=uuid5(NAMESPACE_URL, "wallwatch"), name="wallwatch", role=Role.operator, address=None)
    for host, pci in rnics:
        try:
            async with database.write() as session:
                await service.make(session, settings, signer, caller, NewPlan(host=host, pci=pci), "forecast")
        except WallwatchError:
            continue  # it is told when somebody asks for the plan himself
