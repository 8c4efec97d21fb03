"""Which webhook gets which event, and when: the router on a real database, with times that the tests choose."""

import json
from collections.abc import AsyncIterator, Collection
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import text

from wallwatch_backend.incidents.states import IncidentState
from wallwatch_backend.kit.database import Database, ReadSession
from wallwatch_backend.notify.deliveries import repository as deliveries
from wallwatch_backend.notify.models import WebhookRow
from wallwatch_backend.notify.routing import incident_events
from wallwatch_backend.notify.routing.service import RoutingBatch
from wallwatch_backend.notify.routing.worker import Router
from wallwatch_backend.notify.schemas import INCIDENT_EVENTS, EventType
from wallwatch_backend.notify.states import NotedState
from wallwatch_backend.notify.webhooks import repository as webhooks
from wallwatch_backend.settings import Settings

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
OPENED, UPDATED, RESOLVED = INCIDENT_EVENTS


def after(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


async def incident_states(session: ReadSession, ids: Collection[UUID]) -> dict[UUID, str]:
    rows = await session.execute(text("SELECT id, state FROM incident WHERE id = ANY(:ids)"), {"ids": list(ids)})
    return {row.id: row.state for row in rows}


class World:
    """Incidents that change, and what webhooks are sent of them."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self.database, self._settings = database, settings
        self._seen: set[UUID] = set()

    async def webhook(self, **more: Any) -> UUID:
        row = {
            "group_wait_s": 0,
            "group_interval_s": 0,
            "repeat_interval_s": None,
            "group_by": [],
            "matchers": [],
            "format": "native",
            **more,
        }
        webhook = WebhookRow(
            name="hook",
            url="http://127.0.0.1:9/",
            secret=b"",
            enabled=True,
            created_by="test",
            events=[str(e) for e in row.pop("events", INCIDENT_EVENTS)],
            **row,
        )
        async with self.database.write() as session:
            session.add(webhook)
        return webhook.id

    async def incident(self, event: EventType, at: datetime, id: UUID | None = None, **more: Any) -> UUID:
        """An incident changes, and its event is queued in the same transaction."""
        id = id or uuid4()
        state = more.pop("state", "resolved" if event is RESOLVED else "open")
        data = {
            "id": str(id),
            "host": "host01",
            "pci": "0000:3b:00.0",
            "rack": "r1",
            "symptom": "S1",
            "severity": "warning",
            "state": state,
            **more,
        }
        async with self.database.write() as session:
            await session.execute(
                text("INSERT INTO incident VALUES (:id, :state) ON CONFLICT (id) DO UPDATE SET state = :state"), {"id": id, "state": state}
            )
            await incident_events.add(session, event, data, at)
        return id

    async def step(self, at: datetime) -> list[dict[str, Any]]:
        """Route as a process that has just started, until there is nothing to do; return the bodies that were written."""
        router = Router(self.database, self._settings, incident_states)
        while await router.step(at):
            pass
        async with self.database.read() as session:
            rows = (await session.execute(text("SELECT id, body, event FROM webhook_delivery ORDER BY seq"))).all()
        new = [row for row in rows if row[0] not in self._seen]
        self._seen |= {row[0] for row in new}
        return [json.loads(row[1]) for row in new]

    async def count(self, table: str) -> int:
        async with self.database.read() as session:
            return int((await session.execute(text(f"SELECT count(*) FROM {table}"))).scalar_one())


@pytest.fixture
async def world(migrated_url: str) -> AsyncIterator[World]:
    settings = Settings(database_url=migrated_url)
    database = Database(settings)
    async with database.write() as session:
        # Routing reads nothing of incidents but their states.
        await session.execute(text("DROP TABLE IF EXISTS incident CASCADE"))
        await session.execute(text("CREATE TABLE incident (id UUID PRIMARY KEY, state TEXT NOT NULL)"))
    yield World(database, settings)
    async with database.write() as session:
        await session.execute(text("TRUNCATE webhook, webhook_event CASCADE"))
    await database.dispose()


def types(bodies: list[dict[str, Any]]) -> list[str]:
    return [body["type"] for body in bodies]


def matcher(name: str, op: str, value: str) -> dict[str, str]:
    return {"name": name, "op": op, "value": value}


async def test_without_groups_every_event_is_sent_at_once_and_by_itself(world: World) -> None:
    await world.webhook()
    one = await world.incident(OPENED, after(0))
    await world.incident(UPDATED, after(1), one, severity="critical")
    await world.incident(RESOLVED, after(2), one)
    assert types(await world.step(after(2))) == ["incident.opened", "incident.updated", "incident.resolved"]
    assert await world.count("webhook_group") == await world.count("webhook_member") == await world.count("webhook_event") == 0


async def test_incidents_of_a_group_are_sent_together_after_its_wait(world: World) -> None:
    await world.webhook(group_by=["rack"], group_wait_s=30, group_interval_s=300)
    for host in ("host01", "host02", "host03"):
        await world.incident(OPENED, after(0), host=host)
    await world.incident(OPENED, after(0), host="host09", rack="r2")
    assert await world.step(after(1)) == []
    assert await world.step(after(30)) == []
    sent = await world.step(after(31))
    assert types(sent) == ["incident.group", "incident.group"]
    hosts = {body["data"]["group_labels"]["rack"]: sorted(i["host"] for i in body["data"]["incidents"]) for body in sent}
    assert hosts == {"r1": ["host01", "host02", "host03"], "r2": ["host09"]}


async def test_a_group_keeps_its_distance_between_notifications(world: World) -> None:
    await world.webhook(group_by=["rack"], group_wait_s=30, group_interval_s=300)
    first = await world.incident(OPENED, after(0))
    await world.step(after(0))
    assert len(await world.step(after(30))) == 1
    await world.incident(OPENED, after(100), host="host02")
    await world.incident(RESOLVED, after(110), first)
    assert await world.step(after(110)) == []
    assert await world.step(after(329)) == []
    [sent] = await world.step(after(330))
    assert sent["data"]["status"] == "firing"
    assert {i["host"]: i["state"] for i in sent["data"]["incidents"]} == {"host01": "resolved", "host02": "open"}
    [again] = await _resolve_and_step(world, "host02", after(700))
    assert again["data"]["status"] == "resolved"
    assert [i["host"] for i in again["data"]["incidents"]] == ["host02"]
    assert await world.count("webhook_group") == 0


async def _resolve_and_step(world: World, host: str, at: datetime) -> list[dict[str, Any]]:
    async with world.database.read() as session:
        id = (
            await session.execute(text("SELECT incident_id FROM webhook_member WHERE data ->> 'host' = :host"), {"host": host})
        ).scalar_one()
    await world.incident(RESOLVED, at, id, host=host)
    return await world.step(at)


async def test_an_incident_that_opened_and_was_resolved_within_the_wait_is_not_sent(world: World) -> None:
    await world.webhook(group_by=["host"], group_wait_s=30, group_interval_s=300)
    one = await world.incident(OPENED, after(0))
    await world.step(after(0))
    await world.incident(RESOLVED, after(10), one)
    assert await world.step(after(10)) == []
    assert await world.step(after(60)) == []
    assert await world.count("webhook_group") == 0


@pytest.mark.parametrize("group_by", [[], ["host"]])
async def test_an_unresolved_incident_is_repeated_until_it_is_resolved(world: World, group_by: list[str]) -> None:
    await world.webhook(group_by=group_by, repeat_interval_s=3600)
    one = await world.incident(OPENED, after(0))
    assert len(await world.step(after(0))) == 1
    assert await world.step(after(3599)) == []
    [repeated] = await world.step(after(3600))
    if group_by:
        assert (repeated["type"], repeated["data"]["reason"]) == ("incident.group", "repeated")
    else:
        assert (repeated["type"], repeated["data"]["id"]) == ("incident.repeated", str(one))
    await world.incident(UPDATED, after(5000), one)
    assert len(await world.step(after(5000))) == 1
    assert await world.step(after(7200)) == []  # a change was sent since; the next repetition counts from there
    assert len(await world.step(after(8600))) == 1
    await world.incident(RESOLVED, after(9000), one)
    assert len(await world.step(after(9000))) == 1
    assert await world.step(after(99_000)) == []


async def test_a_changed_repeat_interval_applies_to_earlier_notifications(world: World) -> None:
    hook = await world.webhook()
    await world.incident(OPENED, after(0))
    await world.step(after(0))
    async with world.database.write() as session:
        await session.execute(text("UPDATE webhook SET repeat_interval_s = 60"))
        await webhooks.reschedule_repeats(session, hook, 60)
    assert types(await world.step(after(60))) == ["incident.repeated"]
    async with world.database.write() as session:
        await webhooks.reschedule_repeats(session, hook, None)
    assert await world.step(after(600)) == []


async def test_matchers_select_and_the_first_event_is_the_opening(world: World) -> None:
    await world.webhook(matchers=[matcher("severity", "=", "critical"), matcher("rack", "=~", "r[12]")])
    other = await world.incident(OPENED, after(0), rack="r3", severity="critical")
    one = await world.incident(OPENED, after(0))
    assert await world.step(after(0)) == []
    await world.incident(UPDATED, after(10), one, severity="critical")
    [sent] = await world.step(after(10))
    assert (sent["type"], sent["data"]["severity"]) == ("incident.opened", "critical")
    # It no longer matches, but a receiver that got the opening gets the resolution.
    await world.incident(UPDATED, after(20), one, severity="warning")
    await world.incident(RESOLVED, after(30), one, severity="warning")
    await world.incident(RESOLVED, after(30), other, rack="r3", severity="critical")
    assert types(await world.step(after(30))) == ["incident.updated", "incident.resolved"]


async def test_a_webhook_gets_only_the_events_that_it_subscribes_to(world: World) -> None:
    await world.webhook(events=[RESOLVED])
    one = await world.incident(OPENED, after(0))
    await world.incident(UPDATED, after(1), one)
    await world.incident(RESOLVED, after(2), one)
    assert types(await world.step(after(2))) == ["incident.resolved"]


async def test_a_suppressed_incident_is_sent_only_after_its_silence(world: World) -> None:
    await world.webhook(repeat_interval_s=600)
    one = await world.incident(OPENED, after(0), state="suppressed", suppressed_by="silence")
    await world.incident(UPDATED, after(10), one, state="suppressed", suppressed_by="silence")
    assert await world.step(after(10)) == []
    await world.incident(UPDATED, after(100), one)
    assert types(await world.step(after(100))) == ["incident.opened"]
    # Silenced again, and by a bulk update without events: no repetition meanwhile.
    async with world.database.write() as session:
        await session.execute(text("UPDATE incident SET state = 'suppressed'"))
    assert await world.step(after(700)) == []
    await world.incident(RESOLVED, after(800), one, suppressed_by="silence")
    assert types(await world.step(after(800))) == ["incident.resolved"]


@pytest.mark.parametrize("updated_while_suppressed", [True, False])
async def test_the_resolution_of_an_incident_that_was_always_silenced_is_not_sent(world: World, updated_while_suppressed: bool) -> None:
    await world.webhook()
    one = uuid4()
    if updated_while_suppressed:
        await world.incident(OPENED, after(0), one, state="suppressed", suppressed_by="silence")
    await world.incident(RESOLVED, after(50), one, suppressed_by="silence")
    assert await world.step(after(50)) == []
    assert await world.count("webhook_member") == 0


async def test_an_incident_that_was_removed_without_a_word_is_not_repeated(world: World) -> None:
    await world.webhook(group_by=["rack"], repeat_interval_s=60)
    gone = await world.incident(OPENED, after(0), host="gone")
    await world.incident(OPENED, after(0), host="stays")
    await world.step(after(0))
    async with world.database.write() as session:
        await session.execute(text("DELETE FROM incident WHERE id = :id"), {"id": gone})
    [sent] = await world.step(after(60))
    assert [i["host"] for i in sent["data"]["incidents"]] == ["stays"]


async def test_an_incident_whose_labels_change_moves_to_the_other_group(world: World) -> None:
    await world.webhook(group_by=["severity"])
    one = await world.incident(OPENED, after(0))
    await world.step(after(0))
    await world.incident(UPDATED, after(10), one, severity="critical")
    [sent] = await world.step(after(10))
    assert sent["data"]["group_labels"] == {"severity": "critical"}
    assert await world.count("webhook_group") == 1


async def test_a_reopened_incident_is_sent_as_opened(world: World) -> None:
    await world.webhook()
    one = await world.incident(OPENED, after(0))
    await world.incident(RESOLVED, after(10), one)
    await world.incident(OPENED, after(20), one, state="reopened")
    assert types(await world.step(after(20))) == ["incident.opened", "incident.resolved", "incident.opened"]


@pytest.mark.parametrize("late", [True, False])
async def test_the_resolution_is_sent_once_although_an_older_event_already_shows_it(world: World, late: bool) -> None:
    await world.webhook()
    one = await world.incident(OPENED, after(0))
    if late:
        await world.incident(RESOLVED, after(10), one)
        await world.incident(UPDATED, after(9), one, state="resolved")
    else:
        await world.incident(UPDATED, after(9), one, state="resolved")
        await world.incident(RESOLVED, after(10), one)
    assert types(await world.step(after(10))) == ["incident.opened", "incident.resolved"]


async def test_a_storm_is_truncated_to_a_hundred_with_a_count_of_the_rest(world: World) -> None:
    await world.webhook(group_by=["symptom"], group_wait_s=5)
    for number in range(130):
        await world.incident(OPENED, after(0), host=f"host{number:03}")
    await world.step(after(0))
    [sent] = await world.step(after(5))
    assert (len(sent["data"]["incidents"]), sent["data"]["truncated"]) == (100, 30)


async def test_a_process_that_dies_while_routing_leaves_all_to_the_next_one(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    await world.webhook()
    await world.webhook(group_by=["rack"], group_wait_s=30)
    await world.incident(OPENED, after(0))

    async def dies(self: RoutingBatch) -> None:
        await finish(self)
        raise ConnectionError("killed")

    finish = RoutingBatch.write
    monkeypatch.setattr(RoutingBatch, "write", dies)
    with pytest.raises(ConnectionError):
        await Router(world.database, Settings(), incident_states).step(after(0))
    assert await world.count("webhook_delivery") == 0
    assert await world.count("webhook_event") == 1
    monkeypatch.setattr(RoutingBatch, "write", finish)
    assert types(await world.step(after(0))) == ["incident.opened"]
    monkeypatch.setattr(RoutingBatch, "write", dies)
    with pytest.raises(ConnectionError):
        await Router(world.database, Settings(), incident_states).step(after(30))
    monkeypatch.setattr(RoutingBatch, "write", finish)
    assert types(await world.step(after(31))) == ["incident.group"]
    assert await world.step(after(62)) == []


async def test_a_delivery_whose_process_died_while_sending_falls_due_again_and_its_successor_waits(world: World) -> None:
    hook = await world.webhook()
    one = await world.incident(OPENED, after(0))
    await world.incident(RESOLVED, after(1), one)
    await world.step(after(1))

    async def claim(at: datetime) -> list[str]:
        async with world.database.write() as session:
            return [
                delivery.event
                for delivery, _ in await deliveries.claim_due(session, hook, at, timedelta(seconds=50), timedelta(hours=1), 16)
            ]

    assert await claim(after(1)) == ["incident.opened"]
    assert await claim(after(50)) == []
    assert await claim(after(51)) == ["incident.opened"]


async def test_many_incidents_are_handed_over_in_one_statement(world: World) -> None:
    await world.webhook()
    incidents = [{"id": str(uuid4()), "host": f"h{n}", "state": "acknowledged", "symptom": "S1"} for n in range(500)]
    async with world.database.write() as session:
        await incident_events.add_many(session, UPDATED, incidents, after(0))
    assert len(await world.step(after(0))) == 500


async def test_nothing_is_stored_without_a_webhook(world: World) -> None:
    await world.incident(OPENED, after(0))
    assert await world.count("webhook_event") == 0


def test_the_states_on_which_routing_depends_are_states_of_an_incident() -> None:
    assert set(map(str, NotedState)) <= set(map(str, IncidentState))
