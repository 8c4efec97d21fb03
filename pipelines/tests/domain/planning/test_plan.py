"""Plans: what they move, what they promise, and that no packet is handled differently on the way."""

import random

import numpy as np
import pytest

from wallwatch.domain.catalogue.load import profiles
from wallwatch.domain.masks.dump import Dump, Flow, read_dump
from wallwatch.domain.masks.space import HeaderSpace
from wallwatch.domain.planning.compare import NotComparable, compare_flows
from wallwatch.domain.planning.plan import Plan, make_plan
from wallwatch.domain.planning.plan_report import after_text
from wallwatch.domain.planning.steps import applied

CX6 = profiles()["CX-6"]


def line(source: str, packets: int, actions: str = "2", used: str = "1.0s", more: str = "") -> str:
    counters = f"packets:{packets}, bytes:{60 * packets}, used:{used}, offloaded:yes, dp:tc"
    return f"recirc_id(0),in_port(1){more},eth_type(0x0800),ipv4(src={source},frag=no), {counters}, actions:{actions}"


def dump_of(*lines: str) -> Dump:
    dump = read_dump("\n".join(lines), HeaderSpace())
    assert not dump.bad
    return dump


def host(number: int) -> str:
    return f",eth(src=02:00:00:00:00:{number:02x},dst=02:00:00:00:01:00)"


def chain(plan: Plan) -> list[str]:
    """The masks afterwards by their prefix lengths, hyper first where there is one."""
    part = plan.directions["egress"]
    lengths = [plan.space.field_of(part.cascading[at].mask, "ipv4.src").bit_count() for at in (*part.order.stay, *part.order.moved)]
    return [f"/{length}" for length in lengths]


def test_cold_masks_are_moved_behind_hot_ones() -> None:
    plan = make_plan(dump_of(line("10.0.0.0/24", 1), line("10.1.0.0/16", 2), line("10.2.2.0/23", 90_000), line("10.3.0.0/17", 500)), CX6)
    assert plan.proven
    assert plan.directions["egress"].chain.queries == pytest.approx(2.0, abs=0.02)
    assert chain(plan)[0] == "/23"
    assert plan.then.q_l == pytest.approx(0.0, abs=0.1)
    assert plan.then.bandwidth_gbps is not None
    assert plan.before.bandwidth_gbps is not None
    assert plan.then.bandwidth_gbps > plan.before.bandwidth_gbps


def test_masks_that_stand_well_are_left_alone() -> None:
    plan = make_plan(dump_of(line("10.2.2.0/23", 90_000), line("10.0.0.0/24", 10), line("10.1.0.0/16", 12)), CX6)
    assert plan.steps == ()
    assert not plan.worthwhile


def test_a_flow_gets_an_exact_entry_where_the_dump_contains_its_addresses() -> None:
    """Two flows look at prefixes only; others contain the whole addresses that go with their Ethernet addresses."""
    known = [line(f"10.0.0.{number}", 10, more=host(number)) for number in (7, 8)]
    elsewhere = (host(7).replace("01:00)", "02:00)"), host(8).replace("01:00)", "02:00)"))
    plan = make_plan(dump_of(line("10.0.0.0/24", 90_000, more=elsewhere[0]), line("10.0.0.0/23", 90_000, more=elsewhere[1]), *known), CX6)
    assert plan.proven
    added = [step.command(plan.space) for step in plan.steps if step.phase == "activate"]
    assert len(added) == 2
    assert "eth(src=02:00:00:00:00:07,dst=02:00:00:00:02:00),eth_type(0x0800),ipv4(src=10.0.0.7,frag=no)" in added[0]
    assert chain(plan)[0] == "/32"
    assert plan.then.q_l == 0.0
    assert plan.cost.flows_in_software == 0  # the entry has its packets while its mask is moved


def test_entries_are_added_right_before_their_mask_is_moved() -> None:
    """Entries that wait behind the mask that has their packets are idle, and Open vSwitch deletes idle flows after ten seconds."""
    known = [line(f"10.0.{number % 4}.{number}", 10, more=host(number)) for number in range(1, 41)]
    other = [host(number).replace("01:00)", "02:00)") for number in range(41)]
    wide = [line(f"10.0.{number % 4}.0/{21 + number % 4}", 5_000, more=other[number]) for number in range(1, 41)]
    plan = make_plan(dump_of(*wide, *known), CX6)
    assert plan.proven
    ends = plan.space.mask_of("eth.src") | plan.space.mask_of("eth.dst")
    mask_of = {step.flow.value & ends: step.flow.mask for step in plan.steps if step.phase == "move"}
    waiting: list[int] = []
    for step in plan.steps:
        if step.phase == "activate":
            waiting.append(mask_of[step.flow.value & ends])
        else:
            assert set(waiting) <= {step.flow.mask}
            waiting = [] if step.add else waiting
    assert {step.phase for step in plan.steps} == {"activate", "move"}


def test_the_hyper_mask_keeps_to_its_capacity_and_the_least_recently_used_are_left_out() -> None:
    lengths = [24, 23]  # two masks, so that exact entries save half a lookup
    flows = [line(f"10.0.0.0/{lengths[number % 2]}", 100, used=f"{number}.0s", more=host(number)) for number in range(1, 9)]
    exact = [line(f"10.0.0.{number}", 0, used="never", more=host(number)).replace(":01:00)", ":03:00)") for number in range(1, 9)]
    plan = make_plan(dump_of(*flows, *exact), CX6, hyper_capacity=11)
    assert plan.proven
    assert plan.hyper_used == 11  # eight are exact as they are
    entries = [step.flow for step in plan.steps if step.phase == "activate"]
    assert sorted(plan.space.field_of(one.value, "ipv4.src") & 0xFF for one in entries) == [1, 2, 3]


def test_of_flows_that_were_used_equally_recently_those_with_fewest_packets_are_left_out() -> None:
    lengths = [24, 23]
    flows = [line(f"10.0.0.0/{lengths[number % 2]}", 100 * number, more=host(number)) for number in range(1, 9)]
    exact = [line(f"10.0.0.{number}", 0, used="never", more=host(number)).replace(":01:00)", ":03:00)") for number in range(1, 9)]
    plan = make_plan(dump_of(*flows, *exact), CX6, hyper_capacity=11)
    entries = [step.flow for step in plan.steps if step.phase == "activate"]
    assert sorted(plan.space.field_of(one.value, "ipv4.src") & 0xFF for one in entries) == [6, 7, 8]


def test_a_mask_that_nothing_used_for_ten_minutes_goes_and_its_packets_are_left_to_software() -> None:
    idle = line("10.1.0.0/16", 5, used="601.0s")
    plan = make_plan(dump_of(line("10.2.2.0/23", 900), idle, line("10.0.0.0/24", 5, used="599.0s")), CX6)
    assert [(step.phase, step.add) for step in plan.steps] == [("remove", False)]
    assert (plan.proven, plan.left_to_software) == (True, 1)


def test_an_idle_rule_that_hides_others_is_not_removed() -> None:
    """Without the idle flow its packets would meet the wider one, whose actions are others."""
    plan = make_plan(dump_of(line("10.1.0.0/16", 5, "drop", used="900.0s"), line("10.0.0.0/8", 900)), CX6)
    assert (plan.proven, plan.left_to_software) == (True, 0)
    assert [flow.actions for flow in plan.after] == ["drop", "2"]


def test_flows_that_overlap_with_other_actions_keep_their_order() -> None:
    plan = make_plan(
        dump_of(line("10.1.0.0/16", 1, "drop"), line("10.9.0.0/24", 3), line("10.0.0.0/8", 90_000), line("10.8.0.0/17", 7)), CX6
    )
    assert plan.proven
    places = chain(plan)
    assert places.index("/16") < places.index("/8")
    assert places.index("/8") == 1  # the one without overlap went out of the way


def test_after_an_applied_plan_little_is_left_to_do() -> None:
    rng = random.Random(7)
    lines = [line(f"10.{at}.0.0/{rng.randrange(10, 31)}", int(rng.paretovariate(0.7) * 10)) for at in range(200)]
    first = make_plan(dump_of(*lines), CX6)
    assert first.proven
    assert len([step for step in first.steps if step.phase == "move"]) > 100
    again = make_plan(dump_of(*after_text(first).splitlines()), CX6)
    assert again.steps == ()
    changed = after_text(first).splitlines()
    changed[5] = changed[5].replace("packets:", "packets:1")
    third = make_plan(dump_of(*changed, line("172.16.0.0/12", 40)), CX6)
    assert third.proven
    assert len(third.steps) < len(first.steps) / 4


def test_a_flow_that_is_printed_twice_is_moved_once() -> None:
    cold, hot = line("10.0.0.0/24", 1), line("10.2.2.0/23", 90_000)
    plan = make_plan(dump_of(cold, hot, cold), CX6)
    assert plan.proven
    assert [step.add for step in plan.steps] == [False, True]


def test_a_dump_that_was_not_read_whole_gets_no_plan() -> None:
    with pytest.raises(NotComparable, match="line 2"):
        make_plan(read_dump(line("10.0.0.0/8", 1) + "\nnonsense", HeaderSpace()), CX6)


def decided(flows: list[Flow], packet: int) -> Flow | None:
    return next((flow for flow in flows if not (packet ^ flow.value) & flow.mask), None)


@pytest.mark.parametrize("seed", range(12))
def test_no_packet_meets_other_actions_at_any_step(seed: int) -> None:
    """Every operation one by one: a packet is decided as before, or by software where that is the plan's price."""
    rng = random.Random(seed)
    actions = ["2", "3"] if seed % 2 else ["2"]
    lines = []
    for _ in range(14):
        length = rng.choice([25, 26, 28, 30, 32])
        more = host(rng.randrange(2)) if rng.random() < 0.6 else ""
        used = rng.choice(["1.0s", "20.0s", "700.0s"])
        lines.append(line(f"10.0.0.{rng.randrange(128)}/{length}", int(rng.paretovariate(0.6) * 5), rng.choice(actions), used, more))
    dump = dump_of(*dict.fromkeys(lines))
    plan = make_plan(dump, CX6)
    assert plan.proof.proof.verdict in ("equivalent", "different")
    if not plan.proven:
        assert seed % 2, "without contested flows every plan can be proven"
        return
    standing = applied(dump.flows, ())
    packets = [rng.choice(dump.flows) for _ in range(60)]
    words = [(flow.value | (rng.getrandbits(plan.space.width) & ~flow.mask)) for flow in packets]
    before = [decided(standing, word) for word in words]
    exact = {flow.value: flow for flow in plan.after}
    assert len(exact) >= 1
    for count in range(len(plan.steps) + 1):
        now = applied(dump.flows, plan.steps[:count])
        for word, first in zip(words, before, strict=True):
            found = decided(now, word)
            assert first is None or found is None or found.actions == first.actions
            if count in (0, len(plan.steps)) and first is not None and not plan.left_to_software:
                assert found is not None


def test_the_proof_speaks_of_the_steps_and_not_of_the_intention() -> None:
    plan = make_plan(dump_of(line("10.1.0.0/16", 2), line("10.2.2.0/23", 90_000), line("10.0.0.0/8", 4)), CX6)
    assert plan.proven
    lost = applied(plan.after, [step for step in plan.steps if not step.add][:1])
    found = compare_flows(list(plan.after), lost, plan.space, chain=np.arange(len(lost)))
    assert found.proof.verdict == "equivalent" or found.example is not None
    assert len(lost) == len(plan.after) - 1


def two_dumps(lines: list[str], before: dict[str, int], released: bool = False) -> Plan:
    """A plan of flows of which a dump ten seconds earlier had some, with the packet counts of `before`."""
    space = HeaderSpace()
    earlier = [
        line.replace(f"packets:{line.split('packets:')[1].split(',')[0]},", f"packets:{before[line]},") for line in lines if line in before
    ]
    return make_plan(read_dump("\n".join(lines), space), CX6, read_dump("\n".join(earlier), space).flows, 10.0, release=released)


def known_hosts(count: int) -> tuple[list[str], list[str]]:
    """Flows under two prefixes, and others that match the whole addresses of their ends."""
    wide = [line(f"10.0.0.0/{23 + number % 2}", 50_000, more=host(number).replace("01:00)", "02:00)")) for number in range(1, count + 1)]
    return wide, [line(f"10.0.0.{number}", 10, more=host(number)) for number in range(1, count + 1)]


def test_flows_that_rest_or_have_just_come_get_no_entry() -> None:
    """They would lose it before they have used it."""
    wide, exact = known_hosts(12)
    resting, fresh = wide[10].replace("used:1.0s", "used:7.0s"), wide[11].replace("packets:50000", "packets:500")
    lines = [*wide[:10], resting, fresh, *exact]
    plan = two_dumps(lines, {one: 100 for one in lines if one != fresh})
    added = [plan.space.field_of(step.flow.value, "ipv4.src") & 0xFF for step in plan.steps if step.phase == "activate"]
    assert sorted(added) == list(range(1, 11))
    assert plan.proven
    assert sum(one.resting for part in plan.directions.values() for one in part.hyper) == 2


def test_what_is_expected_includes_that_flows_end_and_others_come() -> None:
    wide, exact = known_hosts(8)
    steady = two_dumps([*wide, *exact], dict.fromkeys([*wide, *exact], 100))
    assert steady.low == steady.then == steady.high
    fresh = wide[7].replace("packets:50000", "packets:2000")
    moving = two_dumps([*wide[:7], fresh, *exact], dict.fromkeys([*wide[:7], *exact], 100))
    assert moving.low.q_l is not None
    assert moving.then.q_l is not None
    assert moving.high.q_l is not None
    assert moving.high.q_l < moving.then.q_l < moving.low.q_l


def test_a_flow_that_has_an_entry_is_not_added_again_where_that_was_asked_for() -> None:
    wide, exact = known_hosts(6)
    lines = [*wide, *exact]
    kept, released = (two_dumps(lines, dict.fromkeys(lines, 100), one) for one in (False, True))
    assert (kept.released, kept.proven) == (0, True)
    assert (released.released, released.proven, released.left_to_software) == (6, True, 0)
    assert len(kept.steps) - len(released.steps) == 6
    assert released.entries_after == kept.entries_after - 6
    assert {flow.written for flow in released.after} == {flow.written for flow in kept.after}


def test_flows_are_added_again_where_another_would_handle_their_packets_differently() -> None:
    wide, exact = known_hosts(6)
    lines = [*wide, *exact, line("10.0.0.0/16", 5, "drop")]
    plan = two_dumps(lines, dict.fromkeys(lines, 100), released=True)
    assert (plan.released, plan.proven) == (0, True)
