"""Which incident a finding belongs to, by tables: the decision alone, without a database."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from wallwatch.domain.catalogue.grouping import grouping
from wallwatch_backend.incidents.grouping.rules import Candidate, Decision, Member, decide

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
REOPEN = timedelta(minutes=10)
A, B, C = UUID(int=1), UUID(int=2), UUID(int=3)


def member(symptom: str = "S1", *, host: str = "h1", pci: str = "a", cause: str | None = "C5", at: float = 0, **more: object) -> Member:
    """A finding that began `at` seconds after noon; by default its rack is that of its host."""
    ended = more.pop("ended", None)
    found = Member(host, pci, f"rack of {host}", symptom, cause, "", NOON + timedelta(seconds=at))
    return replace(found, **more, ended_at=None if ended is None else NOON + timedelta(seconds=float(str(ended))))


def incident(id: UUID, *members: Member, **more: object) -> Candidate:
    return replace(Candidate(id, min(m.started_at for m in members), tuple(members)), **more)


def decided(finding: Member, *candidates: Candidate) -> Decision:
    return decide(finding, candidates, grouping(), REOPEN)


@pytest.mark.parametrize(
    ("what", "finding", "candidate"),
    [
        ("the same symptom again while it lasts", member(at=60), member()),
        ("the same symptom in the hold time", member(at=600), member(ended=60)),
        ("another symptom of the same cause on the same RNIC, however long it has lasted", member("S5", at=86400), member()),
        ("late counters of an RNIC whose re-offloading is ranked differently", member("S5", at=30), member(cause="C1")),
        ("commands that time out where the encapsulation buffer is full", member("S2", cause="C2"), member("S8", cause="C8")),
        ("time-outs of a host that name no RNIC", member("S2", pci="", cause="C8"), member("S8", cause="C8")),
        ("a crash after a stagnation", member("S3", pci="", cause="C3", at=100), member("S2", pci="b", cause="C2")),
        ("slow deletions where live flows are deleted again and again", member("S4", cause="C4", at=40), member("S1", cause="C1")),
        ("port counters behind a lost link", member("S8", cause="C8", at=5), member("S7", cause="C7")),
        ("the same cause on another RNIC of the host within the window", member(pci="b", at=200), member()),
        ("a symptom where performance had fallen without one", member("S6", cause="C6", at=60), member("unexplained", cause=None)),
        ("a fall of performance where there is a symptom", member("unexplained", cause=None, at=60), member("S6", cause="C6")),
        ("another symptom soon after the first has ended", member("S5", at=200), member(ended=60)),
    ],
)
def test_a_finding_joins(what: str, finding: Member, candidate: Member) -> None:
    assert decided(finding, incident(A, candidate)).join == A, what


@pytest.mark.parametrize(
    ("what", "finding", "candidate"),
    [
        ("another cause on the same RNIC", member("S6", cause="C6"), member()),
        ("the same on another host", member(host="h2"), member()),
        ("the same cause on another RNIC of the host, days later", member(pci="b", at=86400), member()),
        ("another symptom long after the first has ended", member("S5", at=600), member(ended=60)),
        (
            "slow deletions on another RNIC than the one that deletes live flows",
            member("S4", pci="b", cause="C4"),
            member("S1", cause="C1"),
        ),
        ("a related symptom of another RNIC", member("S8", pci="b", cause="C8"), member("S7", cause="C7")),
        ("a cause that is not likely enough on either", member("S4", cause=None), member("S6", cause=None)),
        ("a fall of performance on another RNIC", member("unexplained", pci="b", cause=None), member("S6", cause="C6")),
    ],
)
def test_a_finding_opens_its_own_incident(what: str, finding: Member, candidate: Member) -> None:
    assert decided(finding, incident(A, candidate)) == Decision(), what


def test_a_symptom_that_returns_lately_reopens_and_later_does_not() -> None:
    resolved = incident(A, member(ended=60), resolved_at=NOON + timedelta(seconds=960))
    assert decided(member(at=1500), resolved) == Decision(join=A, reopen=True, why="the symptom recurred")
    assert decided(member(at=1561), resolved) == Decision()
    assert decided(member("S6", cause="C6", at=1000), resolved) == Decision(), "another symptom reopens nothing"


def test_an_unresolved_relative_comes_before_reopening() -> None:
    resolved = incident(A, member(ended=60), resolved_at=NOON + timedelta(seconds=100))
    assert decided(member(at=300), resolved, incident(B, member("S5", at=200))).join == B


@pytest.mark.parametrize("inhibitor", ["S3", "silent"])
def test_what_the_rnics_of_a_crashed_or_silent_host_show_belongs_to_the_host(inhibitor: str) -> None:
    host = incident(A, member(inhibitor, pci="", cause=None))
    for finding in (member("S6", pci="b", cause="C6", at=90), member("S7", cause="C7", at=-100), member("S1", at=3000)):
        decision = decided(finding, host)
        assert (decision.join, decision.inhibited) == (A, True)
    assert not decided(member("S6", cause="C6", at=-121), host).inhibited, "it was there before"
    assert not decided(member("S6", host="h2", cause="C6", at=10), host).inhibited


def test_inhibition_ends_some_time_after_the_host_is_back() -> None:
    back = incident(A, member("silent", pci="", cause=None, ended=300))
    assert decided(member("S6", cause="C6", at=400), back).inhibited
    assert decided(member("S6", cause="C6", at=421), back) == Decision()


def test_a_crash_absorbs_the_incidents_that_it_caused_and_leaves_older_ones() -> None:
    young, old = incident(B, member("S6", cause="C6", at=-100)), incident(C, member("S6", pci="b", cause="C6", at=-500))
    decision = decided(member("S3", pci="", cause="C3"), young, old)
    assert (decision.join, decision.merge) == (B, ())
    assert decided(member("S3", pci="", cause="C3"), old) == Decision()


def test_a_crash_leaves_an_incident_of_the_rack_alone() -> None:
    rack = incident(A, member("S6", cause="C6", at=-50), wide=True)
    assert decided(member("S3", pci="", cause="C3"), rack) == Decision()


def test_a_finding_that_relates_two_incidents_merges_them_into_the_older() -> None:
    re_offloading, masks = incident(A, member("S2", cause="C2", at=-60)), incident(B, member("S8", cause="C8", pci="b"))
    decision = decided(member("S7", pci="b", cause="C7", at=10), re_offloading, masks)
    assert (decision.join, decision.merge) == (A, (B,))


def on_hosts(count: int, **more: object) -> list[Candidate]:
    return [incident(UUID(int=10 + i), member(host=f"g{i}", at=i, **more)) for i in range(count)]


def test_the_third_host_of_a_rack_makes_it_an_incident_of_the_rack() -> None:
    finding = member(host="g9", rack="r1", at=300)
    assert decided(finding, *on_hosts(1, rack="r1")) == Decision()
    decision = decided(finding, *on_hosts(2, rack="r1"))
    assert (decision.join, decision.merge) == (UUID(int=10), (UUID(int=11),))
    assert decided(replace(finding, cause="C1"), *on_hosts(2, rack="r1")) == Decision(), "another cause"
    assert decided(replace(finding, rack="r2"), *on_hosts(2, rack="r1")) == Decision(), "another rack"
    assert decided(member(host="g9", rack="r1", at=700), *on_hosts(2, rack="r1")) == Decision(), "too late"
    assert decided(member(host="g9", rack="", at=1), *on_hosts(2, rack="")) == Decision(), "no rack is not a rack"


def test_further_hosts_join_the_rack_in_time() -> None:
    rack = incident(A, *(m for c in on_hosts(3, rack="r1") for m in c.members), wide=True)
    assert decided(member(host="g9", rack="r1", at=500), rack).join == A


def test_silent_hosts_of_a_rack_are_one_incident_although_they_have_no_cause() -> None:
    silent = [incident(UUID(int=20 + i), member("silent", host=f"g{i}", pci="", cause=None, rack="r1")) for i in range(2)]
    assert decided(member("silent", host="g5", pci="", cause=None, rack="r1", at=20), *silent).merge == (UUID(int=21),)
    unexplained = [incident(UUID(int=20 + i), member("unexplained", host=f"g{i}", cause=None, rack="r1")) for i in range(2)]
    assert decided(member("unexplained", host="g5", cause=None, rack="r1"), *unexplained) == Decision()


def test_the_third_host_with_a_firmware_makes_it_an_incident_of_the_firmware() -> None:
    finding = member(host="g9", fw_ver="20.35", at=3000)
    decision = decided(finding, *on_hosts(2, fw_ver="20.35"))
    assert (decision.join, decision.merge) == (UUID(int=10), (UUID(int=11),))
    assert decided(replace(finding, fw_ver="20.36"), *on_hosts(2, fw_ver="20.35")) == Decision(), "another firmware"
    assert decided(replace(finding, fw_ver=""), *on_hosts(2, fw_ver="")) == Decision(), "an unknown firmware is not a firmware"
    assert decided(replace(finding, cause="C6"), *on_hosts(2, fw_ver="20.35", cause="C6")) == Decision(), "no upgrade settles it"
    assert decided(member(host="g9", fw_ver="20.35", at=3700), *on_hosts(2, fw_ver="20.35")) == Decision(), "too late"


def test_hosts_of_one_rack_with_one_firmware_are_the_racks_incident() -> None:
    decision = decided(member(host="g9", rack="r1", fw_ver="20.35", at=100), *on_hosts(2, rack="r1", fw_ver="20.35"))
    assert "rack r1" in decision.why


def test_what_someone_split_off_is_not_grouped_again_and_keeps_its_own_symptom() -> None:
    apart = incident(A, member(), apart=True)
    assert decided(member(at=60), apart).join == A
    assert decided(member("S5", at=60), apart) == Decision()
    assert decided(member("S3", pci="", cause="C3", at=60), apart) == Decision()
    others = [replace(c, apart=True) for c in on_hosts(2, rack="r1")]
    assert decided(member(host="g9", rack="r1"), *others) == Decision()


def test_of_two_incidents_with_the_same_symptom_the_active_one_is_continued() -> None:
    over, active = incident(A, member(at=100, ended=160)), incident(B, member(at=0), apart=True)
    assert decided(member(at=200), over, active).join == B


def test_the_order_of_candidates_does_not_matter() -> None:
    found = [*on_hosts(3, rack="r1"), incident(A, member("S5", host="g9", at=-5))]
    finding = member(host="g9", rack="r1", at=10)
    one, other = decided(finding, *found), decided(finding, *reversed(found))
    assert (one.join, set(one.merge)) == (other.join, set(other.merge)) == (A, {UUID(int=10), UUID(int=11), UUID(int=12)})
