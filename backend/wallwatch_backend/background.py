"""Everything that runs beside requests, and how notifications reach it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import timedelta

import orjson
from fastapi import FastAPI

from wallwatch.store.tables import NOTIFY_CHANNEL
from wallwatch_backend.agents import repository as agents
from wallwatch_backend.agents.opamp import Connections
from wallwatch_backend.agents.policies import PolicyFile
from wallwatch_backend.agents.port import AgentPort
from wallwatch_backend.automation.driver import AutomationDriver
from wallwatch_backend.certificates import service as certificates
from wallwatch_backend.command_keys import service as command_keys
from wallwatch_backend.incidents.consumer import FindingConsumer
from wallwatch_backend.incidents.lifecycle import Lifecycle
from wallwatch_backend.incidents.notices import Notices
from wallwatch_backend.kit import changes, clock, leader
from wallwatch_backend.kit.database import Database
from wallwatch_backend.kit.listener import Listener
from wallwatch_backend.plans.planner import Planner
from wallwatch_backend.remedies.follow_up import FollowUp
from wallwatch_backend.rollouts.driver import RolloutDriver
from wallwatch_backend.session import repository as sessions
from wallwatch_backend.settings import Settings
from wallwatch_backend.stream.hub import StreamHub
from wallwatch_backend.webhooks.dispatcher import Dispatcher
from wallwatch_backend.webhooks.router import Router

_TIDY_EVERY_S = 15.0


def _listener(
    database: Database,
    hub: StreamHub,
    connections: Connections,
    policy_file: PolicyFile,
    agent_port: AgentPort | None,
    wake_webhooks: Callable[[], None],
) -> Listener:
    def policies_changed() -> None:
        policy_file.changed()
        connections.policies_changed()

    def changed(payload: str) -> None:
        change = orjson.loads(payload)
        if change["kind"] == "policy":
            policies_changed()
            return
        if change["kind"] == "command_key":
            connections.keys_changed()
            return
        if change["kind"] == "agent_authority":
            if agent_port is not None:
                agent_port.authorities_changed()
            connections.authorities_changed()
            return
        if "count" in change:
            hub.publish(f"{change['kind']}s", {"count": change["count"]})
            return
        hub.publish(change["kind"], {"id": change["id"], "state": change["state"]})
        if change["kind"] == "agent" and change["state"] in ("deleted", "enrolled"):
            connections.drop_agent_id(change["id"])
        if change.get("pci"):
            hub.cordon_changed(change["host"], change["pci"])

    def caught_up() -> None:
        hub.resync_all()
        hub.rows_changed()
        connections.wake_all()
        connections.keys_changed()
        policies_changed()
        wake_webhooks()

    handlers = {
        NOTIFY_CHANNEL: lambda _: hub.rows_changed(),
        changes.CHANNEL: changed,
        changes.COMMAND_CHANNEL: connections.wake,
        changes.DELIVERY_CHANNEL: lambda _: wake_webhooks(),
    }
    return Listener(database.libpq_url, handlers, caught_up)


async def _tidy(database: Database, settings: Settings, dispatcher: Dispatcher) -> None:
    """Disconnect agents whose replica died, and forget what is over."""
    while True:
        at = clock.now()
        async with database.write() as session:
            for agent_id in await agents.disconnect_silent(session, at - timedelta(seconds=settings.agent_silent_after_s + 10)):
                await changes.announce(session, "agent", agent_id, "disconnected")
            await sessions.delete_expired(session, at)
            await command_keys.forget_retired(session)
            await certificates.tidy(session)
        await dispatcher.forget_old()
        await asyncio.sleep(_TIDY_EVERY_S)


@asynccontextmanager
async def running(app: FastAPI) -> AsyncIterator[None]:
    """Run the listener and the streams here, and the background work on whichever replica leads."""
    state = app.state
    database: Database = state.database
    settings: Settings = state.settings
    dispatcher = Dispatcher(database, settings, state.cipher)
    router = Router(database, settings)

    def wake_webhooks() -> None:
        router.woken.set()
        dispatcher.woken.set()

    listener = _listener(database, state.hub, state.connections, state.policy_file, state.agent_port, wake_webhooks)
    tasks = [
        asyncio.create_task(leader.forever("listener", listener.run)),
        asyncio.create_task(leader.forever("streams", state.hub.run)),
        asyncio.create_task(leader.forever("policies", state.policy_standing.run)),
        asyncio.create_task(leader.forever("orders", state.intake.run)),
        *(asyncio.create_task(leader.forever(name, work)) for name, work in state.connections.work().items()),
    ]
    if state.agent_port is not None:
        tasks.append(asyncio.create_task(leader.forever("agent_port", state.agent_port.run)))
    if settings.background:
        work = {
            "findings": FindingConsumer(database, settings).run,
            "webhook_routes": router.run,
            "incidents": Lifecycle(database, settings).run,
            "notices": Notices(database).run,
            "webhooks": dispatcher.run,
            "remedies": FollowUp(database, settings).run,
            "plans": Planner(database, settings, state.signer).run,
            "automation": AutomationDriver(database, settings, state.signer).run,
            "rollouts": RolloutDriver(database, settings, state.signer).run,
            "tidy": lambda: _tidy(database, settings, dispatcher),
        }
        tasks.append(asyncio.create_task(leader.lead(database.libpq_url, work)))
    try:
        yield
    finally:
        state.hub.close()
        for task in tasks:
            task.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.gather(*tasks, return_exceptions=True)
