"""Policies that were violated within the last hour."""

from datetime import datetime, timedelta

from wallwatch_backend.conditions.kinds import Condition
from wallwatch_backend.conditions.schemas import PolicyData
from wallwatch_backend.kit.database import ReadSession
from wallwatch_backend.kit.matchers import labels_of
from wallwatch_backend.policies.registry import service
from wallwatch_backend.policies.registry.schemas import PolicyState, PolicySummary
from wallwatch_backend.policies.reports import repository
from wallwatch_backend.policies.reports.standing import Standing

VIOLATED_FOR = timedelta(hours=1)
"""As long as a policy has the state `violated` after a violation: what happens again and again is one condition."""
_MOST_HOSTS = 100
_MOST_VIOLATIONS = 1_000


async def read(session: ReadSession, at: datetime, standing: Standing) -> list[Condition]:
    """Return the violated policies with the hosts of their newest violations."""
    policies = await service.list_policies(session, standing)
    return [await _condition(session, policy, at) for policy in policies if policy.state is PolicyState.violated]


async def _condition(session: ReadSession, policy: PolicySummary, at: datetime) -> Condition:
    rows = await repository.violations(session, policy.id, since=at - VIOLATED_FOR, limit=_MOST_VIOLATIONS)
    hosts = list(dict.fromkeys(row.host for row in rows))
    times = "once" if policy.violations_1h == 1 else f"{policy.violations_1h} times"
    data = PolicyData(
        policy=policy.id,
        title=policy.title,
        severity=policy.severity,
        violations_1h=policy.violations_1h,
        violations_24h=policy.violations_24h,
        last_violation_at=policy.last_violation_at,
        hosts=hosts[:_MOST_HOSTS],
    )
    return Condition(
        subject=policy.id,
        standing="begins",
        since=policy.last_violation_at or at,
        text=f"{policy.title}: violated {times} in the last hour, on {_places(hosts)}.",
        data=data.model_dump(mode="json"),
        labels=labels_of({"hosts": hosts, "severity": policy.severity, "symptoms": policy.symptoms}),
        path=f"/policies/{policy.id}",
    )


def _places(hosts: list[str]) -> str:
    """Hosts in a few words.

    >>> _places(["a"]), _places(["a", "b", "c", "d"]), _places([])
    ('a', 'a, b and 2 other hosts', 'an unknown host')
    """
    if not hosts:
        return "an unknown host"
    others = len(hosts) - 2
    return ", ".join(hosts) if others <= 0 else f"{hosts[0]}, {hosts[1]} and {others} other host{'s' if others > 1 else ''}"
