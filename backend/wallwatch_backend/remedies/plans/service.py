"""Creates and lists mask plans: the agent reads the host's flows, and the worker plans."""

from uuid import UUID, uuid4

from wallwatch.domain.catalogue import load
from wallwatch.domain.catalogue.models import Profile
from wallwatch_backend.accounts.audit import service as audit
from wallwatch_backend.accounts.session import persons
from wallwatch_backend.fleet.profiles import repository as profiles
from wallwatch_backend.fleet.profiles.present import profile_in_force
from wallwatch_backend.fleet.rnics.service import identity_of
from wallwatch_backend.hosts.agents import repository as agents
from wallwatch_backend.hosts.command_keys.signing import CommandSigner
from wallwatch_backend.incidents import repository as incidents
from wallwatch_backend.incidents.service import note_remedy
from wallwatch_backend.kit import changes, clock
from wallwatch_backend.kit.access import Caller, Role
from wallwatch_backend.kit.database import ReadSession, WriteSession
from wallwatch_backend.kit.paging import Page, encode_cursor, time_and_id
from wallwatch_backend.kit.problems import NotFound
from wallwatch_backend.remedies.models import RemedyRow
from wallwatch_backend.remedies.orders.errors import IncidentUnknown, NoAgent
from wallwatch_backend.remedies.orders.issuing import issue
from wallwatch_backend.remedies.plans import planning_process, present, repository
from wallwatch_backend.remedies.plans.errors import ModelUnknown, PlanInProgress, PlanNotReady
from wallwatch_backend.remedies.plans.models import PlanRow
from wallwatch_backend.remedies.plans.schemas import NewPlan, Plan, PlanSummary, PlanTrigger
from wallwatch_backend.remedies.plans.states import PLAN, PlanState
from wallwatch_backend.remedies.states import RemedyState
from wallwatch_backend.settings import Settings


async def create(
    session: WriteSession, settings: Settings, signer: CommandSigner, caller: Caller, body: NewPlan, trigger: PlanTrigger = "manual"
) -> Plan:
    """Have the agent read the flows of an RNIC, and create the plan that they are for."""
    identity = await identity_of(session, body.host, body.pci)
    if identity.model not in load.profiles():
        named, known = identity.model or "none", ", ".join(load.profiles())
        raise ModelUnknown(f"Telemetry of {body.pci} on {body.host} reports model {named}; there are profiles for {known}.")
    if await agents.by_host(session, body.host) is None:
        raise NoAgent(f"Enrol an agent on {body.host} first: wallwatch agent enrol --host {body.host}")
    if body.incident_id is not None and await incidents.get(session, body.incident_id) is None:
        raise IncidentUnknown(f"There is no incident {body.incident_id}.")
    await repository.lock_rnic(session, body.host, body.pci)
    other = await repository.in_progress(session, body.host, body.pci)
    if other is not None:
        raise PlanInProgress(f"Plan {other} is not done yet.")
    at = clock.now()
    reading = RemedyRow(
        id=uuid4(),
        action=repository.READ_FLOWS,
        host=body.host,
        pci=body.pci,
        params={"pci": body.pci, "seconds": settings.plan_read_s},
        mode="dry_run",
        state=RemedyState.approved,
        requested_by=caller.actor,
        created_at=at,
        updated_at=at,
        operations=[],
        request_hash="",
    )
    await repository.add(session, reading)
    await issue(session, settings, signer, reading, "dry_run")
    row = PlanRow(
        id=uuid4(),
        host=body.host,
        pci=body.pci,
        model=identity.model,
        state=PlanState.reading,
        trigger=trigger,
        then=body.then,
        requested_by=caller.actor,
        requester_ids=sorted(await persons.accounts_behind(session, caller)),
        incident_id=body.incident_id,
        hyper_capacity=body.hyper_capacity,
        read_remedy_id=reading.id,
        created_at=at,
        updated_at=at,
        ports=[],
    )
    await repository.add(session, row)
    audit.record(
        session, caller.actor, "plan.make", f"{body.host} {body.pci}", address=caller.address, plan_id=str(row.id), trigger=trigger
    )
    await note_remedy(session, row.incident_id, caller.actor, "Requested a mask plan.")
    await changes.announce(session, "plan", row.id, row.state)
    return await present.whole(session, row)


async def profile_of(session: ReadSession, row: PlanRow) -> Profile:
    """The active profile of a plan's RNIC: for its firmware, else for its driver, else for its model."""
    identity = await identity_of(session, row.host, row.pci)
    driver, firmware = identity.driver or "", identity.fw_ver or ""
    for scope in ((driver, firmware), ("", firmware), (driver, ""), ("", "")):
        version = await profiles.in_force(session, row.model, *scope)
        if version is not None:
            return profile_in_force(row.model, version)
    return profile_in_force(row.model, None)


async def get(session: ReadSession, plan_id: UUID) -> Plan:
    row = await repository.one(session, plan_id)
    if row is None:
        raise NotFound(f"There is no plan {plan_id}.")
    return await present.whole(session, row)


async def operations_text(session: ReadSession, plan_id: UUID) -> str:
    row = await repository.one(session, plan_id, whole=True)
    if row is None:
        raise NotFound(f"There is no plan {plan_id}.")
    if row.operations is None:
        raise PlanNotReady(row.message or f"The plan {PLAN[row.state].sentence}; it has no operations.")
    return planning_process.commands(row.operations)


async def list_plans(
    session: ReadSession, *, host: str | None, pci: str | None, state: PlanState | None, limit: int, cursor: str | None
) -> Page[PlanSummary]:
    rows = await repository.page(session, host=host, pci=pci, state=state, before=time_and_id(cursor), limit=limit + 1)
    items = [await present.summary(session, row) for row in rows[:limit]]
    return Page(items=items, next_cursor=encode_cursor(items[-1].created_at, str(items[-1].id)) if len(rows) > limit else None)


def caller_of(row: PlanRow) -> Caller:
    """Whoever requested a plan has also requested what follows it."""
    return Caller(kind="user", id=row.id, name=row.requested_by, role=Role.operator, address=None, people=frozenset(row.requester_ids))
