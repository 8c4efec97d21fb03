"""Requests plans for predicted declines; they wait for somebody to apply them."""

from datetime import timedelta
from uuid import NAMESPACE_URL, uuid5

from wallwatch_backend.hosts.command_keys.signing import CommandSigner
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.access import Caller, Role
from wallwatch_backend.kit.database import Database
from wallwatch_backend.kit.problems import WallwatchError
from wallwatch_backend.remedies.plans import repository, service
from wallwatch_backend.remedies.plans.schemas import NewPlan
from wallwatch_backend.settings import Settings

MOST_AT_ONCE = 4
"""Open plans for declines; hosts and planner have other work."""
AGAIN_AFTER = timedelta(minutes=30)
FRESH = timedelta(minutes=5)


async def request_plans(database: Database, settings: Settings, signer: CommandSigner) -> None:
    """Request plans for RNICs with a predicted decline, the earliest first; each at most once in half an hour."""
    at = clock.now()
    async with database.read() as session:
        rnics = await repository.declining(session, at - FRESH, at - AGAIN_AFTER, MOST_AT_ONCE)
    caller = Caller(kind="user", id=uuid5(NAMESPACE_URL, "wallwatch"), name="wallwatch", role=Role.operator, address=None)
    for host, pci in rnics:
        try:
            async with database.write() as session:
                await service.create(session, settings, signer, caller, NewPlan(host=host, pci=pci), "forecast")
        except WallwatchError:
            continue  # a person who requests the same plan gets the reason
