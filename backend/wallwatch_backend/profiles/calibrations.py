"""New versions from measurements, and what is done with them: promoted, rolled back."""

import asyncio
from datetime import timedelta

from wallwatch.domain.catalogue import load
from wallwatch.domain.catalogue.models import Performance
from wallwatch.domain.performance.calibrate import NothingToFit as Nothing
from wallwatch.domain.performance.calibrate import Wish, calibrate
from wallwatch.domain.performance.calibration import Calibration
from wallwatch.domain.performance.from_perftest import File, calibrate_files
from wallwatch.domain.performance.perftest_runs import Row, Run
from wallwatch.domain.performance.points import Measured
from wallwatch_backend.audit import service as audit
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.access import Caller
from wallwatch_backend.kit.database import WriteSession
from wallwatch_backend.kit.problems import InvalidInput
from wallwatch_backend.profiles import repository, service, shown
from wallwatch_backend.profiles.errors import NothingToFit, NothingToRollBack, NotPromotable
from wallwatch_backend.profiles.models import ProfileVersionRow
from wallwatch_backend.profiles.schemas import FleetCalibration, NewCalibration, Profile, ProfileVersion, Source

JUMBO = 4096
"""Message size that stands for the fleet's traffic: RDMA's largest packet."""


async def from_perftest(session: WriteSession, caller: Caller, model: str, body: NewCalibration) -> ProfileVersion:
    """Fit what perftest printed; the version waits to be promoted, or is kept as refused with its reasons."""
    base = service.of_catalogue(model)
    unknown = sorted(set(body.limits) - set(base.limits))
    if unknown:
        raise InvalidInput(f"There is no wall {unknown[0]!r}; known are {', '.join(base.limits)}.")
    current = await _current(session, model, body.driver, body.fw_ver)
    files = [File(file.name, file.text, None if file.masks is None else {str(k): n for k, n in file.masks.items()}) for file in body.files]
    try:
        found = await asyncio.to_thread(calibrate_files, files, model, current, Wish(verb=body.verb))
    except Nothing as problem:
        raise NothingToFit(str(problem)) from None
    return await _keep(session, caller, model, found, "perftest", body.driver, body.fw_ver, body.limits, body.note)


async def from_fleet(session: WriteSession, caller: Caller, model: str, body: FleetCalibration) -> ProfileVersion:
    """Fit the bandwidth that the fleet's RNICs of this model reached in steady minutes; latency is not measured on a fleet."""
    service.of_catalogue(model)
    current = await _current(session, model, "", body.fw_ver)
    rows = await repository.plateaus(session, model, body.fw_ver, clock.now() - timedelta(hours=body.hours))
    cells = [(float(r.q_l), float(r.q_r), float(r.gbps), int(r.minutes), int(r.rnics)) for r in rows]
    # More queries never give more bandwidth: where a cell with more of them reached more, it was the traffic that wanted no more.
    full = [c for c in cells if not any(o[0] >= c[0] - 2.5 and o[1] >= c[1] - 2.5 and o[2] > 1.05 * c[2] for o in cells)]
    measured = [
        Measured(f"{minutes} min of {rnics} RNICs", q_l, q_r, Run("send", "bandwidth", rows=[Row(JUMBO, None, average_gbps=gbps)]))
        for q_l, q_r, gbps, minutes, rnics in full
    ]
    if not measured:
        raise NothingToFit(
            f"No steady minute of an RNIC of model {model} in the last {body.hours} hours: the card must have been the limit for a while."
        )
    try:
        found = await asyncio.to_thread(calibrate, measured, current, model, others=[p.performance for p in load.profiles().values()])
    except Nothing as problem:
        raise NothingToFit(str(problem)) from None
    note = (
        "From the fleet's own samples: steady minutes, in cells of 5 x 5 queries. The RNIC's own ingress chain stands for its peers', and"
        " traffic that wanted less than the card can give makes the surface too low."
    )
    found = found.model_copy(update={"assumptions": [note], "notes": [n for n in found.notes if "latency" not in n.lower()]})
    return await _keep(session, caller, model, found, "fleet", "", body.fw_ver, {}, body.note)


async def _current(session: WriteSession, model: str, driver: str, fw_ver: str) -> Performance:
    """What a fit must beat: the version of the same driver and firmware, or the one of the model."""
    row = await repository.in_force(session, model, driver, fw_ver) or await repository.in_force(session, model, "", "")
    return shown.profile_in_force(model, row).performance


async def _keep(
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
    return shown.version(row)


async def promote(session: WriteSession, caller: Caller, model: str, number: int, reason: str) -> Profile:
    """Put a version in force; the one before is retired and can be brought back."""
    service.of_catalogue(model)
    await repository.lock(session, model)
    row = await service.version_row(session, model, number)
    if row.state == "refused":
        raise NotPromotable(f"Version {number} was refused: {' '.join(shown.summary(row).reasons)}")
    if row.state == "active":
        raise NotPromotable(f"Version {number} is in force already.")
    try:
        shown.profile_in_force(model, row)
    except ValueError as problem:
        raise NotPromotable(f"No wall of masks follows from version {number}: {problem}") from None
    present = await repository.in_force(session, model, row.driver, row.fw_ver)
    await _switch(session, present, row)
    row.promoted_by, row.promoted_at = caller.actor, clock.now()
    await session.flush()
    audit.record(
        session, caller.actor, "profile.promote", model, address=caller.address, version=number,
        before=present.number if present is not None else 0, reason=reason,
    )  # fmt: skip
    return await service.get_profile(session, model)


async def roll_back(session: WriteSession, caller: Caller, model: str, driver: str, fw_ver: str, reason: str) -> Profile:
    """Bring back what was in force before; without one before, the catalogue's own profile."""
    service.of_catalogue(model)
    await repository.lock(session, model)
    present = await repository.in_force(session, model, driver, fw_ver)
    if present is None:
        raise NothingToRollBack
    before = await repository.before(session, present)
    await _switch(session, present, before)
    audit.record(
        session, caller.actor, "profile.rollback", model, address=caller.address, version=before.number if before is not None else 0,
        before=present.number, reason=reason,
    )  # fmt: skip
    return await service.get_profile(session, model)


async def _switch(session: WriteSession, present: ProfileVersionRow | None, to: ProfileVersionRow | None) -> None:
    if present is not None:
        present.state, present.retired_at = "retired", clock.now()
        await session.flush()  # two versions are never in force at once, not even inside the transaction
    if to is not None:
        to.state, to.retired_at = "active", None
        await session.flush()
