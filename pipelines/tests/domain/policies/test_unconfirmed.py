"""Violations that wait for another host: what is remembered of them ends with them."""

from wallwatch.domain.policies.step import Step, Violation
from wallwatch.domain.policies.unconfirmed import WITHIN_US, Unconfirmed

S = 1_000_000


def violation(number: int) -> Violation:
    steps = tuple(Step(number * S, (), ("cni_add",), host) for host in ("a", "b"))
    return Violation("address-one-container", (str(number),), number * S, steps, "b", "0000:17:00.0", False)


def test_what_was_sent_or_given_up_is_not_remembered() -> None:
    unconfirmed = Unconfirmed(0)
    for number in range(1, 5):
        assert unconfirmed.hold(violation(number))
    unconfirmed.advance("a", 2 * S)
    assert [one.at_us for one in unconfirmed.confirmed()] == [1 * S, 2 * S]
    assert unconfirmed._subjects == {("address-one-container", ("3",)), ("address-one-container", ("4",))}
    assert [one.at_us for one in unconfirmed.given_up(WITHIN_US + 4 * S)] == [3 * S]
    assert unconfirmed._subjects == {("address-one-container", ("4",))}
    unconfirmed.refute("address-one-container", ("4",), 1)
    assert not unconfirmed.any
    assert not unconfirmed._subjects


def test_a_late_event_refutes_what_was_restored() -> None:
    before, after = Unconfirmed(0), Unconfirmed(0)
    before.hold(violation(1))
    after.load(before.dump())
    after.refute("address-one-container", ("1",), 1)
    assert not after.any
