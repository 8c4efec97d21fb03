"""What the job `lab` reads and writes: the devices that it offers, the campaigns that wait for it, and the journal of each.

The backend creates campaigns, has them approved where that is needed, and requests that they stop; everything else of a campaign is
written here, by the runner that holds it. A runner holds a campaign by `runner` and a heartbeat: when the heartbeat is older than
`LOST_S`, another runner may take it over.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Any, NamedTuple
from uuid import UUID

import psycopg
from psycopg.types.json import Jsonb

CHANNEL = "wallwatch_change"
"""The change feed of the backend: streams learn of a campaign's new state with the commit."""
LOST_S = 30.0
"""A runner that has not written for so long has died, or cannot reach the database; its campaign may be continued elsewhere."""


class CampaignState(StrEnum):
    pending = "pending"
    rejected = "rejected"
    expired = "expired"
    queued = "queued"
    running = "running"
    finished = "finished"
    stopped = "stopped"
    failed = "failed"


class Claimed(NamedTuple):
    """A campaign that this runner now holds."""

    id: UUID
    device: str
    options: dict[str, Any]
    resumed: bool
    """Another process has begun it: its journal is in the table."""


class Held(NamedTuple):
    """What a runner has to know of a campaign that it holds, read with each heartbeat."""

    stop: str | None
    """Why it has to stop now; None while it may continue."""


_OFFER = """
INSERT INTO lab_device (name, command_key, model, host, pci, description, problem, runner, seen_at)
VALUES (%(name)s, %(command_key)s, %(model)s, %(host)s, %(pci)s, %(description)s, %(problem)s, %(runner)s, now())
ON CONFLICT (name) DO UPDATE SET command_key = excluded.command_key, model = excluded.model, host = excluded.host, pci = excluded.pci,
  description = COALESCE(excluded.description, lab_device.description), problem = excluded.problem, runner = excluded.runner,
  seen_at = excluded.seen_at
"""
_SEEN = "UPDATE lab_device SET seen_at = now() WHERE runner = %s AND name = ANY(%s)"

# One campaign per device at a time, by a unique index; a lock that another runner holds is skipped.
_CLAIM = """
SELECT c.id, c.device, c.options, c.state = 'running' FROM lab_campaign c
WHERE c.device = ANY(%(devices)s)
  AND (c.state = 'running' AND (c.heartbeat_at IS NULL OR c.heartbeat_at < now() - %(lost_s)s * interval '1 s')
       OR c.state = 'queued' AND NOT EXISTS (SELECT FROM lab_campaign o WHERE o.device = c.device AND o.state = 'running'))
ORDER BY c.state DESC, c.created_at, c.id
LIMIT 1 FOR UPDATE OF c SKIP LOCKED
"""
_HOLD = """
UPDATE lab_campaign SET state = 'running', runner = %(runner)s, heartbeat_at = now(), started_at = COALESCE(started_at, now()),
  updated_at = now() WHERE id = %(id)s
"""
_HEARTBEAT = """
UPDATE lab_campaign c SET heartbeat_at = now(), updated_at = now(), progress = COALESCE(%(progress)s, c.progress)
WHERE c.id = %(id)s AND c.runner = %(runner)s AND c.state = 'running'
RETURNING c.stop_requested_by, c.stop_reason, c.device
"""
# On a host of the fleet, only a cordoned RNIC is tested, and an emergency stop of remedies ends its tests too.
_UNSAFE = """
SELECT CASE
  WHEN s.reason IS NOT NULL THEN 'An emergency stop is active: ' || s.reason
  WHEN NOT COALESCE(c.cordoned, false) THEN 'RNIC ' || d.pci || ' of host ' || d.host || ' is no longer cordoned.'
END
FROM lab_device d
LEFT JOIN rnic_cordon c ON c.host = d.host AND c.pci = d.pci
LEFT JOIN remedy_stop s ON s.ended_at IS NULL
WHERE d.name = %s AND d.host IS NOT NULL AND d.pci IS NOT NULL
"""
_RELEASE = "UPDATE lab_campaign SET heartbeat_at = NULL WHERE id = %s AND runner = %s AND state = 'running'"
_LINES = "INSERT INTO lab_test (campaign_id, line, entry) VALUES (%s, %s, %s) ON CONFLICT (campaign_id, line) DO NOTHING"
_JOURNAL = "SELECT entry FROM lab_test WHERE campaign_id = %s ORDER BY line"
_END = """
UPDATE lab_campaign SET state = %(state)s, ended_at = now(), updated_at = now(), message = %(message)s,
  report = COALESCE(%(report)s, report), progress = COALESCE(%(progress)s, progress)
WHERE id = %(id)s AND runner = %(runner)s AND state = 'running'
"""

Connection = psycopg.Connection[tuple[Any, ...]]


def offer(connection: Connection, runner: str, *, name: str, command_key: str, place: dict[str, str | None], **known: Any) -> None:
    """Announce a device that this runner can test; `known` has its `description` (the answer to describe) or the `problem` with it."""
    description, problem = known.get("description"), known.get("problem")
    stored = None if description is None else Jsonb(description)
    values = {"name": name, "command_key": command_key, "runner": runner, "description": stored, "problem": problem}
    connection.execute(_OFFER, {**values, "model": place.get("model"), "host": place.get("host"), "pci": place.get("pci")})


def still_offered(connection: Connection, runner: str, names: Sequence[str]) -> None:
    connection.execute(_SEEN, [runner, list(names)])


def claim(connection: Connection, runner: str, devices: Sequence[str]) -> Claimed | None:
    """Take the next campaign for one of these devices: one that lost its runner first, then the oldest that waits."""
    with connection.transaction():
        row = connection.execute(_CLAIM, {"devices": list(devices), "lost_s": LOST_S}).fetchone()
        if row is None:
            return None
        connection.execute(_HOLD, {"id": row[0], "runner": runner})
        _announce(connection, row[0], CampaignState.running)
    return Claimed(*row)


def heartbeat(
    connection: Connection, runner: str, campaign: UUID, progress: dict[str, Any] | None, lines: Sequence[tuple[int, dict[str, Any]]]
) -> Held | None:
    """Write new lines of the journal and the progress; returns whether to continue, and None when another runner holds the campaign."""
    with connection.transaction():
        values = {"id": campaign, "runner": runner, "progress": None if progress is None else Jsonb(progress)}
        row = connection.execute(_HEARTBEAT, values).fetchone()
        if row is None:
            return None
        if lines:
            with connection.cursor() as cursor:
                cursor.executemany(_LINES, [(campaign, line, Jsonb(entry)) for line, entry in lines])
        if lines or progress is not None:
            _announce(connection, campaign, CampaignState.running)
        if row[0] is not None:
            return Held(stop=f"Stopped by {row[0]}: {row[1]}" if row[1] else f"Stopped by {row[0]}.")
        unsafe = connection.execute(_UNSAFE, [row[2]]).fetchone()
        return Held(stop=None if unsafe is None else unsafe[0])


def release(connection: Connection, runner: str, campaign: UUID) -> None:
    """Let the next runner continue a campaign at once: this one ends."""
    with connection.transaction():
        connection.execute(_RELEASE, [campaign, runner])


def journal(connection: Connection, campaign: UUID) -> list[dict[str, Any]]:
    """The lines of a campaign's journal, from the first."""
    return [row[0] for row in connection.execute(_JOURNAL, [campaign])]


def end(
    connection: Connection,
    runner: str,
    campaign: UUID,
    state: CampaignState,
    message: str | None,
    report: dict[str, Any] | None,
    progress: dict[str, Any] | None = None,
) -> bool:
    """Write a campaign's end; returns whether this runner still held it."""
    values = {
        "id": campaign,
        "runner": runner,
        "state": state,
        "message": message,
        "report": None if report is None else Jsonb(report),
        "progress": None if progress is None else Jsonb(progress),
    }
    with connection.transaction():
        ended = connection.execute(_END, values).rowcount == 1
        if ended:
            _announce(connection, campaign, state)
    return ended


def _announce(connection: Connection, campaign: UUID, state: str) -> None:
    payload = f'{{"kind":"campaign","id":"{campaign}","state":"{state}"}}'
    connection.execute("SELECT pg_notify(%s, %s)", [CHANNEL, payload])
