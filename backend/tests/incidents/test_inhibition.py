"""Which findings are side effects of a remedy: the rule alone, by tables of cases."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from wallwatch.domain.catalogue import load
from wallwatch.domain.catalogue.models import Condition
from wallwatch.domain.catalogue.remedy_models import NEVER_OWN_DOING, Disturbance
from wallwatch_backend.incidents.inhibition.rules import LATE, LONGEST, Beginning, Run, causing_run, is_due, settled_at

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
PLAN, UNDO = UUID(int=1), UUID(int=2)


def at(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def run(began: float = 0, ended: float | None = 40, *, remedy_id: UUID = PLAN, pci: str | None = "a") -> Run:
    """A mask plan on h1 that settles in a minute."""
    end = None if ended is None else at(ended)
    return Run(remedy_id, "apply-mask-plan", "h1", pci, frozenset({"S1", "S5"}), timedelta(seconds=60), at(began), end)


def beginning(
    started: float, *, host: str = "h1", pci: str = "a", symptom: str = "S1", sent: float | None = None, received: float | None = None
) -> Beginning:
    sent_at = at(started + 10 if sent is None else sent)
    return Beginning(host, pci, symptom, at(started), sent_at, None if received is None else at(received))


@pytest.mark.parametrize(
    ("what", "finding", "runs"),
    [
        ("while it runs", beginning(20), [run()]),
        ("while it runs, with no end known", beginning(200), [run(ended=None)]),
        ("in the moment in which its command leaves", beginning(0), [run()]),
        ("while it settles", beginning(100), [run()]),
        ("on any RNIC, of an action of the host", beginning(20, pci="b"), [run(pci=None)]),
        ("on a host whose clock is 20 s slow, after our command", beginning(-10, sent=0, received=21), [run()]),
        ("on a host whose clock is 20 s fast, while it settles", beginning(115, sent=125, received=106), [run()]),
    ],
)
def test_a_finding_is_caused_by_a_remedy(what: str, finding: Beginning, runs: list[Run]) -> None:
    assert causing_run(finding, runs) is runs[0], what


@pytest.mark.parametrize(
    ("what", "finding", "runs"),
    [
        ("it was there before", beginning(-1), [run()]),
        ("it was there before, and came with the usual delay", beginning(-1, sent=9, received=13), [run()]),
        ("it was there before, on a host whose clock is 20 s fast", beginning(15, sent=25, received=6), [run()]),
        ("it was there before, and a backlog brought it late", beginning(-60, sent=-50, received=50), [run()]),
        ("all had settled", beginning(101), [run()]),
        ("another RNIC of the host", beginning(20, pci="b"), [run()]),
        ("another host", beginning(20, host="h2"), [run(pci=None)]),
        ("not a side effect of this remedy", beginning(20, symptom="S8"), [run()]),
        ("nothing runs", beginning(20), []),
    ],
)
def test_a_finding_is_not_caused_by_a_remedy(what: str, finding: Beginning, runs: list[Run]) -> None:
    assert causing_run(finding, runs) is None, what


def test_of_two_runs_the_newer_one_has_done_it() -> None:
    undo = run(70, 90, remedy_id=UNDO)
    assert causing_run(beginning(80), [undo, run()]) is undo


def test_an_inhibited_finding_is_given_the_time_of_the_remedy_and_of_its_settling() -> None:
    assert settled_at(PLAN, at(20), [run()]) == at(100)
    assert settled_at(PLAN, at(20), [run(), run(80, 120)]) == at(180), "the undo began while the plan settled"
    assert settled_at(PLAN, at(20), [run(), run(101, 120, remedy_id=UNDO)]) == at(100), "the other one began afterwards"
    assert settled_at(PLAN, at(20), []) == at(20), "the agent refused it after all"


def test_nothing_is_inhibited_for_ever() -> None:
    lost = run(ended=None)
    assert settled_at(PLAN, at(20), [lost]) == at(20) + LONGEST
    again_and_again = [run(began, began + 40) for began in range(0, 7200, 60)]
    assert settled_at(PLAN, at(20), again_and_again) == at(20) + LONGEST


def test_a_lasting_finding_is_raised_by_telemetry_after_the_settling() -> None:
    settled = at(100)
    assert not is_due(at(99), at(95), at(20), settled)
    assert not is_due(at(103), at(98), at(20), settled), "its end may be on its way"
    assert is_due(at(103), at(101), at(20), settled)
    assert is_due(settled + LATE, at(60), at(20), settled), "the host fell silent"


def test_of_a_backlog_the_rest_is_awaited() -> None:
    found_late = at(3600)
    assert not is_due(at(3601), at(30), found_late, at(100))
    assert is_due(found_late + LATE, at(30), found_late, at(100))


def clears_in_s(symptom: str) -> float:
    """The longest time for which a symptom that has ended is still held to be there: its slowest condition, and two samples of 10 s."""
    definition = load.detected()[symptom].definition
    assert definition is not None

    def alternatives(condition: Condition) -> str:
        return condition.any or condition.signal

    # Any of the required ones clears it; of alternatives all have to.
    required = [c for c in definition.conditions if c.role == "required"]
    slowest = {name: max(c.window_s for c in required if alternatives(c) == name) for name in {alternatives(c) for c in required}}
    return min(slowest.values()) + definition.clear_for_s + 20


@pytest.mark.parametrize("action", sorted(action.id for action in load.remedies().values() if action.disturbs))
def test_what_an_action_stirs_up_has_cleared_before_it_is_raised(action: str) -> None:
    disturbs = load.remedies()[action].disturbs
    assert disturbs is not None
    assert disturbs.settle_s >= max(clears_in_s(symptom) for symptom in disturbs.symptoms)


def test_a_remedy_is_no_excuse_for_a_crash_a_lost_link_or_an_rnic_that_stops() -> None:
    usual = Disturbance(symptoms=("S1",), why="Flows are moved.")
    assert usual.settle_s == 60
    for symptom in NEVER_OWN_DOING:
        with pytest.raises(ValueError, match=f"{symptom} must be raised"):
            Disturbance.model_validate({**usual.model_dump(), "symptoms": ("S1", symptom)})


def test_a_run_knows_when_it_has_settled() -> None:
    assert run().settled_at == at(100)
    assert replace(run(), ended_at=None).settled_at is None
