"""May a remedy be applied now? Emergency stop, circuit breakers, and how many hosts at once."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from wallwatch.domain.catalogue import load
from wallwatch_backend.accounts.audit import service as audit
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.access import Caller
from wallwatch_backend.kit.database import ReadSession, WriteSession
from wallwatch_backend.kit.problems import NotFound
from wallwatch_backend.remedies.control import repository
from wallwatch_backend.remedies.control.errors import AlreadyStopped, BreakerOpen, NotStopped, Stopped, TooManyAtOnce
from wallwatch_backend.remedies.control.models import BreakerResetRow, StopRow
from wallwatch_backend.remedies.control.schemas import Breaker, Busy, Control, Stop
from wallwatch_backend.remedies.states import REMEDY
from wallwatch_backend.settings import Settings


def most_hosts(settings: Settings, fleet: int) -> int:
    """How many hosts of a fleet may have remedies under way at once: a share of it, capped, and never less than a few.

    >>> s = Settings(remedy_max_fleet_percent=10, remedy_max_hosts=50, remedy_always_hosts=3)
    >>> most_hosts(s, 4), most_hosts(s, 200), most_hosts(s, 8000)
    (3, 20, 50)
    """
    share = int(fleet * settings.remedy_max_fleet_percent / 100)
    return max(settings.remedy_always_hosts, min(share, settings.remedy_max_hosts))


@dataclass
class _Admission:
    """What stays true until the transaction that has the lock ends; the remedies that it admits are added."""

    stop: StopRow | None
    hosts: set[str]
    racks: set[str]
    limit: int
    breakers: dict[str, Breaker]


_ADMISSION = "control.admission"


async def _admission(session: WriteSession, settings: Settings, action: str) -> _Admission:
    """Read it once per transaction, however many remedies it admits."""
    admission: _Admission | None = session.info.get(_ADMISSION)
    if admission is None:
        await repository.lock(session)
        hosts = await repository.busy_hosts(session)
        admission = session.info[_ADMISSION] = _Admission(
            stop=await repository.stop_in_force(session),
            hosts=hosts,
            racks=await repository.racks_of(session, hosts),
            limit=most_hosts(settings, await repository.fleet_size(session)),
            breakers={},
        )
    if action not in admission.breakers:
        admission.breakers[action] = await _breaker(session, settings, action, (await repository.resets(session)).get(action), clock.now())
    return admission


async def admit(session: WriteSession, settings: Settings, action: str, host: str) -> None:
    """Raise when a remedy may not be applied on a host now; else count the host as one with a remedy under way.

    The answer holds until the transaction ends.
    """
    admission = await _admission(session, settings, action)
    if (stop := admission.stop) is not None:
        raise Stopped(f"{stop.by} stopped all remedies at {stop.at:%Y-%m-%d %H:%M:%S} UTC: {stop.reason}")
    breaker = admission.breakers[action]
    if breaker.open:
        failed = f"{action} failed {breaker.failed} of {breaker.finished} times in the last {breaker.window_s} s"
        raise BreakerOpen(f"{failed}. Find out why, then reset the breaker.")
    if host in admission.hosts:
        return
    if (count := len(admission.hosts)) >= admission.limit:
        raise TooManyAtOnce(f"Remedies are under way on {count} hosts, the limit is {admission.limit}; wait until some have finished.")
    racks = await repository.racks_of(session, {host})
    if len(admission.racks) >= settings.remedy_max_racks and not racks <= admission.racks:
        raise TooManyAtOnce(f"Remedies are under way in {len(admission.racks)} racks, the limit is {settings.remedy_max_racks}.")
    admission.hosts.add(host)
    admission.racks |= racks


async def _breaker(session: ReadSession, settings: Settings, action: str, reset: BreakerResetRow | None, at: datetime) -> Breaker:
    since = at - timedelta(seconds=settings.remedy_breaker_window_s)
    if reset is not None:
        since = max(since, reset.at)
    counts = await repository.judged_since(session, action, since)
    failed = sum(count for state, count in counts.items() if REMEDY[state].outcome == "bad")
    finished = sum(counts.values())
    return Breaker(
        action=action,
        open=failed >= settings.remedy_breaker_failures and 2 * failed >= finished,
        failed=failed,
        finished=finished,
        window_s=settings.remedy_breaker_window_s,
        failures_that_open=settings.remedy_breaker_failures,
        reset_at=reset.at if reset is not None else None,
        reset_by=reset.by if reset is not None else None,
    )


async def state(session: ReadSession, settings: Settings) -> Control:
    stop = await repository.stop_in_force(session)
    hosts, fleet, resets, at = (
        await repository.busy_hosts(session),
        await repository.fleet_size(session),
        await repository.resets(session),
        clock.now(),
    )
    return Control(
        stop=Stop(at=stop.at, by=stop.by, reason=stop.reason) if stop is not None else None,
        busy=Busy(
            hosts=len(hosts),
            racks=len(await repository.racks_of(session, hosts)),
            fleet=fleet,
            most_hosts=most_hosts(settings, fleet),
            most_racks=settings.remedy_max_racks,
        ),
        breakers=[await _breaker(session, settings, action, resets.get(action), at) for action in load.remedies()],
        approval_above_hosts=settings.remedy_always_hosts if settings.remedy_approval_risk != "never" else None,
        awaiting_approval=await repository.awaiting_approval(session),
    )


async def begin_stop(session: WriteSession, caller: Caller, reason: str, at: datetime) -> None:
    """Admit nothing from now on, until `resume`."""
    await repository.lock(session)
    if await repository.stop_in_force(session) is not None:
        raise AlreadyStopped
    repository.add(session, StopRow(at=at, by=caller.actor, reason=reason))


async def resume(session: WriteSession, caller: Caller) -> None:
    await repository.lock(session)
    stop = await repository.stop_in_force(session)
    if stop is None:
        raise NotStopped
    stop.ended_at, stop.ended_by = clock.now(), caller.actor
    audit.record(session, caller.actor, "remedy_control.resume", "all remedies", address=caller.address, stopped_by=stop.by)


async def reset_breaker(session: WriteSession, caller: Caller, action: str) -> None:
    if action not in load.remedies():
        raise NotFound(f"There is no remedy {action!r}.")
    await repository.reset(session, action, clock.now(), caller.actor)
    audit.record(session, caller.actor, "remedy_control.reset_breaker", action, address=caller.address)
