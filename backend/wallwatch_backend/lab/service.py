"""Creates, lists and stops campaigns. Running them is the job of `wallwatch job lab`."""

from collections.abc import AsyncIterator
from uuid import UUID, uuid4

import orjson

from wallwatch_backend.accounts.audit import service as audit
from wallwatch_backend.accounts.session import persons
from wallwatch_backend.fleet.rnics.cordons import cordon_of
from wallwatch_backend.incidents import service as incidents
from wallwatch_backend.kit import changes, clock
from wallwatch_backend.kit.access import Caller
from wallwatch_backend.kit.database import Database, ReadSession, WriteSession
from wallwatch_backend.kit.paging import Page, decode_cursor, encode_cursor, time_and_id
from wallwatch_backend.kit.problems import NotFound
from wallwatch_backend.lab import permission, present, repository
from wallwatch_backend.lab.errors import CampaignOver, DeviceUnknown, DeviceUnusable, NotCordoned, ParameterUnknown
from wallwatch_backend.lab.models import CampaignRow, DeviceRow
from wallwatch_backend.lab.schemas import (
    Campaign,
    CampaignOptions,
    CampaignsStopped,
    CampaignSummary,
    LabDevice,
    LabDevices,
    LabTest,
    NewCampaign,
)
from wallwatch_backend.lab.states import CAMPAIGN, CampaignState
from wallwatch_backend.remedies.control import repository as control
from wallwatch_backend.remedies.control.errors import Stopped as RemediesStopped
from wallwatch_backend.settings import Settings


async def list_devices(session: ReadSession, settings: Settings) -> LabDevices:
    items = [present.device(row, settings) for row in await repository.devices(session)]
    return LabDevices(items=items, run_role=permission.role_for(settings))


async def create(session: WriteSession, settings: Settings, caller: Caller, body: NewCampaign) -> Campaign:
    """Queue a campaign; a runner that offers the device takes it within a second. On an RNIC of the fleet, it waits for approval first."""
    row = await repository.device(session, body.device)
    if row is None:
        known = ", ".join(each.name for each in await repository.devices(session)) or "none"
        raise DeviceUnknown(f"No runner offers the device {body.device!r} (known: {known}). Devices are set by WALLWATCH_LAB_DEVICES.")
    permission.require(settings, caller, row)
    await check_place(session, row)
    device = present.device(row, settings)
    if not device.available:
        raise DeviceUnusable(device.problem or f"The device {row.name} has not described itself yet; try again in some seconds.")
    _check_options(device, body)
    if body.incident_id is not None:
        await incidents.require(session, body.incident_id)
    at = clock.now()
    options = CampaignOptions.model_validate(body.model_dump(exclude={"device", "incident_id"}))
    campaign = CampaignRow(
        id=uuid4(),
        device=row.name,
        options=options.model_dump(mode="json"),
        state=CampaignState.pending if device.needs_approval else CampaignState.queued,
        requested_by=caller.actor,
        requester_ids=sorted(await persons.accounts_behind(session, caller)),
        created_at=at,
        updated_at=at,
        incident_id=body.incident_id,
    )
    await repository.add(session, campaign)
    audit.record(
        session, caller.actor, "lab.propose" if device.needs_approval else "lab.run", row.name, address=caller.address,
        campaign_id=str(campaign.id), options=campaign.options,
    )  # fmt: skip
    text = (
        f"Requested a lab campaign on {row.name}; it waits for approval."
        if device.needs_approval
        else f"Started a lab campaign on {row.name}."
    )
    await incidents.note(session, body.incident_id, "lab", caller.actor, text, campaign_id=str(campaign.id))
    await changes.announce(session, "campaign", campaign.id, campaign.state)
    return await get(session, settings, campaign.id)


async def check_place(session: ReadSession, row: DeviceRow) -> None:
    """An RNIC of the fleet is tested only while it is cordoned, and never during an emergency stop."""
    if row.host is None or row.pci is None:
        return
    stop = await control.stop_in_force(session)
    if stop is not None:
        raise RemediesStopped(f"{stop.by} stopped all remedies at {stop.at:%Y-%m-%d %H:%M:%S} UTC: {stop.reason}")
    cordoned, _ = await cordon_of(session, row.host, row.pci)
    if not cordoned:
        raise NotCordoned(f"Cordon RNIC {row.pci} of host {row.host} first; tests may make it drop every packet.")


def _check_options(device: LabDevice, body: NewCampaign) -> None:
    names = [parameter.name for parameter in device.parameters]
    unknown = sorted(set(body.parameters or ()) - set(names))
    if unknown:
        raise ParameterUnknown(f"{device.name} has no parameter {unknown[0]!r} (expected some of {', '.join(names)}).")
    targets = [*device.symptoms, *(metric.name for metric in device.metrics)]
    if body.target is not None and body.target not in targets:
        raise ParameterUnknown(f"{device.name} has no symptom or metric {body.target!r} (expected one of {', '.join(targets)}).")


async def require_locked(session: WriteSession, campaign_id: UUID) -> CampaignRow:
    """As `require`, and nobody else changes it before the transaction ends."""
    row = await repository.one_locked(session, campaign_id)
    if row is None:
        raise NotFound(f"There is no campaign {campaign_id}.")
    return row


async def require(session: ReadSession, campaign_id: UUID) -> CampaignRow:
    """Return a campaign's row with its report, or raise `NotFound`."""
    row = await repository.one(session, campaign_id)
    if row is None:
        raise NotFound(f"There is no campaign {campaign_id}.")
    return row


async def get(session: ReadSession, settings: Settings, campaign_id: UUID) -> Campaign:
    row = await require(session, campaign_id)
    return present.whole(row, await repository.device(session, row.device), settings.ticket_url)


async def list_campaigns(
    session: ReadSession,
    *,
    device: str | None,
    state: CampaignState | None,
    incident_id: UUID | None,
    limit: int,
    cursor: str | None,
) -> Page[CampaignSummary]:
    rows = await repository.page(session, device=device, state=state, incident_id=incident_id, before=time_and_id(cursor), limit=limit + 1)
    devices = {row.name: row for row in await repository.devices(session)}
    items = [present.summary(row, devices.get(row.device)) for row in rows[:limit]]
    return Page(items=items, next_cursor=encode_cursor(items[-1].created_at, str(items[-1].id)) if len(rows) > limit else None)


async def list_tests(session: ReadSession, campaign_id: UUID, *, bad: bool, limit: int, cursor: str | None) -> Page[LabTest]:
    await require(session, campaign_id)
    after = decode_cursor(cursor, int)[0] if cursor is not None else -1
    assert isinstance(after, int)  # noqa: S101 - decode_cursor has checked it
    rows = await repository.tests(session, campaign_id, after=min(after, 2**31 - 1), limit=limit + 1, bad=bad)
    items = [present.test(row) for row in rows[:limit]]
    return Page(items=items, next_cursor=encode_cursor(items[-1].line) if len(rows) > limit else None)


async def journal_lines(database: Database, campaign_id: UUID) -> AsyncIterator[bytes]:
    """The journal as JSON lines; `wallwatch lab report` and `replay` read it."""
    # Its own session: the request's session closes before the first byte is sent.
    async with database.read() as session:
        async for block in repository.journal(session, campaign_id):
            yield b"".join(orjson.dumps(entry) + b"\n" for entry in block)


async def stop(session: WriteSession, settings: Settings, caller: Caller, campaign_id: UUID, reason: str | None) -> Campaign:
    """Stop a campaign: one that waits at once, one that runs within about a second. A second request changes nothing."""
    permission.require(settings, caller)
    row = await repository.one_locked(session, campaign_id)
    if row is None:
        raise NotFound(f"There is no campaign {campaign_id}.")
    if CAMPAIGN[row.state].over:
        raise CampaignOver(f"The campaign {CAMPAIGN[row.state].sentence} already.")
    await _request_stop(session, caller, row, reason)
    return await get(session, settings, campaign_id)


async def stop_all(session: WriteSession, caller: Caller, reason: str | None) -> CampaignsStopped:
    """Emergency stop: stop every campaign. Every operator may, with or without `lab:run`: to stop is always safe."""
    rows = await repository.open_locked(session)
    for row in rows:
        await _request_stop(session, caller, row, reason)
    return CampaignsStopped(stopped=len(rows))


async def _request_stop(session: WriteSession, caller: Caller, row: CampaignRow, reason: str | None) -> None:
    if row.stop_requested_at is not None:
        return
    at = clock.now()
    row.stop_requested_at, row.stop_requested_by, row.stop_reason, row.updated_at = at, caller.actor, reason, at
    if row.state != CampaignState.running:
        row.state, row.ended_at = CampaignState.stopped, at
        row.message = f"Stopped by {caller.actor} before it began{f': {reason}' if reason else '.'}"
    await session.flush()
    audit.record(session, caller.actor, "lab.stop", row.device, address=caller.address, campaign_id=str(row.id), reason=reason)
    await changes.announce(session, "campaign", row.id, row.state)
