"""The loops of a process: those that every replica runs, and those that only the leader runs."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta

from wallwatch_backend.accounts.session import limits as sign_in_limits
from wallwatch_backend.accounts.session import repository as sessions
from wallwatch_backend.captures import service as captures
from wallwatch_backend.change_feed import ChangeFeed
from wallwatch_backend.cluster import node_reports
from wallwatch_backend.cluster.worker import ClusterWorker, is_needed
from wallwatch_backend.conditions.worker import ConditionNotices
from wallwatch_backend.hosts.agents import repository as agents
from wallwatch_backend.hosts.certificates import service as certificates
from wallwatch_backend.hosts.command_keys import service as command_keys
from wallwatch_backend.incidents import repository as incidents
from wallwatch_backend.incidents.findings.worker import FindingConsumer
from wallwatch_backend.incidents.lifecycle.worker import IncidentWorker
from wallwatch_backend.incidents.notice_worker import NoticeWorker
from wallwatch_backend.kit import changes, clock
from wallwatch_backend.kit.background_tasks import Task, restart_forever, run_on_leader
from wallwatch_backend.lab.worker import CampaignNotices
from wallwatch_backend.notify.deliveries.worker import Dispatcher
from wallwatch_backend.notify.routing.worker import Router
from wallwatch_backend.remedies.automation.worker import AutomationDriver
from wallwatch_backend.remedies.orders.worker import FollowUp
from wallwatch_backend.remedies.plans.worker import Planner
from wallwatch_backend.remedies.rollouts.worker import RolloutDriver
from wallwatch_backend.wiring import Services

_CLEAN_UP_EVERY_S = 15.0


@asynccontextmanager
async def running(services: Services) -> AsyncIterator[None]:
    """Run the loops while the application serves requests."""
    database, settings = services.database, services.settings
    dispatcher = Dispatcher(database, settings, services.cipher)
    router = Router(database, settings, incidents.states_of)

    def wake_webhooks() -> None:
        router.woken.set()
        dispatcher.woken.set()

    listener = ChangeFeed(services, wake_webhooks).listener()
    loops = {"listener": listener.run} | _on_every_replica(services)
    tasks = [asyncio.create_task(restart_forever(name, loop)) for name, loop in loops.items()]
    if settings.background:
        led = _on_the_leader(services, router, dispatcher)
        tasks.append(asyncio.create_task(run_on_leader(database.libpq_url, led)))
    try:
        yield
    finally:
        services.hub.close()
        services.incident_wakeups.close()
        for task in tasks:
            task.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.gather(*tasks, return_exceptions=True)


def _on_every_replica(services: Services) -> dict[str, Task]:
    """Loops that serve the requests, browsers and agents of this replica, by name."""
    loops: dict[str, Task] = {
        "streams": services.hub.run,
        "access": services.access.run,
        "policies": services.policy_standing.run,
        "orders": services.intake.run,
        "presence": services.connections.shared.presence.run,
        "captures": services.captures.run,
        **services.remedies.tasks(),
    }
    if services.agent_port is not None:
        loops["agent_port"] = services.agent_port.run
    return loops


def _on_the_leader(services: Services, router: Router, dispatcher: Dispatcher) -> dict[str, Task]:
    """Loops that one replica runs for all, by name."""
    database, settings, signer = services.database, services.settings, services.signer
    cluster: dict[str, Task] = {"cluster": lambda: ClusterWorker(database, settings).run()} if is_needed(settings) else {}
    return cluster | {
        "findings": FindingConsumer(database, settings).run,
        "webhook_routes": router.run,
        "incidents": IncidentWorker(database, settings).run,
        "notices": NoticeWorker(database).run,
        "webhooks": dispatcher.run,
        "remedies": FollowUp(database, settings).run,
        "plans": Planner(database, settings, signer).run,
        "automation": AutomationDriver(database, settings, signer).run,
        "conditions": lambda: ConditionNotices(database, services.policy_standing).run(),
        "campaigns": CampaignNotices(database, settings).run,
        "rollouts": RolloutDriver(database, settings, signer).run,
        "clean_up": lambda: _clean_up(services, dispatcher),
    }


async def _clean_up(services: Services, dispatcher: Dispatcher) -> None:
    """Mark agents as disconnected whose replica died, and delete what has expired."""
    while True:
        at = clock.now()
        silent_since = at - timedelta(seconds=services.settings.agent_silent_after_s + 10)
        async with services.database.write() as session:
            for agent_id in await agents.disconnect_silent(session, silent_since):
                await changes.announce(session, "agent", agent_id, "disconnected")
            await sessions.delete_expired(session, at)
            await sign_in_limits.delete_old(session, services.settings)
            await command_keys.clean_up(session)
            await certificates.clean_up(session)
            await captures.clean_up(session, services.settings)
            if not services.settings.kubernetes_nvsentinel:
                await node_reports.end_all(session, at)
        if not services.settings.kubernetes_nvsentinel:
            await node_reports.add_to_timelines(services.database, {}, at)
        await dispatcher.delete_old()
        await asyncio.sleep(_CLEAN_UP_EVERY_S)
