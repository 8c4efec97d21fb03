"""SLO classes and rules: operators write them, the audit log has each change, the job `isolation` follows within seconds."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Row

from wallwatch_backend.accounts.audit import service as audit
from wallwatch_backend.isolation.slo import repository
from wallwatch_backend.isolation.slo.errors import ClassExists, ClassInUse, MinimaExceedLink, UnknownClass
from wallwatch_backend.isolation.slo.models import SloClassRow, SloRuleVersionRow
from wallwatch_backend.isolation.slo.rules import Comparison, KnownVf, Outcome, book_of
from wallwatch_backend.isolation.slo.schemas import (
    NewSloClass,
    PreviewedVf,
    SloClass,
    SloPreview,
    SloRule,
    SloRules,
    SloValues,
    StoredSloRules,
)
from wallwatch_backend.kit import clock, etags
from wallwatch_backend.kit.access import Caller
from wallwatch_backend.kit.database import ReadSession, WriteSession
from wallwatch_backend.kit.problems import NotFound

_MOST_NAMED = 5
_MOST_REFUSED = 1_000
_VALUES = tuple(SloValues.model_fields)


def _shown(row: SloClassRow, uses: Mapping[str, int]) -> SloClass:
    values: dict[str, Any] = {name: getattr(row, name) for name in _VALUES}
    return SloClass(
        **values, name=row.name, rules=uses.get(row.name, 0), version=row.version, updated_at=row.updated_at, updated_by=row.updated_by
    )


def _record(session: WriteSession, caller: Caller, action: str, target: str, **detail: Any) -> None:
    audit.record(session, caller.actor, action, target, address=caller.address, **detail)


async def list_classes(session: ReadSession) -> list[SloClass]:
    uses = await repository.uses(session)
    return [_shown(row, uses) for row in await repository.classes(session)]


async def create_class(session: WriteSession, caller: Caller, body: NewSloClass) -> SloClass:
    await repository.lock(session)
    if await repository.get_class(session, body.name) is not None:
        raise ClassExists(f"There is an SLO class {body.name!r}: change it, or choose another name.")
    row = SloClassRow(**body.model_dump(), version=1, updated_at=clock.now(), updated_by=caller.actor)
    await repository.add(session, row)
    _record(session, caller, "slo_class.create", body.name, **body.model_dump(exclude={"name"}))
    return _shown(row, {})


async def update_class(session: WriteSession, caller: Caller, name: str, body: SloValues, if_match: str | None) -> SloClass:
    await repository.lock(session)
    row = _require(await repository.get_class(session, name), name)
    etags.check(if_match, row.version)
    classes, rules = await _classes(session), await _rules(session)
    _refuse(await _compare(session, (classes, rules), ({**classes, name: body}, rules)))
    for field, value in body.model_dump().items():
        setattr(row, field, value)
    row.version, row.updated_at, row.updated_by = row.version + 1, clock.now(), caller.actor
    await session.flush()
    _record(session, caller, "slo_class.update", name, **body.model_dump())
    return _shown(row, await repository.uses(session))


async def delete_class(session: WriteSession, caller: Caller, name: str, if_match: str | None) -> None:
    await repository.lock(session)
    row = _require(await repository.get_class(session, name), name)
    etags.check(if_match, row.version)
    used = (await repository.uses(session)).get(name, 0)
    if used:
        raise ClassInUse(f"{used} SLO rule{'s assign' if used > 1 else ' assigns'} the class {name!r}: change the rules first.")
    await repository.remove(session, row)
    _record(session, caller, "slo_class.delete", name)


def _require(row: SloClassRow | None, name: str) -> SloClassRow:
    if row is None:
        raise NotFound(f"There is no SLO class {name!r}.")
    return row


async def get_rules(session: ReadSession) -> StoredSloRules:
    version = await repository.version(session)
    rules = await _rules(session)
    if version is None:
        return StoredSloRules(rules=rules, version=0, updated_at=None, updated_by=None)
    return StoredSloRules(rules=rules, version=version.version, updated_at=version.updated_at, updated_by=version.updated_by)


async def replace_rules(session: WriteSession, caller: Caller, body: SloRules, if_match: str | None) -> StoredSloRules:
    await repository.lock(session)
    version = await repository.version(session)
    etags.check(if_match, version.version if version is not None else 0)
    classes = await _classes(session)
    _refuse(await _compare(session, (classes, await _rules(session)), (classes, body.rules)))
    rows = [
        {"position": position, "matchers": [matcher.model_dump() for matcher in rule.matchers], "slo_class": rule.slo_class}
        for position, rule in enumerate(body.rules)
    ]
    await repository.replace(session, rows)
    if version is None:
        version = SloRuleVersionRow(id=1, version=0, updated_at=clock.now(), updated_by=caller.actor)
        session.add(version)
    version.version, version.updated_at, version.updated_by = version.version + 1, clock.now(), caller.actor
    await session.flush()
    _record(session, caller, "slo_rules.replace", f"version {version.version}", rules=body.model_dump(mode="json")["rules"])
    return StoredSloRules(rules=body.rules, version=version.version, updated_at=version.updated_at, updated_by=version.updated_by)


async def preview(session: ReadSession, body: SloRules, offset: int, limit: int) -> SloPreview:
    classes = await _classes(session)
    found = await _compare(session, (classes, await _rules(session)), (classes, body.rules), page_end=offset + limit)
    return SloPreview(
        vfs=[_previewed(one) for one in found.page(offset)],
        vfs_total=found.total,
        matched=found.matched,
        changed=found.changed,
        refused=found.refused[:_MOST_REFUSED],
        refused_total=len(found.refused),
    )


def _previewed(one: Outcome) -> PreviewedVf:
    known = one.known
    namespace, slash, _ = known.pod.partition("/")
    return PreviewedVf(
        host=known.host,
        pci=known.pci,
        vf=known.vf,
        pod=known.pod or None,
        tenant=namespace if slash else None,
        slo=one.promise,
        before=known.slo.get("name") if known.slo is not None else None,
    )


async def _classes(session: ReadSession) -> dict[str, SloValues]:
    return {row.name: SloValues(**{name: getattr(row, name) for name in _VALUES}) for row in await repository.classes(session)}


async def _rules(session: ReadSession) -> list[SloRule]:
    rows = await repository.rules(session)
    return [SloRule.model_validate({"matchers": row.matchers, "slo_class": row.slo_class}) for row in rows]


Promises = tuple[Mapping[str, SloValues], Sequence[SloRule]]
"""Classes by name, and the ordered rules."""


async def _compare(session: ReadSession, before: Promises, after: Promises, page_end: int = 0) -> Comparison:
    """What a change does to every VF. Batches are compared in a thread, because 40,000 RNICs have 320,000 VFs."""
    unknown = sorted({rule.slo_class for rule in after[1]} - set(after[0]))
    if unknown:
        raise UnknownClass(f"There is no SLO class {unknown[0]!r}: create it first, or name another one.")
    comparison = Comparison(book_of(*before), book_of(*after), page_end)
    async for rows in repository.vfs(session):
        await asyncio.to_thread(_add, comparison, rows)
    return comparison


def _add(comparison: Comparison, rows: Sequence[Row[Any]]) -> None:
    comparison.add(
        [KnownVf(row.host, row.pci, row.rack or "", row.model or "", row.port_mbps, row.vf, row.pod or "", row.slo) for row in rows]
    )


def _refuse(compared: Comparison) -> None:
    """Raise when the minima of an RNIC would exceed its link."""
    too_much = compared.refused
    if not too_much:
        return
    named = "; ".join(
        f"{one.host} {one.pci}: the minima add up to {one.sum_min_mbps:,.0f} Mbit/s, its port has {one.port_mbps:,.0f} Mbit/s"
        for one in too_much[:_MOST_NAMED]
    )
    more = f"; and {len(too_much) - _MOST_NAMED} more RNICs" if len(too_much) > _MOST_NAMED else ""
    raise MinimaExceedLink(f"{named}{more}. Lower min_mbps, or assign the class to fewer VFs.")
