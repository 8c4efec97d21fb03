"""The search for anomalies: valid tests, minimal ones, on a device whose wall is known."""

import random

import pytest

from wallwatch.domain.transport.intents import parse_intent
from wallwatch.lab.transport.adaptor import AdaptorError, Outcome, TransportAdaptor
from wallwatch.lab.transport.minimal import fewest, smallest
from wallwatch.lab.transport.plans import Plan, drawn, mutated
from wallwatch.lab.transport.score import contradictions, score
from wallwatch.lab.transport.search import Search


def outcome(connections: int, *, discards: int = 0, slow: float = 100.0, **counters: int) -> Outcome:
    return Outcome(
        connections=[],
        requester_counters={"rx_discards_phy": discards, **counters},
        responder_counters={},
        message_completion_us=[[100.0, slow]] * connections,
    )


def walled(plan: Plan) -> Outcome:
    """A device that discards from the seventh connection on that loses READ responses."""
    lossy = {qpn for qpn, _, kind, _ in plan.events if kind != "ecn"}
    return outcome(plan.connections, discards=int(plan.verb == "read" and len(lossy) >= 7), implied_nak_seq_err=len(lossy))


@pytest.mark.parametrize("seed", range(20))
def test_every_test_that_is_drawn_or_mutated_is_valid(seed: int) -> None:
    rng = random.Random(seed)
    plan = drawn(rng, "cx5", "e810")
    for _ in range(50):
        parse_intent(plan.intent())
        plan = mutated(plan, rng)


@pytest.mark.parametrize("strategy", ["fuzz", "draw"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_wall_is_found_and_the_test_reduced_to_it(strategy: str, seed: int) -> None:
    search = Search(walled, "cx5", "cx5", "discards", seed=seed)
    found = search.fuzz() if strategy == "fuzz" else search.draw()
    assert found.plan is not None
    assert found.runs <= 200
    assert found.minimal is not None
    assert (found.minimal.connections, len(found.minimal.events), found.minimal.verb) == (7, 7, "read")
    assert (found.minimal.messages, found.minimal.packets, found.minimal.depth) == (1, 1, 1)


def test_a_search_without_success_ends_at_its_budget() -> None:
    found = Search(lambda plan: outcome(plan.connections), "cx5", "cx5", "discards", budget=30).fuzz()
    assert (found.runs, found.plan, found.minimal) == (30, None, None)


def test_worse_outcomes_score_higher() -> None:
    plan = Plan("cx5", "cx5", connections=2, events=((0, 1, "drop", 1),))
    scores = [score(plan, each) for each in (outcome(2), outcome(2, slow=1e5), outcome(2, slow=1e5, discards=100))]
    assert scores == sorted(scores)
    assert len(set(scores)) == 3


def test_counters_that_stand_still_are_named() -> None:
    still = Outcome(connections=[], requester_counters={"cnpHandled": 4}, responder_counters={"cnpSent": 0}, message_completion_us=[])
    assert contradictions(still) == ["cnpSent stands still although the peer's cnpHandled grows"]
    counts = still.model_copy(update={"responder_counters": {"cnpSent": 4}})
    assert contradictions(counts) == []


@pytest.mark.parametrize("wanted", [set(), {0}, {3, 17}, {4, 5, 6, 7}, set(range(20))])
def test_nothing_can_be_left_out_of_a_reduced_list(wanted: set[int]) -> None:
    assert fewest(range(20), lambda kept: wanted <= set(kept)) == sorted(wanted)


@pytest.mark.parametrize("wall", [1, 2, 31, 48])
def test_a_number_is_lowered_to_its_wall(wall: int) -> None:
    assert smallest(1, 48, lambda number: number >= wall) == wall


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("/no/such/program", "cannot be started"),
        ("'", "cannot be started"),
        ("true", "the adaptor"),
        ("""sh -c 'read line; echo "{\\"status\\": \\"error\\", \\"reason\\": \\"no switch\\"}"'""", "no switch"),
        ("""sh -c 'read line; echo "{\\"status\\": \\"ok\\"}"'""", "is not understood"),
        ("""sh -c 'read line; echo nonsense'""", "the adaptor"),
    ],
)
def test_an_adaptor_that_fails_is_named(command: str, words: str) -> None:
    with pytest.raises(AdaptorError, match=words), TransportAdaptor(command) as adaptor:
        adaptor.run({}, 1)
