"""Policies made of causes that the lab found: they compile, and catch on events what the cause is about."""

import pytest

from wallwatch.domain.catalogue import lab
from wallwatch.domain.policies.models import Policy
from wallwatch.domain.policies.of_cause import Condition, NoPolicy, policy_of
from wallwatch.domain.policies.vocabulary import event_kinds, misfits
from wallwatch.domain.policies.watch import Event, Watch

ORDER = Condition("teardown", "before", ["release_vfs", "stop_traffic"])
CLOSE = Condition("release_interval_ms", "<=", 120, 121)
VF = {"device": "0000:3b:00.2", "result": "ok"}


def made(*conditions: Condition) -> Policy:
    policy = Policy.model_validate({**policy_of(conditions), "id": "from-the-lab", "severity": "warning", "source": "a test"})
    assert list(misfits(policy)) == []
    return policy


def violations(policy: Policy, *events: tuple[str, int]) -> int:
    watch = Watch([policy])
    found = sum(len(watch.take(Event(kind, at_ms * 1000, "host01", "0000:3b:00.0", VF))) for kind, at_ms in events)
    return found + len(watch.tick(10**12))


def test_a_wrong_order_is_a_violation_and_the_right_one_is_none() -> None:
    policy = made(ORDER)
    assert violations(policy, ("cni_add", 0), ("vf_unbound", 10), ("cni_del", 20)) == 1
    assert violations(policy, ("cni_add", 0), ("cni_del", 10), ("vf_unbound", 20)) == 0
    assert violations(policy, ("vf_unbound", 20)) == 0, "nobody used the virtual function"


def test_two_releases_are_a_violation_only_closer_than_the_last_good_interval() -> None:
    policy = made(CLOSE)
    assert violations(policy, ("vf_unbound", 0), ("vf_unbound", 100)) == 1
    assert violations(policy, ("vf_unbound", 0), ("vf_unbound", 130)) == 0
    assert violations(policy, ("vf_unbound", 0), ("vf_unbound", 130), ("vf_unbound", 140)) == 1


def test_conditions_that_no_event_shows_make_the_policy_stricter_and_it_says_so() -> None:
    policy = made(Condition("vfs", ">=", 8), CLOSE)
    assert policy.timer is not None
    assert policy.note == "Stricter than the cause, which also needs conditions that no event shows: vfs."


@pytest.mark.parametrize(
    ("condition", "reason"),
    [
        (Condition("masks_egress", ">=", 24), "limit of the profile (Egress masks)"),
        (Condition("encapsulation_contexts", ">=", 10_000), "limit of the profile (Encapsulation contexts)"),
        (Condition("path_mtu", "==", "1024"), "No event on a host shows path_mtu"),
        (Condition("teardown", "before", ["delete_rules", "stop_traffic"]), "No event on a host shows teardown"),
        (Condition("release_interval_ms", ">=", 500), "No event on a host shows release_interval_ms"),
        (Condition(None, ">=", 4096), "boundary over several parameters"),
    ],
)
def test_a_cause_without_an_event_says_why_it_is_no_policy(condition: Condition, reason: str) -> None:
    with pytest.raises(NoPolicy) as refused:
        policy_of([condition])
    assert reason in str(refused.value)


def test_the_catalogue_of_the_lab_names_kinds_of_events_that_exist() -> None:
    named = {kind for each in lab.dimensions().values() for kind in (*each.events.values(), *filter(None, [each.between]))}
    assert named
    assert named <= set(event_kinds())
