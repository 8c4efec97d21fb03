"""Functions of one card together: who takes what from whom; batches of functions on cards; files of profiles."""

from dataclasses import replace

import pytest
from pipelines.tests.domain.contention.examples import EXAMPLES, model, occupant, profiles

from wallwatch.domain.contention.acceptance import judge
from wallwatch.domain.contention.batch import BatchCard, BatchFunction, UnusableBatch, assign, present_assignment
from wallwatch.domain.contention.card import ACCELERATOR, MEMORY, Card, Occupant, Traffic
from wallwatch.domain.contention.composition import Pattern
from wallwatch.domain.contention.counters import Counters
from wallwatch.domain.contention.own_load import OwnLoad
from wallwatch.domain.contention.placement import Policy
from wallwatch.domain.contention.profile_files import ProfileFile, ProfileKind, Profiles, UnusableProfiles, read_profiles, train_profiles
from wallwatch.domain.contention.round_robin import EngineUser


def test_a_function_alone_gets_its_solo_throughput() -> None:
    found = Card([occupant("a", "firewall")]).outlook(0)
    assert found.throughput == found.solo
    assert (found.bottleneck, dict(found.contributors), sum(found.lost.values())) == (None, {}, 0.0)


def test_losses_add_up_and_each_competitor_is_named() -> None:
    card = Card([occupant("a", "firewall"), occupant("b", "nat", 40_000), occupant("c", "ids", mtbr=600)])
    found = card.outlook(0)
    assert found.throughput < found.solo
    assert sum(found.lost.values()) == pytest.approx(found.solo - found.throughput)
    assert set(found.contributors) == {"b", "c"}
    assert found.bottleneck == MEMORY
    assert found.lost[ACCELERATOR] == 0
    assert card.throughput(0) == pytest.approx(found.throughput)
    assert card.throughput(0, cautious=True) == pytest.approx(found.low)


def test_the_chance_of_breaking_an_sla_follows_the_interval() -> None:
    alone = Card([occupant("a", "firewall")]).outlook(0)
    assert alone.chance_of_breaking(0.001) == 0.0
    found = Card([occupant("a", "firewall"), occupant("b", "nat", 40_000), occupant("c", "ids", mtbr=600)]).outlook(0)
    assert found.chance_of_breaking(found.drop) == pytest.approx(0.5)
    # The lower end of a 90% interval is undercut in 5 of 100 cases.
    assert found.chance_of_breaking(found.worst_drop) == pytest.approx(0.05, abs=1e-3)
    assert found.chance_of_breaking(found.drop / 2) > 0.5 > found.chance_of_breaking(min(2 * found.worst_drop, 0.99))
    exact = replace(found, low=found.throughput)
    assert [exact.chance_of_breaking(found.drop + more) for more in (-0.01, 0.01)] == [1.0, 0.0]


def test_saturated_users_of_an_accelerator_share_it_by_turns() -> None:
    """With one queue each, `T = 1 / (t + t)`: twice the time per packet."""
    card = Card([occupant("a", "ids", mtbr=900), occupant("b", "ids", mtbr=900)])
    found = card.outlook(0)
    engine = model("ids").engine
    assert engine is not None
    assert found.throughput == pytest.approx(1 / (2 * engine.service_time(900)), rel=1e-6)
    assert (found.bottleneck, found.binding) == (ACCELERATOR, ACCELERATOR)


def test_a_user_whose_queues_run_empty_takes_only_what_it_asks_for() -> None:
    """The load offers a tenth of the engine's time; a saturated function next to it gets the other nine."""
    time = 1e-3
    load = Occupant("load", Traffic(1000.0), counters=Counters(0, 0, 0, 0, 0, 0, 0), load=EngineUser(1, time, rate=0.1 / time))
    found = Card([occupant("a", "ids", mtbr=900), load]).outlook(0)
    engine = model("ids").engine
    assert engine is not None
    assert found.throughput == pytest.approx(0.9 / engine.service_time(900), rel=1e-6)


def test_a_user_asks_the_accelerator_for_no_more_than_arrives() -> None:
    engine = model("ids").engine
    assert engine is not None
    rate = 0.1 / engine.service_time(900)
    idle = Card([occupant("a", "ids", mtbr=900), occupant("b", "ids", mtbr=900, offered=rate)]).outlook(0)
    assert idle.throughput == pytest.approx(0.9 / engine.service_time(900), rel=1e-6)


def test_a_profile_of_the_accelerator_may_name_queues_and_packet_size() -> None:
    files = [ProfileFile("p_mem_train", (EXAMPLES / "ids" / "ids_mem_train").read_text())]
    trained = {
        columns: train_profiles("ids", read_profiles([*files, ProfileFile("p_reg_train", text)]), Pattern.PIPELINE).engine
        for columns, text in {
            2: "100 0.0004\n600 0.0014\n",
            4: "100 0.0004 2 1000\n600 0.0014 2 1000\n",
        }.items()
    }
    plain, whole = trained[2], trained[4]
    assert plain is not None
    assert whole is not None
    assert (plain.queues, plain.packet_bytes, whole.queues, whole.packet_bytes) == (1, None, 2, 1000)
    assert plain.service_time(300, 500) == pytest.approx(plain.service_time(300))
    assert whole.service_time(300, 500) == pytest.approx(2e-4 + 300 * 2e-6 / 2)
    for text in ("100 0.0004 2 1000\n600 0.0014 3 1000\n", "100 0.0004 1.5 1000\n600 0.0014 1.5 1000\n"):
        with pytest.raises(UnusableProfiles, match="one whole number of queues"):
            train_profiles("ids", read_profiles([*files, ProfileFile("p_reg_train", text)]), Pattern.PIPELINE)


def test_unknown_counters_are_named_and_nothing_is_predicted_without_a_model() -> None:
    card = Card([occupant("a", "firewall"), occupant("b", "nat", counters=None), Occupant("c", Traffic(1.0))])
    assert card.outlook(0).unknown == ("b", "c")
    with pytest.raises(ValueError, match="c has no model"):
        card.outlook(2)


def test_times_of_a_function_that_runs_to_completion_add_up() -> None:
    whole = Occupant("a", Traffic(8000.0, 1518.0, 900.0), model("ids", Pattern.RUN_TO_COMPLETION), profiles("ids").own_load.at(8000.0))  # type: ignore[union-attr]
    found = Card([whole, occupant("b", "ids", mtbr=900)]).outlook(0)
    assert found.lost[ACCELERATOR] > 0
    assert found.lost[MEMORY] > 0
    assert sum(found.lost.values()) == pytest.approx(found.solo - found.throughput)


def functions(count: int, **more: object) -> list[BatchFunction]:
    return [BatchFunction(occupant(f"ids{at}", "ids", mtbr=900.0), 2, 0.2, **more) for at in range(count)]  # type: ignore[arg-type]


CARDS = [BatchCard(f"card{at}", f"host{at}", 8) for at in range(6)]


def test_a_batch_separates_functions_that_break_each_other() -> None:
    batch = [*functions(2), *(BatchFunction(occupant(f"fw{at}", "firewall"), 2, 0.3) for at in range(2))]
    found = assign(batch, CARDS)
    assert (found.violations, len(found.cards), found.lower_bound) == (0, 2, 2)
    for seats in found.cards.values():
        assert sum(seat.function.occupant.name.startswith("ids") for seat in seats) == 1


def test_a_batch_stays_where_it_runs_as_far_as_it_can() -> None:
    batch = functions(2, card="card3")
    present = present_assignment(batch)
    assert present is not None
    assert present.violations == 2
    assert "card3" in assign(batch, CARDS).cards


def test_functions_without_a_card_are_listed() -> None:
    found = assign(functions(3), CARDS[:2], Policy.FULLEST)
    assert (len(found.unplaced), found.lower_bound) == (1, None)
    assert len(assign(functions(3), CARDS[:2]).unplaced) == 1


def test_a_batch_that_cannot_be_placed_says_why() -> None:
    cases = [
        ([BatchFunction(occupant("x", "nat", counters=None), 2, 0.1)], CARDS, "own_load"),
        ([BatchFunction(occupant("x", "nat"), 9, 0.1)], CARDS, "needs 9 cores"),
        ([BatchFunction(occupant("x", "nat"), 2, 0.1)], [*CARDS, BatchCard("big", "h", 16)], "same number of cores"),
        ([BatchFunction(occupant("x", "nat"), 2, 0.1)], [], "at least one card"),
        ([BatchFunction(Occupant("x", Traffic(1.0)), 2, 0.1)], CARDS, "x has no model"),
    ]
    for batch, cards, said in cases:
        with pytest.raises(UnusableBatch, match=said):
            assign(batch, cards)


def test_a_candidate_is_judged_by_its_error_and_by_the_model_that_it_replaces() -> None:
    rows = profiles("firewall").rows[ProfileKind.MEMORY]
    present = model("firewall")
    assert judge(present, rows, None).accepted
    mixed = rows.copy()
    mixed[:, -1] = rows[::-1, -1]
    useless = train_profiles("x", Profiles({ProfileKind.MEMORY: mixed}, {"a": "1"}), Pattern.PIPELINE)
    verdict = judge(useless, mixed, None)
    assert not verdict.accepted
    assert "measure more rows" in verdict.reasons[0]


def test_own_loads_of_one_number_of_flows_are_averaged() -> None:
    rows = profiles("nat").rows[ProfileKind.OWN_LOAD]
    doubled = rows[[0, 0]].copy()
    doubled[1, 2:] *= 3
    assert OwnLoad.of_rows(doubled).at(5.0).instructions == pytest.approx(2 * rows[0, 3])
    assert OwnLoad.from_json(OwnLoad.of_rows(rows).as_json()) == OwnLoad.of_rows(rows)


def test_files_need_a_kind_and_a_memory_profile() -> None:
    with pytest.raises(UnusableProfiles, match="says no kind"):
        read_profiles([ProfileFile("x", "")])
    with pytest.raises(UnusableProfiles, match="is required"):
        read_profiles([ProfileFile("ids_reg_train", (EXAMPLES / "ids/ids_reg_train").read_text())])
