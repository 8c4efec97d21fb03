"""What agents answer: a result per command, maybe more than once, maybe late. What follows from one is `transitions`."""

from datetime import datetime
from typing import Annotated, Literal, cast
from uuid import UUID

from prometheus_client import Counter
from pydantic import AfterValidator, AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field

from wallwatch_backend.accounts.audit import service as audit
from wallwatch_backend.fleet.rnics.cordons import record_cordon
from wallwatch_backend.incidents.service import note_remedy, symptoms_of
from wallwatch_backend.kit import changes, clock
from wallwatch_backend.kit.database import WriteSession
from wallwatch_backend.remedies.models import CommandRow, RemedyRow
from wallwatch_backend.remedies.orders import actions, facts, notifications, repository
from wallwatch_backend.remedies.orders.action_hooks import hooks_of
from wallwatch_backend.remedies.orders.schemas import Operation
from wallwatch_backend.remedies.orders.transitions import ONLY_CLAIMED, TRANSITIONS, Outcome, Result, Transition, is_rejection, repetition
from wallwatch_backend.remedies.states import OPEN_COMMAND, CommandState

RESULTS = Counter("wallwatch_remedy_results", "Results that agents reported", ["operation", "state"])

CORDON = "cordon-rnic"

REFUSALS = ONLY_CLAIMED | {
    "wrong_host", "unknown_action", "bad_parameter", "retired_key", "expired", "not_yet_valid", "precondition_failed", "nothing_to_undo"
}  # fmt: skip

WRONG = frozenset({"rejected", "unknown_command", "other_remedy", "contradicts"})
"""Outcomes that an honest agent, with nobody between it and the server, never causes."""


def _storable(text: str) -> str:
    """What PostgreSQL can hold: one character that it cannot hold must not discard an agent's result."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}").encode(errors="replace").decode()


ClaimedId = Annotated[UUID | None, BeforeValidator(lambda value: None if value == "" else value)]
Text = Annotated[str, AfterValidator(_storable)]


class AgentOperation(BaseModel):
    """One operation, as an agent reports it: text, or null where a key or file is absent."""

    target: Text
    operation: Text
    before: Text | None = None
    after: Text | None = None
    text: Text = ""


Count = Annotated[int, Field(ge=0, le=10_000_000)]


class AgentAudit(BaseModel):
    """What an agent found among the filters of TC after a remedy."""

    ports: Count = 0
    filters: Count = 0
    orphaned: Count = 0
    new: Count = Field(default=0, description="Of the orphaned, those that did not exist before the remedy")
    examples: list[Text] = Field(default=[], max_length=20)
    error: Text | None = Field(default=None, max_length=1000)


class AgentResult(BaseModel):
    """Message `result` of the capability `com.wallwatch.remedy.v1` (docs/contracts.md)."""

    model_config = ConfigDict(extra="ignore")

    command_id: ClaimedId = Field(description="None where the agent rejected a message that named no command")
    remedy_id: ClaimedId = None
    state: Literal["done", "failed", "refused"]
    code: Text | None = Field(default=None, max_length=100)
    message: Text | None = Field(default=None, max_length=4000)
    repeated: bool = False
    operations: list[AgentOperation] | None = Field(default=None, max_length=100)
    finished_at: AwareDatetime | None = None
    tc_audit: AgentAudit | None = None


def transition_of(command: CommandRow, result: Result) -> Transition:
    return TRANSITIONS[cast(Operation, command.operation), result]


async def apply_result(session: WriteSession, host: str, result: AgentResult) -> Outcome:
    """Apply a result, and return whether it could be applied.

    A rejection settles nothing: otherwise an attacker who can send a corrupted copy of a command to its agent would have Wallwatch
    record it as refused while the agent carries the command out.
    """
    command = await repository.command_locked(session, result.command_id, host) if result.command_id is not None else None
    if is_rejection(result.state, result.code):
        if command is not None and command.state in OPEN_COMMAND:
            command.code, command.message = result.code, result.message or None
        return "rejected"
    if command is None:
        return "unknown_command"
    if result.remedy_id is not None and result.remedy_id != command.remedy_id:
        return "other_remedy"
    if (earlier := repetition(command.state, command.code, result.state, result.code)) is not None:
        return earlier
    remedy = await repository.one_locked(session, command.remedy_id)
    if remedy is None:
        return "unknown_command"
    at = clock.now()
    # A host's clock may run ahead. And telemetry from before the order proves nothing about it, whatever the agent reports.
    finished_at = min(max(result.finished_at or at, command.issued_at), at)
    command.state, command.code, command.message = result.state, result.code or None, result.message or None
    command.finished_at, command.result = finished_at, result.model_dump(mode="json")
    if result.operations and command.operation != "undo":
        remedy.operations = [operation.model_dump(mode="json") for operation in result.operations]
    RESULTS.labels(command.operation, result.state).inc()
    if command.operation != "dry_run":
        await hooks_of(remedy.action).on_result(session, remedy, command)
        if result.state == "done" and remedy.action == CORDON and remedy.pci is not None:
            await record_cordon(session, remedy.host, remedy.pci, command.operation == "apply", finished_at)
    transition = transition_of(command, result.state)
    await _enter(session, remedy, command, transition, at, finished_at)
    await _record(session, host, remedy, command, transition)
    return "applied"


async def _enter(
    session: WriteSession, remedy: RemedyRow, command: CommandRow, transition: Transition, at: datetime, finished_at: datetime
) -> None:
    """Bring a remedy into the state that follows from its command's result."""
    remedy.updated_at = at
    if transition.state is None:
        return
    remedy.state = transition.state
    remedy.code, remedy.message = (None, None) if transition.succeeded else (command.code, command.message)
    if transition.starts_verification:
        remedy.applied_at = finished_at
        symptoms = await symptoms_of(session, remedy.incident_id) if remedy.incident_id is not None else None
        judged_by = actions.action_of(remedy.action).cured_symptom(symptoms)
        shown = judged_by if judged_by is not None or not symptoms else symptoms[0]
        remedy.change = facts.first_change(remedy.action, remedy.params, finished_at, shown)
        remedy.effect = facts.first_effect(remedy.action, remedy.params, finished_at, judged_by)
    await notifications.notify(session, remedy)


_AUDITED: dict[str, audit.Outcome] = {"done": "ok", "refused": "refused"}


async def _record(session: WriteSession, host: str, remedy: RemedyRow, command: CommandRow, transition: Transition) -> None:
    """Write a result to the audit log, the incident's timeline and the change feed."""
    audit.record(
        session,
        f"agent:{host}",
        f"remedy.{command.operation}.result",
        f"{host} {remedy.pci or ''}".strip(),
        outcome=_AUDITED.get(command.state, "failed"),
        remedy_id=str(remedy.id),
        command_id=str(command.id),
        remedy_action=remedy.action,
        code=command.code,
    )
    if transition.succeeded:
        text = f"The agent {transition.verb} {remedy.action}."
    else:
        operation = command.operation.replace("_", " ").capitalize()
        reason = command.message or command.code or "no reason given"
        text = f"{operation} of {remedy.action} {command.state}: {reason}."
    await note_remedy(session, remedy.incident_id, f"agent:{host}", text)
    extra = {"host": remedy.host, "pci": remedy.pci} if remedy.action == CORDON else {}
    await changes.announce(session, "remedy", remedy.id, remedy.state, **extra)


async def expire_command(session: WriteSession, command_id: UUID, host: str) -> bool:
    """Note that no answer came in time."""
    await repository.hold(session, [command_id])
    command = await repository.command_locked(session, command_id, host)
    if command is None or command.state not in OPEN_COMMAND:
        return False
    remedy = await repository.one_locked(session, command.remedy_id)
    if remedy is None:
        return False
    at, reason = clock.now(), _why_no_answer(command)
    command.state, command.message, command.finished_at = CommandState.expired, reason, at
    await _enter(session, remedy, command, transition_of(command, "expired"), at, at)
    audit.record(
        session,
        "system",
        f"remedy.{command.operation}.expired",
        f"{host} {remedy.pci or ''}".strip(),
        outcome="failed",
        remedy_id=str(remedy.id),
        command_id=str(command.id),
        remedy_action=remedy.action,
    )
    await note_remedy(session, remedy.incident_id, "wallwatch", f"No answer to {command.operation} of {remedy.action}. {reason}")
    await changes.announce(session, "remedy", remedy.id, remedy.state)
    return True


def _why_no_answer(command: CommandRow) -> str:
    if command.code in ONLY_CLAIMED:
        reason = command.message or "no reason given"
        return (
            f"The agent rejected a message that named this command ({command.code}: {reason}) and gave no other answer; look at the host."
        )
    if command.state == CommandState.queued:
        return "The agent was not connected."
    return "The agent received the command and did not answer; look at the host."
