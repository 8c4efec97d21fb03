"""Policies: the catalogue's and operators' own. Each step is in the audit log."""

from typing import Any

from wallwatch.domain.policies.load import policies as catalogue
from wallwatch.domain.policies.models import Policy as CataloguePolicy
from wallwatch_backend.accounts.audit import service as audit
from wallwatch_backend.kit import changes, clock, etags
from wallwatch_backend.kit.access import Caller
from wallwatch_backend.kit.database import ReadSession, WriteSession
from wallwatch_backend.kit.problems import NotFound
from wallwatch_backend.kit.process_pool import run_in_process
from wallwatch_backend.policies.formulas import analysis
from wallwatch_backend.policies.formulas.schemas import Definition, PolicyProblem
from wallwatch_backend.policies.registry import present, repository
from wallwatch_backend.policies.registry.errors import BadPolicy, NoDraft, PolicyExists, PolicyOfCatalogue, TooManyPolicies
from wallwatch_backend.policies.registry.models import PolicyRow, PolicyVersionRow, is_draft
from wallwatch_backend.policies.registry.schemas import HistoryEntry, NewPolicy, Policy, PolicyChange, PolicySummary
from wallwatch_backend.policies.registry.stored import definition_of, policy_of
from wallwatch_backend.policies.reports.standing import Standing

MOST_ENABLED = 200
"""Of operators; collectors support 256, including the catalogue's."""

_RESERVED = frozenset({"backtest", "check", "delivery", "run", "vocabulary"})
"""Names that would collide with paths of the API."""


async def list_policies(session: ReadSession, standing: Standing) -> list[PolicySummary]:
    """Return all policies, the catalogue's first."""
    reported = await present.reported_on_all(session, clock.now(), standing)
    rows = {row.id: row for row in await repository.rows(session)}
    shown = await repository.shown_versions(session)
    of_catalogue = [present.summary(policy, rows.get(policy.id), reported) for policy in catalogue().values()]
    own = [(policy_of(version.definition), rows[id]) for id, version in sorted(shown.items())]
    return [*of_catalogue, *(present.summary(policy, row, reported) for policy, row in own)]


async def get(session: ReadSession, policy_id: str) -> Policy:
    row = await repository.one(session, policy_id)
    if row is None or not row.own:
        if policy_id not in catalogue():
            raise NotFound(f"There is no policy {policy_id}.")
        return await _presented(session, catalogue()[policy_id], row, [])
    versions = list(await repository.versions(session, policy_id))
    shown = next(version for version in versions if version.number == (row.running or row.newest))
    return await _presented(session, policy_of(shown.definition), row, versions)


async def _presented(session: ReadSession, policy: CataloguePolicy, row: PolicyRow | None, versions: list[PolicyVersionRow]) -> Policy:
    summary = present.summary(policy, row, await present.reported_on(session, clock.now(), policy.id))
    agents = await present.agents_by_version(session, policy.id)
    listed = [present.version_of(version, agents.get(version.number, 0)) for version in versions]
    draft = next((version for version in listed if version.enabled_at is None), None)
    counts = await repository.agent_counts(session)
    return Policy(
        **summary.model_dump(),
        version=row.version if row is not None else 0,
        definition=definition_of(policy),
        draft=draft,
        versions=listed,
        history=[
            HistoryEntry(at=entry.at, actor=entry.actor, action=entry.action, detail=entry.detail)
            for entry in await repository.history(session, policy.id)
        ],
        source=policy.source,
        agents_running=agents.get(summary.running, 0) if summary.running is not None else 0,
        agents_expected=counts.takes,
    )


async def _usable(id: str, definition: Definition) -> dict[str, Any]:
    plain = Definition.model_validate(definition.model_dump(include=set(Definition.model_fields)))
    body, problems = await run_in_process(analysis.CHECK_S, "The check of the formula", analysis.usable, id, plain)
    if problems:
        raise BadPolicy("; ".join(_sentence(problem) for problem in problems))
    return body


def _sentence(problem: PolicyProblem) -> str:
    return problem.message if problem.position is None else f"at character {problem.position + 1} of the formula: {problem.message}"


def _record(session: WriteSession, caller: Caller, action: str, policy_id: str, **detail: Any) -> None:
    audit.record(session, caller.actor, f"policy.{action}", policy_id, address=caller.address, **detail)


async def create(session: WriteSession, caller: Caller, body: NewPolicy) -> Policy:
    """Save a draft."""
    if body.id in _RESERVED or body.id in catalogue() or await repository.one(session, body.id) is not None:
        raise PolicyExists(f"The name {body.id} is taken; choose another one.")
    stored = await _usable(body.id, body)
    at = clock.now()
    row = PolicyRow(id=body.id, own=True, enabled=False, newest=1, created_by=caller.actor, updated_by=caller.actor, updated_at=at)
    await repository.add(session, row)
    await repository.add(
        session, PolicyVersionRow(policy_id=body.id, number=1, definition=stored, note="", saved_by=caller.actor, saved_at=at)
    )
    _record(session, caller, "create", body.id, version=1, formula=body.formula)
    await session.flush()
    return await get(session, body.id)


async def _own_locked(session: WriteSession, policy_id: str, if_match: str | None) -> PolicyRow:
    row = await repository.one_locked(session, policy_id)
    if row is None or not row.own:
        if policy_id in catalogue():
            raise PolicyOfCatalogue("Copy it under another name, and disable this one if the copy replaces it.")
        raise NotFound(f"There is no policy {policy_id}.")
    etags.check(if_match, row.version)
    return row


def _touch(row: PolicyRow, caller: Caller) -> None:
    row.updated_by, row.updated_at, row.version = caller.actor, clock.now(), row.version + 1


async def update(session: WriteSession, caller: Caller, policy_id: str, change: PolicyChange, if_match: str | None) -> Policy:
    """Change the draft, or create one: an enabled version never changes."""
    stored = await _usable(policy_id, change)
    row = await _own_locked(session, policy_id, if_match)
    at = clock.now()
    newest = await repository.version(session, policy_id, row.newest)
    if newest is not None and is_draft(newest):
        newest.definition, newest.saved_by, newest.saved_at = stored, caller.actor, at
        newest.note = change.message or newest.note
    else:
        row.newest += 1
        version = PolicyVersionRow(
            policy_id=policy_id, number=row.newest, definition=stored, note=change.message or "", saved_by=caller.actor, saved_at=at
        )
        await repository.add(session, version)
    _touch(row, caller)
    _record(session, caller, "edit", policy_id, version=row.newest, formula=change.formula, message=change.message)
    await session.flush()
    return await get(session, policy_id)


async def enable(session: WriteSession, caller: Caller, policy_id: str, number: int | None, if_match: str | None) -> Policy:
    """Deliver a version (default: the newest) to all agents; earlier versions can be enabled again."""
    if policy_id in catalogue():
        return await _switch_catalogue(session, caller, policy_id, True, if_match)
    row = await _own_locked(session, policy_id, if_match)
    version = await repository.version(session, policy_id, number or row.newest)
    if version is None:
        raise NotFound(f"There is no version {number} of {policy_id}.")
    # A version may have become invalid since it was saved, if an upgrade removed its events.
    await _usable(policy_id, Definition.model_validate(version.definition))
    if not row.enabled and await repository.enabled_count(session) >= MOST_ENABLED:
        raise TooManyPolicies(f"{MOST_ENABLED} policies are enabled already; disable one first.")
    if version.enabled_at is None:
        version.enabled_at, version.enabled_by = clock.now(), caller.actor
    before, row.enabled, row.running = row.running, True, version.number
    _touch(row, caller)
    _record(session, caller, "enable", policy_id, version=version.number, before=before)
    await changes.announce(session, "policy", policy_id, "enabled")
    await session.flush()
    return await get(session, policy_id)


async def disable(session: WriteSession, caller: Caller, policy_id: str, if_match: str | None) -> Policy:
    """Remove a policy from all agents; its versions and violations stay."""
    if policy_id in catalogue():
        return await _switch_catalogue(session, caller, policy_id, False, if_match)
    row = await _own_locked(session, policy_id, if_match)
    if row.enabled:
        row.enabled = False
        _touch(row, caller)
        _record(session, caller, "disable", policy_id, version=row.running)
        await changes.announce(session, "policy", policy_id, "disabled")
        await session.flush()
    return await get(session, policy_id)


async def _switch_catalogue(session: WriteSession, caller: Caller, policy_id: str, enabled: bool, if_match: str | None) -> Policy:
    row = await repository.one_locked(session, policy_id)
    etags.check(if_match, row.version if row is not None else 0)
    if row is None:
        by = {"created_by": caller.actor, "updated_by": caller.actor, "updated_at": clock.now()}
        row = PolicyRow(id=policy_id, own=False, enabled=True, newest=0, version=0, **by)
        await repository.add(session, row)
    if row.enabled != enabled:
        row.enabled = enabled
        _touch(row, caller)
        _record(session, caller, "enable" if enabled else "disable", policy_id)
        await changes.announce(session, "policy", policy_id, "enabled" if enabled else "disabled")
        await session.flush()
    return await get(session, policy_id)


async def delete(session: WriteSession, caller: Caller, policy_id: str, if_match: str | None) -> None:
    """Delete a draft: the whole policy if it was never enabled, else only the version after the enabled one."""
    row = await _own_locked(session, policy_id, if_match)
    draft = await repository.version(session, policy_id, row.newest)
    if draft is None or not is_draft(draft):
        raise NoDraft("Versions that were enabled are kept as a record; disable the policy instead.")
    number = draft.number
    await repository.remove(session, draft)
    if row.running is None:
        await repository.remove_versions(session, policy_id)
        await repository.remove(session, row)
    else:
        row.newest -= 1
        _touch(row, caller)
    _record(session, caller, "delete_draft", policy_id, version=number)
