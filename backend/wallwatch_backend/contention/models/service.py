"""Creates versions from profiles, promotes and rolls them back; sets what functions are promised."""

from itertools import groupby
from typing import Any
from uuid import UUID

from wallwatch_backend.accounts.audit import service as audit
from wallwatch_backend.contention.models import present, repository, training
from wallwatch_backend.contention.models.errors import NothingToRollBack, NotPromotable, UnusableProfiles
from wallwatch_backend.contention.models.models import NetworkFunctionRow, NfModelVersionRow
from wallwatch_backend.contention.models.schemas import (
    FunctionTerms,
    NetworkFunction,
    NewNfModel,
    NfModel,
    NfRollBack,
    NfVersion,
)
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.access import Caller
from wallwatch_backend.kit.database import ReadSession, WriteSession
from wallwatch_backend.kit.problems import NotFound
from wallwatch_backend.kit.process_pool import run_in_process

TRAINING_S = 60.0
"""Of one training; fifty rows take less than a second of CPU time, two thousand about twenty."""


async def list_models(session: ReadSession) -> list[NfModel]:
    terms = await repository.terms(session)
    rows = await repository.all_versions(session)
    return [_model(list(group), terms.get(key[0])) for key, group in groupby(rows, _key)]


def _key(row: NfModelVersionRow) -> tuple[str, str, str]:
    return row.function, row.nic_model, row.firmware


def _model(rows: list[NfModelVersionRow], terms: NetworkFunctionRow | None) -> NfModel:
    function, nic_model, firmware = _key(rows[0])
    return NfModel(
        function=function,
        nic_model=nic_model,
        firmware=firmware,
        active=next((row.number for row in rows if row.state == "active"), None),
        terms=present.terms(terms),
        versions=[present.summary(row) for row in rows],
    )


async def get_version(session: ReadSession, id: UUID) -> NfVersion:
    return present.version(await _require(session, id))


async def _require(session: ReadSession, id: UUID) -> NfModelVersionRow:
    row = await repository.version(session, id)
    if row is None:
        raise NotFound("There is no such version of a model.")
    return row


async def create(session: WriteSession, caller: Caller, body: NewNfModel) -> NfVersion:
    """Train on the profiles; the version becomes a candidate, or is stored as refused with its reasons."""
    active = await repository.active(session, body.function, body.nic_model, body.firmware)
    trained = await run_in_process(
        TRAINING_S,
        "The training",
        training.train,
        body.function,
        body.pattern.value,
        [(file.name, file.text) for file in body.files],
        None if active is None else active.model,
    )
    if trained["problem"] is not None:
        raise UnusableProfiles(trained["problem"])
    await repository.lock(session, body.function)
    row = NfModelVersionRow(
        function=body.function,
        nic_model=body.nic_model,
        firmware=body.firmware,
        number=await repository.next_number(session, body.function, body.nic_model, body.firmware),
        state="candidate" if trained["accepted"] else "refused",
        model=trained["model"],
        card=trained["card"],
        own_load=trained["own_load"],
        note=body.note,
        created_by=caller.actor,
    )
    await repository.add(session, row)
    _record(session, caller, "nf_model.train", row, state=row.state, files=[file["sha256"] for file in row.card["files"]])
    return present.version(row)


async def promote(session: WriteSession, caller: Caller, id: UUID, reason: str) -> NfModel:
    """Activate a version; the previous one is retired and can be restored."""
    await repository.lock(session, (await _require(session, id)).function)
    row = await _require(session, id)
    await session.refresh(row)  # as it is now that nobody else may change it
    if row.state == "refused":
        raise NotPromotable(f"Version {row.number} was refused: {' '.join(row.card['reasons'])}")
    if row.state == "active":
        raise NotPromotable(f"Version {row.number} is active already.")
    active = await repository.active(session, *_key(row))
    await _switch(session, active, row)
    row.promoted_by, row.promoted_at = caller.actor, clock.now()
    await session.flush()
    _record(session, caller, "nf_model.promote", row, before=None if active is None else active.number, reason=reason)
    return await _shown(session, row)


async def roll_back(session: WriteSession, caller: Caller, body: NfRollBack) -> NfModel:
    """Restore the previously active version; before the first, none is active."""
    await repository.lock(session, body.function)
    active = await repository.active(session, body.function, body.nic_model, body.firmware)
    if active is None:
        raise NothingToRollBack
    before = await repository.before(session, active)
    await _switch(session, active, before)
    _record(session, caller, "nf_model.rollback", active, to=None if before is None else before.number, reason=body.reason)
    return await _shown(session, active)


async def _switch(session: WriteSession, active: NfModelVersionRow | None, to: NfModelVersionRow | None) -> None:
    if active is not None:
        active.state, active.retired_at = "retired", clock.now()
        await session.flush()  # two versions are never active at once, not even inside the transaction
    if to is not None:
        to.state, to.retired_at = "active", None
        await session.flush()


async def _shown(session: ReadSession, row: NfModelVersionRow) -> NfModel:
    rows = list(await repository.versions(session, *_key(row)))
    return _model(rows, await repository.terms_of(session, row.function))


def _record(session: WriteSession, caller: Caller, action: str, row: NfModelVersionRow, **detail: Any) -> None:
    scope: dict[str, Any] = {"nic_model": row.nic_model, "firmware": row.firmware, "version": row.number}
    audit.record(session, caller.actor, action, row.function, address=caller.address, **scope, **detail)


async def set_terms(session: WriteSession, caller: Caller, name: str, body: FunctionTerms) -> NetworkFunction:
    """Set how many cores a function needs and what it is promised."""
    await repository.lock(session, name)
    row = await repository.terms_of(session, name)
    if row is None:
        row = NetworkFunctionRow(name=name, cores=body.cores, version=0, updated_at=clock.now(), updated_by=caller.actor)
    row.cores, row.sla_drop = body.cores, body.sla_drop
    row.version, row.updated_at, row.updated_by = row.version + 1, clock.now(), caller.actor
    await repository.add_terms(session, row)
    audit.record(session, caller.actor, "network_function.update", name, address=caller.address, cores=body.cores, sla_drop=body.sla_drop)
    return NetworkFunction.model_validate(row, from_attributes=True)
