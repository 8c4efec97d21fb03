"""Each state machine is one table, and whatever decides by states agrees with it."""

from itertools import product
from typing import get_args

import pytest

from wallwatch_backend.conditions.webhook_schema import AgentEvent, CertificateEvent, DeclineEvent, EndedEvent, ForecastEvent, PolicyEvent
from wallwatch_backend.kit.states import StateTable
from wallwatch_backend.lab.webhook_schema import LabEvent
from wallwatch_backend.notify.schemas import CONDITION_ENDS, EventType
from wallwatch_backend.remedies import states
from wallwatch_backend.remedies.orders.schemas import Operation
from wallwatch_backend.remedies.orders.transitions import TRANSITIONS, Result, is_rejection, repetition
from wallwatch_backend.remedies.orders.verification import Verdict, state_after
from wallwatch_backend.remedies.orders.webhook_schema import RemedyEvent
from wallwatch_backend.remedies.plans.binding import UNUSED_BY
from wallwatch_backend.remedies.rollouts import states as rollout_states
from wallwatch_backend.remedies.rollouts.undo_targets import MAYBE_UNCHANGED
from wallwatch_backend.remedies.rollouts.waves import STOPS
from wallwatch_backend.remedies.rollouts.webhook_schema import RolloutEvent
from wallwatch_backend.remedies.states import REMEDY, RemedyState
from wallwatch_backend.state_tables import STATE_MACHINES


@pytest.mark.parametrize(
    ("derived", "expected"),
    [
        (states.UNDER_WAY, {"approved", "running", "verifying"}),
        (states.BEFORE_RESULT, {"approved", "running"}),
        (states.UNDOABLE, {"verifying", "change_confirmed", "confirmed", "not_confirmed", "failed", "expired"}),
        (states.JUDGED, {"change_confirmed", "confirmed", "not_confirmed", "failed"}),
        (states.DONE_ON_HOST, {"verifying", "change_confirmed", "confirmed", "not_confirmed", "undone"}),
        (states.OPEN_COMMAND, {"queued", "sent"}),
        (UNUSED_BY, {"failed", "refused", "expired", "rejected", "undone", "planned"}),
        (MAYBE_UNCHANGED, {"failed", "expired"}),
        (STOPS, {"failed", "refused", "expired", "not_confirmed", "undone", "rejected", "planned"}),
        (rollout_states.DRIVEN, {"running", "undoing"}),
        (rollout_states.UNDOABLE, {"running", "paused", "stopped", "confirmed", "undo_paused"}),
    ],
)
def test_what_is_derived_from_a_table_is_what_is_meant(derived: tuple[str, ...], expected: set[str]) -> None:
    assert set(derived) == expected


def test_every_state_of_a_remedy_that_is_applied_has_an_event_of_its_name() -> None:
    assert {state.name: state.event for state in REMEDY.states if state.name != "planned"} == {
        str(name): f"remedy.{name}" for name in RemedyState if name != RemedyState.planned
    }
    assert REMEDY["planned"].event is None, "a dry run changes nothing"


def test_every_state_of_a_rollout_has_an_event_of_its_name() -> None:
    assert [state.event for state in rollout_states.ROLLOUT.states] == [f"rollout.{name}" for name in rollout_states.RolloutState]


def test_webhooks_know_the_events_of_the_tables_those_of_waves_and_conditions() -> None:
    tables = [state.event for machine in STATE_MACHINES for state in machine[1] if state.event is not None]
    waves = {"rollout.wave_started", "rollout.wave_confirmed"}
    assert {*tables, *waves, *map(str, CONDITION_ENDS)} == {str(event) for event in EventType}
    sent = {*get_args(RemedyEvent.model_fields["type"].annotation), *get_args(RolloutEvent.model_fields["type"].annotation)}
    sent |= set(get_args(LabEvent.model_fields["type"].annotation))
    conditions = (ForecastEvent, DeclineEvent, PolicyEvent, AgentEvent, CertificateEvent)
    begins = {name for event in conditions for name in get_args(event.model_fields["type"].annotation)}
    assert begins == set(map(str, CONDITION_ENDS))
    assert set(get_args(EndedEvent.model_fields["type"].annotation)) == set(CONDITION_ENDS.values())
    assert sent | begins == {str(event) for event in EventType if not event.startswith("incident.")}


@pytest.mark.parametrize("state", [state for machine in STATE_MACHINES for state in machine[1]], ids=lambda state: state.name)
def test_a_good_end_is_an_end_and_what_waits_is_not_over(state: states.State) -> None:
    assert state.over or state.outcome != "good"
    assert not (state.over and state.outcome == "waiting")
    assert state.label[0].isupper()
    assert not state.sentence.endswith(".")


def test_a_table_has_each_state_once() -> None:
    with pytest.raises(ValueError, match="its table has pending, pending"):
        StateTable(states.CommandState, REMEDY["pending"], REMEDY["pending"])


def test_every_operation_and_result_has_a_transition() -> None:
    assert set(TRANSITIONS) == set(product(get_args(Operation), get_args(Result)))


@pytest.mark.parametrize(
    ("operation", "result", "state"),
    [
        ("dry_run", "done", "planned"),
        ("dry_run", "failed", "failed"),
        ("dry_run", "refused", "refused"),
        ("dry_run", "expired", "expired"),
        ("apply", "done", "verifying"),
        ("apply", "failed", "failed"),
        ("apply", "refused", "refused"),
        ("apply", "expired", "expired"),
        ("undo", "done", "undone"),
        ("undo", "failed", None),
        ("undo", "refused", None),
        ("undo", "expired", None),
    ],
)
def test_a_result_brings_a_remedy_into_a_state(operation: Operation, result: Result, state: str | None) -> None:
    transition = TRANSITIONS[operation, result]
    assert transition.state == state
    assert transition.succeeded == (result == "done")
    assert transition.starts_verification == (state == "verifying"), "only what was applied is verified"


@pytest.mark.parametrize(
    ("command", "result", "known"),
    [
        (("queued", None), ("done", None), None),
        (("sent", None), ("failed", "exit_1"), None),
        (("sent", "bad_signature"), ("done", None), None),
        (("expired", None), ("done", None), None),
        (("refused", "busy"), ("done", None), None),
        (("done", None), ("done", ""), "known"),
        (("failed", "exit_1"), ("failed", "exit_1"), "known"),
        (("failed", "exit_1"), ("failed", "exit_2"), "contradicts"),
        (("done", None), ("refused", "expired"), "contradicts"),
    ],
)
def test_a_second_result_is_known_or_contradicts(
    command: tuple[str, str | None], result: tuple[str, str | None], known: str | None
) -> None:
    assert repetition(*command, *result) == known


@pytest.mark.parametrize("code", ["bad_signature", "unknown_key", "malformed"])
def test_a_rejected_message_proves_nothing(code: str) -> None:
    assert is_rejection("refused", code)
    assert not is_rejection("failed", code)
    assert not is_rejection("refused", "precondition_failed")


@pytest.mark.parametrize(
    ("change", "effect", "symptom_present", "patient", "expected"),
    [
        ("waiting", None, False, True, "verifying"),
        ("confirmed", None, False, True, "change_confirmed"),
        ("confirmed", None, True, True, "change_confirmed"),
        ("not_confirmed", None, False, True, "not_confirmed"),
        ("waiting", "confirmed", False, True, "verifying"),
        ("confirmed", "waiting", False, True, "verifying"),
        ("confirmed", "waiting", False, False, "verifying"),
        ("confirmed", "not_confirmed", False, True, "not_confirmed"),
        ("not_confirmed", "confirmed", False, True, "not_confirmed"),
        ("waiting", "not_confirmed", False, True, "not_confirmed"),
        ("confirmed", "confirmed", True, True, "verifying"),
        ("confirmed", "confirmed", True, False, "not_confirmed"),
        ("confirmed", "confirmed", False, False, "confirmed"),
    ],
)
def test_a_remedy_is_confirmed_by_its_change_its_signal_and_the_symptom_together(
    change: Verdict, effect: Verdict | None, symptom_present: bool, patient: bool, expected: str
) -> None:
    assert state_after(change, effect, symptom_present=symptom_present, patient=patient) == expected
