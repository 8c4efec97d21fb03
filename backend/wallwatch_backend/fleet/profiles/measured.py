"""Versions that change limits only: walls that were measured one by one, with the parameters of performance that are in force."""

from collections.abc import Mapping

from wallwatch.domain.calibration.result import Calibration
from wallwatch_backend.fleet.profiles import present, repository, service
from wallwatch_backend.fleet.profiles.models import ProfileVersionRow
from wallwatch_backend.fleet.profiles.schemas import ProfileVersion
from wallwatch_backend.kit.access import Caller
from wallwatch_backend.kit.database import WriteSession


async def add_limits(
    session: WriteSession, caller: Caller, model: str, limits: Mapping[str, float], calibration: Calibration, note: str
) -> ProfileVersion:
    """Store a candidate of a model's profile: the version in force with these limits in place of its own.

    Raises
    ------
    NotFound
        When the catalogue has no such model.
    """
    service.of_catalogue(model)
    await repository.lock(session, model)
    current = await repository.in_force(session, model, "", "")
    performance = present.profile_in_force(model, current).performance
    row = ProfileVersionRow(
        model=model,
        number=await repository.next_number(session, model),
        driver="",
        fw_ver="",
        state="candidate",
        source="lab",
        performance=performance.model_dump(exclude_none=True),
        limits={**(current.limits if current is not None else {}), **limits},
        calibration=calibration.model_dump(mode="json"),
        note=note,
        created_by=caller.actor,
    )
    await repository.add(session, row)
    return present.version(row)
