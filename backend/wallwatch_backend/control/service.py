"""May a remedy be applied now? Emergency stop, circuit breakers, and how many hosts at once."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from wallwatch.domain.catalogue import load
from wallwatch_backend.audit import service as audit
from wallwatch_backend.control import repository
from wallwatch_backend.control.errors import AlreadyStopped, BreakerOpen, NotStopped, Stopped, TooManyAtOnce
from wallwatch_backend.control.models import BreakerResetRow, StopRow
from wallwatch_backend.control.schemas import Breaker, Busy, Control, Stop
from wallwatch_backend.kit import changes, clock
from wallwatch_backend.kit.access import Caller
from wallwatch_backend.kit.database import ReadSession, WriteSession
from wallwatch_backend.kit.problems import NotFound
from wallwatch_backend.remedies import repository as remedies
from wallwatch_backend.remedies import telling
from wallwatch_backend.settings import Settings


def most_hosts(settings: Settings, fleet: int) -> int:
    """On how many hosts of a fleet remedies may be under way at once: a share of it, at most so many, and never less than a few.

    >>> s = Settings(remedy_max_fleet_percent=10, remedy_max_hosts=50, remedy_always_hosts=3)
    >>> most_hosts(s, 4), most_hosts(s, 200), most_hosts(s, 8000)
    (3, 20, 50)
    """
    share = int(fleet * settings.remedy_max_fleet_percent / 100)
    return max(settings.remedy_always_hosts, min(share, settings.remedy_max_hosts))


@dataclass
class _Known:
    """What stays true until a transaction ends that has the lock: its own orders are added as they are admitted."""

    stop: StopRow | None
    hosts: set[str]
    racks: set[str]
    limit: int
    breakers: dict[str, Breaker]


_KNOWN = "control.known"


async def _known(session: WriteSession, settings: Settings, action: str) -> _Known:
    """Read it once in a transaction, however many orders it admits."""
    known: _Known | None = session.info.get(_KNOWN)
    if known is None:
        await repository.lock(session)
        hosts = await repository.busy_hosts(session)
        known = session.info[_KNOWN] = _Known(
            stop=await repository.stop_in_force(session),
            hosts=hosts,
            racks=await repository.racks_of(session, hosts),
            limit=most_hosts(settings, await repository.fleet_size(session)),
            breakers={},
        )
    if action not in known.breakers:
        known.breakers[action] = await _breaker(session, settings, action, (await repository.resets(session)).get(action), clock.now())
    return known


async def admit(session: WriteSession, settings: Settings, action: str, host: str) -> None:
    """Raise why a remedy may not be applied on a host now; else count the host as one where a remedy is under way.

    The answer holds until the transaction ends.
    """
    known = await _known(session, settings, action)
    if (stop := known.stop) is not None:
        raise Stopped(f"{stop.by} stopped all remedies at {stop.at:%Y-%m-%d %H:%M:%S} UTC: {stop.reason}")
    breaker = known.breakers[action]
    if breaker.open:
        raise BreakerOpen(
            f"{breaker.failed} of the {breaker.finished} times that {action} was applied in the last {breaker.window_s} s it did not work. "
            "Look at why, then reset the breaker."
        )
    if host in known.hosts:
        return
    if len(known.hosts) >= known.limit:
        raise TooManyAtOnce(f"Remedies are under way on {len(known.hosts)} hosts, {known.limit} is the most; wait until some are verified.")
    racks = await repository.racks_of(session, {host})
    if len(known.racks) >= settings.remedy_max_racks and not racks <= known.racks:
        raise TooManyAtOnce(f"Remedies are under way in {len(known.racks)} racks, {settings.remedy_max_racks} is the most.")
    known.hosts.add(host)
    known.racks |= racks


async def _breaker(session: ReadSession, settings: Settings, action: str, reset: BreakerResetRow | None, at: datetime) -> Breaker:
    since = at - timedelta(seconds=settings.remedy_breaker_window_s)
    if reset is not None:
        since = max(since, reset.at)
    counts = await repository.judged_since(session, action, since)
    failed, finished = sum(counts.get(state, 0) for state in repository.FAILED), sum(counts.values())
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


async def stop_all(session: WriteSession, caller: Caller, reason: str) -> None:
    """Apply nothing any more, and take back what has not left yet. What a host has begun goes on; undo and dry runs stay possible."""
    await repository.lock(session)
    if await repository.stop_in_force(session) is not None:
        raise AlreadyStopped
    at = clock.now()
    repository.add(session, StopRow(at=at, by=caller.actor, reason=reason))
    waiting = await repository.waiting_applies(session)
    for row in waiting:
        row.state, row.message, row.updated_at = "expired", f"{caller.actor} stopped all remedies: {reason}", at
        for command in await remedies.commands(session, [row.id]):
            if command.state == "pending":
                command.state, command.message, command.finished_at = "expired", "Stopped before it was sent.", at
        await telling.tell(session, row)
        await changes.announce(session, "remedy", row.id, row.state)
    audit.record(
        session, caller.actor, "remedy_control.stop", "all remedies", address=caller.address, reason=reason, taken_back=len(waiting)
    )


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
