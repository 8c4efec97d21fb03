"""The fleet in Prometheus's text format, piece by piece."""

from collections.abc import AsyncIterator
from typing import get_args

from prometheus_client import CollectorRegistry, Gauge, generate_latest

from wallwatch.domain.catalogue import load
from wallwatch_backend.fleet.exposition import agents_repository, families, repository, tenant_repository, text
from wallwatch_backend.hosts.enrolment.repository import LATE_AFTER
from wallwatch_backend.incidents.schemas import Severity
from wallwatch_backend.incidents.states import IncidentState
from wallwatch_backend.kit.database import Database, ReadSession

OTHER_CONDITIONS = (*load.other_conditions(), *(b.id for b in load.behaviours().values() if b.definition is not None))


async def _counts(session: ReadSession, rack: str | None) -> bytes:
    """The small families. Each combination is present from the start, so that rates and alerts begin at zero."""
    registry = CollectorRegistry()
    if rack is None:
        by_state = await repository.incident_counts(session)
        incidents = Gauge(families.INCIDENTS.name, families.INCIDENTS.help, families.INCIDENTS.labels, registry=registry)
        for state in map(str, IncidentState):
            for severity in get_args(Severity):
                incidents.labels(state, severity).set(by_state.get((state, severity), 0))
        refused = Gauge(families.REFUSED.name, families.REFUSED.help, families.REFUSED.labels, registry=registry)
        last = Gauge(families.REFUSED_LAST.name, families.REFUSED_LAST.help, families.REFUSED_LAST.labels, registry=registry)
        for reason, (count, at_s) in ({"wrong_principal": (0, 0.0)} | await repository.refused_counts(session)).items():
            refused.labels(reason).set(count)
            last.labels(reason).set(at_s)
        for family, values in await _of_hosts_and_policies(session):
            gauge = Gauge(family.name, family.help, family.labels, registry=registry)
            for label, value in values.items():
                gauge.labels(label).set(value)
    counts = await repository.symptom_counts(session, rack)
    symptoms = Gauge(families.SYMPTOM_RNICS.name, families.SYMPTOM_RNICS.help, families.SYMPTOM_RNICS.labels, registry=registry)
    for symptom in dict.fromkeys((*load.symptoms(), *OTHER_CONDITIONS, *counts)):
        symptoms.labels(symptom).set(counts.get(symptom, 0))
    for family, seconds in (
        (families.TENANT_BROKEN, await tenant_repository.broken_seconds(session, rack)),
        (families.TENANT_AGGRESSOR, await tenant_repository.aggressor_seconds(session, rack)),
    ):
        gauge = Gauge(family.name, family.help, family.labels, registry=registry)
        for tenant, value in seconds.items():
            gauge.labels(tenant).set(value)
    return generate_latest(registry)


async def _of_hosts_and_policies(session: ReadSession) -> list[tuple[families.Family, dict[str, float]]]:
    """Families with one label."""
    certificates = await agents_repository.certificates(session)
    return [
        (families.POLICY_VIOLATIONS, await agents_repository.violations(session)),
        (families.AGENT_SEEN, await agents_repository.last_seen(session)),
        (families.CERTIFICATE_EXPIRY, {host: end for host, (_, end) in certificates.items()}),
        (families.CERTIFICATE_LATE, {host: begin + (end - begin) * LATE_AFTER for host, (begin, end) in certificates.items()}),
    ]


async def exposition(database: Database, rack: str | None, openmetrics: bool) -> AsyncIterator[bytes]:
    """Yield the text. The format wants the samples of a family together, so the fleet is read once per family."""
    async with database.read() as session:
        await repository.one_snapshot(session)
        yield await _counts(session, rack)
        yield text.heading(families.INFO).encode()
        async for batch in repository.identities(session, rack):
            yield text.lines(families.INFO, ((row, 1.0) for row in batch)).encode()
        yield text.heading(families.SYMPTOM_ACTIVE).encode()
        async for batch in repository.active_symptoms(session, rack):
            yield text.lines(families.SYMPTOM_ACTIVE, ((row, 1.0) for row in batch)).encode()
        for family, batches in (
            (families.HEADROOM, repository.headrooms(session, rack)),
            (families.WALL_CHANCE, repository.wall_chances(session, rack)),
            (families.WALL_IN, repository.wall_times(session, rack)),
            (families.DECLINE, repository.declines(session, rack)),
            (families.LAST_SAMPLE, repository.last_samples(session, rack)),
        ):
            yield text.heading(family).encode()
            async for batch in batches:
                yield text.lines(family, ((row[:-1], row[-1]) for row in batch)).encode()
    if openmetrics:
        yield b"# EOF\n"
