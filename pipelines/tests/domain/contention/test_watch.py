"""A minute of a card: measured against predicted, SLAs now and within the hour; and the finding N/1 that follows."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from wallwatch.domain.catalogue.contention import contention_rule
from wallwatch.domain.catalogue.load import clear_for_s
from wallwatch.domain.contention.card import Card, Occupant, Traffic
from wallwatch.domain.contention.composition import Pattern
from wallwatch.domain.contention.drift import ahead, trend
from wallwatch.domain.contention.function_model import FunctionModel
from wallwatch.domain.contention.profile_files import ProfileFile, read_profiles, train_profiles
from wallwatch.domain.contention.watch import Kind, Limits, Measured, Reason, judge, reasons
from wallwatch.domain.hypotheses.versions import Identity
from wallwatch.domain.symptoms.contention import Life, forget, step
from wallwatch.domain.symptoms.decode_finding import decode_finding

EXAMPLES = Path(__file__).resolve().parents[4] / "docs/examples/functions"
LIMITS = Limits(deviation=0.1, horizon_min=60, trend_min=15, trend_errors=4)
MINUTE = 29_800_000


@pytest.fixture(scope="module")
def ids() -> FunctionModel:
    files = [ProfileFile(file.name, file.read_text()) for file in sorted((EXAMPLES / "ids").iterdir())]
    return train_profiles("ids", read_profiles(files), Pattern.PIPELINE)


def occupant(ids: FunctionModel, name: str = "a", mtbr: float = 300.0) -> Occupant:
    files = [ProfileFile(file.name, file.read_text()) for file in sorted((EXAMPLES / "ids").iterdir())]
    own = read_profiles(files).own_load
    assert own is not None
    return Occupant(name, Traffic(8000.0, 1518.0, mtbr), ids, own.at(8000.0))


def measured(one: Occupant, share: float | None, saturated: bool | None = True, most_drop: float | None = None, **more: Any) -> Measured:
    """A function alone that gets a share of what is predicted."""
    predicted = Card([one]).outlook(0).throughput
    return Measured(one, None if share is None else share * predicted, saturated, most_drop, **more)


@pytest.mark.parametrize(
    ("share", "saturated", "kinds"),
    [
        (0.85, True, [Kind.SLOWER]),
        (0.95, True, []),
        (0.5, False, []),  # less arrives
        (0.5, None, []),  # nobody knows what arrives
        (1.2, False, [Kind.FASTER]),
        (None, True, []),
    ],
)
def test_throughput_is_compared_with_the_prediction(
    ids: FunctionModel, share: float | None, saturated: bool | None, kinds: list[Kind]
) -> None:
    judged = judge([measured(occupant(ids), share, saturated)], LIMITS)
    assert [reason.kind for reason in judged.reasons] == kinds
    tested = share is not None and bool(saturated)
    assert judged.errors == ({0: pytest.approx((share or 0.0) - 1.0)} if tested else {}), "what keeps up does not test its model"


@pytest.mark.parametrize(("share", "kinds"), [(0.99, []), (0.85, [Kind.SLOWER])])
def test_nothing_is_expected_beyond_what_arrives(ids: FunctionModel, share: float, kinds: list[Kind]) -> None:
    """Half of what it could process arrives; a function next to it may still process less than that."""
    one = occupant(ids)
    offered = 0.5 * Card([one]).outlook(0).throughput
    seen = Measured(replace(one, offered=offered), share * offered, True, None)
    assert [reason.kind for reason in reasons([seen], LIMITS)] == kinds


def test_a_model_that_cannot_say_is_not_compared(ids: FunctionModel) -> None:
    small = Occupant("a", Traffic(8000.0, 64.0, 300.0), ids)
    assert reasons([measured(small, 0.5)], LIMITS) == []
    unknown = Measured(Occupant("b", Traffic(1.0)), None, None, None)
    assert reasons([measured(occupant(ids), 0.5), unknown], LIMITS) == []


def test_a_broken_sla_is_judged_by_the_measurement_where_there_is_one(ids: FunctionModel) -> None:
    pair = [occupant(ids, "a", 900.0), occupant(ids, "b", 900.0)]
    predicted = Card(pair).outlook(0)
    both = [Measured(one, predicted.throughput, True, 0.2) for one in pair]
    assert [(reason.kind, reason.function) for reason in reasons(both, LIMITS)] == [(Kind.BROKEN, "a"), (Kind.BROKEN, "b")]
    assert reasons([Measured(one, predicted.throughput, False, 0.2) for one in pair], LIMITS) == []


def growing(one: Occupant, minutes: int, per_minute: float) -> tuple[Traffic, ...]:
    now = one.traffic
    return tuple(Traffic(now.flows, now.packet_bytes, now.mtbr - per_minute * (minutes - 1 - at)) for at in range(minutes))


def test_drifting_matches_will_break_an_sla_within_the_hour(ids: FunctionModel) -> None:
    """At 100 matches/MB the engine is no limit for either; at 8 more each minute it becomes one."""
    pair = [occupant(ids, "a", 100.0), occupant(ids, "b", 100.0)]
    watched = [Measured(one, None, None, 0.2, growing(one, 20, 8.0)) for one in pair]
    found = reasons(watched, LIMITS)
    assert {(reason.kind, reason.function) for reason in found} == {(Kind.DRIFT, "a"), (Kind.DRIFT, "b")}
    when = found[0].in_min
    assert when is not None
    assert 0 < when <= 60
    then = [Occupant(one.name, Traffic(8000.0, 1518.0, 100.0 + 8.0 * when), one.model, one.counters) for one in pair]
    assert Card(then).outlook(0).drop > 0.2


@pytest.mark.parametrize(("minutes", "per_minute"), [(10, 8.0), (20, 0.0)])
def test_too_short_a_history_or_no_growth_predicts_nothing(ids: FunctionModel, minutes: int, per_minute: float) -> None:
    pair = [occupant(ids, "a", 100.0), occupant(ids, "b", 100.0)]
    assert reasons([Measured(one, None, None, 0.2, growing(one, minutes, per_minute)) for one in pair], LIMITS) == []


def test_a_trend_goes_on_by_factors_and_stays_possible() -> None:
    history = [Traffic(1000.0 * 1.1**at, 1500.0, 100.0 - 10.0 * at) for at in range(20)]
    later = ahead(history[-1], trend(history, 4.0), 10)
    assert later.flows == pytest.approx(history[-1].flows * 1.1**10)
    assert (later.packet_bytes, later.mtbr) == (1500.0, 0.0)


def life() -> Life:
    return Life({"host": "h1", "pci": "0000:03:00.0", "rack": "r1"}, Identity("BF-2"))


SLOWER = Reason(Kind.SLOWER, "ids-0", -0.18, 0.1, 410.0, 500.0, "memory")
DRIFT = Reason(Kind.DRIFT, "fw-0", 0.12, 0.1, None, 900.0, "memory", 35)


def played(one: Life, minutes: range, reason: Reason | None) -> list[dict[str, Any]]:
    return [found for minute in minutes for found in step(one, MINUTE + minute, [] if reason is None else [reason])]


def test_five_minutes_raise_a_finding_and_five_quiet_ones_clear_it() -> None:
    one = life()
    assert played(one, range(4), SLOWER) == []
    (raised,) = played(one, range(4, 5), SLOWER)
    assert (raised["state"], raised["severity"], raised["rule"], raised["blast_radius"]) == ("active", "warning", "N/1", "rnic")
    assert raised["summary"] == "ids-0 gets 410 kpps, 18% less than the predicted 500 kpps."
    assert decode_finding(orjson.dumps(raised))["symptom"] == "contention"
    assert played(one, range(5, 9), None) == []
    (cleared,) = played(one, range(9, 10), None)
    assert (cleared["state"], cleared["finding_id"]) == ("cleared", raised["finding_id"])
    assert clear_for_s("contention") == contention_rule().clear_min * 60


def test_a_pause_or_another_reason_begins_again() -> None:
    one = life()
    assert played(one, range(3), SLOWER) + played(one, range(3, 4), None) + played(one, range(4, 8), SLOWER) == []
    another = life()
    assert played(another, range(4), SLOWER) + played(another, range(4, 8), DRIFT) == []
    missing = life()
    assert played(missing, range(4), SLOWER) + played(missing, range(6, 10), SLOWER) == []


def test_a_minute_that_is_read_again_changes_nothing() -> None:
    one = life()
    assert len(played(one, range(5), SLOWER)) == 1
    assert played(one, range(5), SLOWER) == []


def test_a_drift_says_when_and_a_broken_sla_is_critical() -> None:
    (drift,) = played(life(), range(5), DRIFT)
    assert "in about 35 minutes" in drift["summary"]
    (broken,) = played(life(), range(5), Reason(Kind.BROKEN, "a", 0.3, 0.2, 700.0, 700.0, "accelerator"))
    assert (broken["severity"], broken["evidence"][0]["value"]) == ("critical", 0.3)


def test_a_card_that_is_not_measured_any_more_ends_its_finding() -> None:
    one = life()
    (raised,) = played(one, range(5), SLOWER)
    assert forget(one, MINUTE + 30) == []
    (cleared,) = forget(one, MINUTE + 34)
    assert cleared["at"] > raised["at"]
    assert cleared["started_at"] == raised["started_at"]
    assert raised["at"].endswith("Z")


@pytest.mark.parametrize(
    ("found", "title"),
    [
        ([SLOWER], "Function slower than its model"),
        ([Reason(Kind.FASTER, "a", 0.2, 0.1, 900.0, 750.0, None)], "Function faster than its model"),
        ([DRIFT], "Function about to break its SLA"),
        # It loses 40%, and 10% of that was predicted: its SLA of 20% does not break because of its neighbours.
        ([SLOWER, Reason(Kind.BROKEN, "ids-0", 0.4, 0.2, 600.0, 900.0, "memory")], "Function slower than its model"),
        # The prediction alone breaks the SLA.
        ([SLOWER, Reason(Kind.BROKEN, "ids-0", 0.4, 0.2, 600.0, 700.0, "memory")], "Functions contend"),
        ([SLOWER, Reason(Kind.BROKEN, "other", 0.4, 0.2, 600.0, 600.0, "memory")], "Functions contend"),
        ([SLOWER, DRIFT], "Function about to break its SLA"),
    ],
)
def test_the_title_says_whether_neighbours_are_the_reason(found: list[Reason], title: str) -> None:
    one = life()
    messages = [message for minute in range(5) for message in step(one, MINUTE + minute, found)]
    (raised,) = messages
    assert raised["title"] == title
    assert raised["explanation"].startswith(f"{title} on ")
    (cleared,) = [message for minute in range(5, 10) for message in step(one, MINUTE + minute, [])]
    assert cleared["title"] == title
