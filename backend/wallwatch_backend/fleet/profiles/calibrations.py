"""Creates versions from measurements; promotes and rolls them back."""

import asyncio
from datetime import timedelta

from wallwatch.domain.calibration.calibrate import NothingToFit as Nothing
from wallwatch.domain.calibration.calibrate import Wish, calibrate
from wallwatch.domain.calibration.files import File, calibrate_files
from wallwatch.domain.calibration.points import Measured
from wallwatch.domain.calibration.result import Calibration
from wallwatch.domain.catalogue import load
from wallwatch.domain.performance.parameters import Performance
from wallwatch.domain.perftest.runs import Row, Run
from wallwatch_backend.accounts.audit import service as audit
from wallwatch_backend.fleet.profiles import present, repository, service
from wallwatch_backend.fleet.profiles.errors import NothingToFit, NothingToRollBack, NotPromotable
from wallwatch_backend.fleet.profiles.models import ProfileVersionRow
from wallwatch_backend.fleet.profiles.schemas import FleetCalibration, NewCalibration, Profile, ProfileVersion, Source
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.access import Caller
from wallwatch_backend.kit.database import WriteSession
from wallwatch_backend.kit.problems import InvalidInput

JUMBO = 4096
"""Message size assumed for the fleet's traffic: RDMA's largest packet."""


async def from_perftest(session: WriteSession, caller: Caller, model: str, body: NewCalibration) -> ProfileVersion:
    """Fit output of perftest; the version becomes a candidate, or is stored as refused with its reasons."""
    base = service.of_catalogue(model)
    unknown = sorted(set(body.limits) - set(base.limits))
    if unknown:
        raise InvalidInput(f"Unknown wall {unknown[0]!r} (expected one of {', '.join(base.limits)}).")
    current = await _current(session, model, body.driver, body.fw_ver)
    files = [File(file.name, file.text, None if file.masks is None else {str(k): n for k, n in file.masks.items()}) for file in body.files]
    try:
        calibration = await asyncio.to_thread(calibrate_files, files, model, current, Wish(verb=body.verb))
    except Nothing as problem:
        raise NothingToFit(str(problem)) from None
    return await _store(session, caller, model, calibration, "perftest", body.driver, body.fw_ver, body.limits, body.note)


async def from_fleet(session: WriteSession, caller: Caller, model: str, body: FleetCalibration) -> ProfileVersion:
    """Fit the bandwidth that the fleet's RNICs of this model reached in steady minutes; latency is not measured on a fleet."""
    service.of_catalogue(model)
    current = await _current(session, model, "", body.fw_ver)
    rows = await repository.plateaus(session, model, body.fw_ver, clock.now() - timedelta(hours=body.hours))
    cells = [(float(r.q_l), float(r.q_r), float(r.gbps), int(r.minutes), int(r.rnics)) for r in rows]
    # More lookups never give more bandwidth: where a cell with more of them reached more, the traffic was the limit, not the RNIC.
    full = [c for c in cells if not any(o[0] >= c[0] - 2.5 and o[1] >= c[1] - 2.5 and o[2] > 1.05 * c[2] for o in cells)]
    measured = [
        Measured(f"{minutes} min of {rnics} RNICs", q_l, q_r, Run("send", "bandwidth", rows=[Row(JUMBO, None, average_gbps=gbps)]))
        for q_l, q_r, gbps, minutes, rnics in full
    ]
    if not measured:
        raise NothingToFit(
            f"No steady minute of an RNIC of model {model} in the last {body.hours} hours: the RNIC must have been the limit for a while."
        )
    try:
        calibration = await asyncio.to_thread(calibrate, measured, current, model, others=[p.performance for p in load.profiles().values()])
    except Nothing as problem:
        raise NothingToFit(str(problem)) from None
    note = (
        "From the fleet's own samples: steady minutes, in cells of 5 x 5 lookups. The RNIC's own ingress chain stands for its peers', and"
        " traffic that did not use the RNIC fully makes the surface too low."
    )
    calibration = calibration.model_copy(
        update={"assumptions": [note], "notes": [n for n in calibration.notes if "latency" not in n.lower()]}
    )
    return await _store(session, caller, model, calibration, "fleet", "", body.fw_ver, {}, body.note)


async def _current(session: WriteSession, model: str, driver: str, fw_ver: str) -> Performance:
    """The version that a fit must beat: that of the same driver and firmware, or that of the model."""
    row = await repository.in_force(session, model, driver, fw_ver) or await repository.in_force(session, model, "", "")
    return present.profile_in_force(model, row).performance


async def _store(
    session: WriteSession,
    caller: Caller,
    model: str,
    found: Calibration,
    source: Source,
    driver: str,
    fw_ver: str,
    limits: dict[str, float],
    note: str,
) -> ProfileVersion:
    await repository.lock(session, model)
    row = ProfileVersionRow(
        model=model,
        number=await repository.next_number(session, model),
        driver=driver,
        fw_ver=fw_ver,
        state="candidate" if found.accepted else "refused",
        source=source,
        performance=None if found.candidate is None else found.candidate.model_dump(exclude_none=True),
        limits=limits,
        calibration=found.model_dump(mode="json"),
        note=note,
        created_by=caller.actor,
    )
    await repository.add(session, row)
    audit.record(
        session, caller.actor, "profile.calibrate", model, address=caller.address, version=row.number, source=source, state=row.state
    )
    return present.version(row)


async def promote(session: WriteSession, caller: Caller, model: str, number: int, reason: str) -> Profile:
    """Activate a version; the previous one is retired and can be restored."""
    service.of_catalogue(model)
    await repository.lock(session, model)
    row = await service.version_row(session, model, number)
    if row.state == "refused":
        raise NotPromotable(f"Version {number} was refused: {' '.join(present.summary(row).reasons)}")
    if row.state == "active":
        raise NotPromotable(f"Version {number} is active already.")
    try:
        present.profile_in_force(model, row)
    except ValueError as problem:
        raise NotPromotable(f"Version {number} gives no limit for masks: {problem}") from None
    active = await repository.in_force(session, model, row.driver, row.fw_ver)
    await _switch(session, active, row)
    row.promoted_by, row.promoted_at = caller.actor, clock.now()
    await session.flush()
    audit.record(
        session, caller.actor, "profile.promote", model, address=caller.address, version=number,
        before=active.number if active is not None else 0, reason=reason,
    )  # fmt: skip
    return await service.get_profile(session, model)


async def roll_back(session: WriteSession, caller: Caller, model: str, driver: str, fw_ver: str, reason: str) -> Profile:
    """Restore the previously active version, or the catalogue's built-in profile."""
    service.of_catalogue(model)
    await repository.lock(session, model)
    active = await repository.in_force(session, model, driver, fw_ver)
    if active is None:
        raise NothingToRollBack
    before = await repository.before(session, active)
    await _switch(session, active, before)
    audit.record(
        session, caller.actor, "profile.rollback", model, address=caller.address, version=before.number if before is not None else 0,
        before=active.number, reason=reason,
    )  # fmt: skip
    return await service.get_profile(session, model)


async def _switch(session: WriteSession, present: ProfileVersionRow | None, to: ProfileVersionRow | None) -> None:
    if present is not None:
        present.state, present.retired_at = "retired", clock.now()
        await session.flush()  # two versions are never active at once, not even inside the transaction
    if to is not None:
        to.state, to.retired_at = "active", None
        await session.flush()
