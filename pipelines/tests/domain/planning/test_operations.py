"""A plan as the agent gets it, and the flows afterwards."""

from uuid import UUID, uuid5

import pytest

from wallwatch.domain.catalogue.load import profiles
from wallwatch.domain.masks.dump import Dump, read_dump
from wallwatch.domain.masks.space import HeaderSpace
from wallwatch.domain.planning.aftermath import aftermath
from wallwatch.domain.planning.compare import NotComparable
from wallwatch.domain.planning.operations import commands, digest, operations, packed
from wallwatch.domain.planning.plan import Plan, make_plan

PLAN = UUID("6f3c2c8e-1111-4222-8333-9d1d0a2b7c11")


def ufid(number: int) -> str:
    return f"00000000-0000-4000-8000-{number:012d}"


def flow(number: int, destination: str, packets: int, actions: str = "5", used: str = "0.5s", ethernet: str = "") -> str:
    match = f"recirc_id(0),in_port(3),{ethernet}eth_type(0x0800),ipv4(dst={destination},frag=no)"
    return f"ufid:{ufid(number)}, {match}, packets:{packets}, bytes:60, used:{used}, offloaded:yes, dp:tc, actions:{actions}"


COLD = [flow(1, "10.1.0.0/255.255.0.0", 1), flow(2, "10.2.0.0/255.255.0.0", 1)]
HOT = [flow(3, "10.3.3.3", 9000), flow(4, "10.3.3.4", 9000)]


def dump(lines: list[str], space: HeaderSpace | None = None) -> Dump:
    return read_dump("\n".join(lines), space or HeaderSpace())


def planned(lines: list[str], **options: int) -> Plan:
    made = make_plan(dump(lines), profiles()["CX-6"], **options)
    assert made.proven
    return made


def test_a_moved_flow_is_deleted_by_its_identity_and_added_with_the_words_of_the_dump() -> None:
    content = operations(planned(COLD + HOT, hyper_capacity=0), PLAN, "host01", "0000:3b:00.0")
    match = "recirc_id(0),in_port(3),eth_type(0x0800),ipv4(dst=10.1.0.0/255.255.0.0,frag=no)"
    assert content["steps"][0] == ["move", "del", f"ufid:{ufid(1)}", ""]
    assert ["move", "add", f"ufid:{ufid(1)},{match}", "5"] in content["steps"]
    assert (content["contested"], content["pace_per_s"]) == (False, 500.0)
    assert set(content["flows"]) == {ufid(number) for number in (1, 2, 3, 4)}
    assert commands(content).splitlines()[0] == f"dpctl/del-flow 'ufid:{ufid(1)}'"


def test_an_entry_has_an_identity_that_only_its_plan_makes() -> None:
    exact = [flow(5, "10.4.4.4", 9000), flow(6, "10.4.4.0/255.255.255.0", 9000)]
    made = planned(COLD + exact)
    entries = [step for step in operations(made, PLAN, "h", "p")["steps"] if step[0] == "activate"]
    added = [step for step in made.steps if step.phase == "activate"]
    assert len(entries) == len(added)
    assert [step[2].split(",")[0] for step in entries] == [f"ufid:{uuid5(PLAN, str(step.flow.line))}" for step in added]


def test_the_hash_is_that_of_what_is_sent_and_the_same_each_time() -> None:
    content = operations(planned(COLD + HOT), PLAN, "h", "p")
    assert packed(content) == packed(content)


@pytest.mark.parametrize("changed", [flow(1, "10.1.0.0/255.255.0.0", 1, actions="6"), flow(1, "10.0.0.0/255.254.0.0", 1)])
def test_a_digest_changes_with_the_match_and_with_the_actions(changed: str) -> None:
    assert digest(dump([changed]).flows[0]) != digest(dump(COLD).flows[0])


def test_counters_are_not_in_the_digest() -> None:
    assert digest(dump([flow(1, "10.1.0.0/255.255.0.0", 777, used="9s")]).flows[0]) == digest(dump(COLD).flows[0])


def test_planning_again_after_a_few_flows_have_changed_moves_few_rules() -> None:
    masks = [
        flow(100 * bits + n, f"10.{bits}.{n}.0/255.255.255.0" if bits % 2 else f"10.{bits}.{n}.7", n + 1)
        for bits in range(2)
        for n in range(40)
    ]
    first = planned(COLD + masks, hyper_capacity=0)
    order = {one.ufid: at for at, one in enumerate(first.after)}
    now = sorted(COLD + masks, key=lambda line: order[line[5:41]])
    assert planned(now, hyper_capacity=0).steps == ()
    changed = [*now[:-2], flow(901, "10.9.9.0/255.255.255.0", 3), flow(902, "10.9.9.9", 5)]
    assert len(planned(changed, hyper_capacity=0).steps) <= len(first.steps) / 4


class TestTheFlowsAfterwards:
    def check(self, lines: list[str], entries: frozenset[str] = frozenset()) -> tuple[str, int, int, int]:
        space = HeaderSpace()
        found = aftermath(dump(COLD + HOT, space), dump(lines, space), entries)
        return found.proof.proof.verdict, found.missing, found.fresh, found.entries

    def test_agree_in_another_order_and_when_some_have_gone_and_others_have_come(self) -> None:
        assert self.check(HOT + COLD) == ("equivalent", 0, 0, 0)
        assert self.check([*HOT, flow(7, "10.7.0.0/255.255.0.0", 0)]) == ("equivalent", 2, 1, 0)

    def test_differ_when_a_flow_does_something_else(self) -> None:
        assert self.check([flow(1, "10.1.0.0/255.255.0.0", 1, actions="6"), *HOT])[0] == "different"

    def test_differ_when_an_entry_does_not_do_what_the_rule_around_it_does(self) -> None:
        entry = frozenset({ufid(8)})
        assert self.check([*COLD, flow(8, "10.1.0.7", 0)], entry) == ("equivalent", 2, 0, 1)
        assert self.check([*COLD, flow(8, "10.1.0.7", 0, actions="6")], entry)[0] == "different"

    def test_that_cannot_be_read_prove_nothing(self) -> None:
        with pytest.raises(NotComparable, match="line 1 of the flows afterwards"):
            self.check(["ufid:broken, packets:1"])
