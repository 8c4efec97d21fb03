"""What agents answer: a result per command, maybe more than once, maybe late."""

from datetime import datetime, timedelta
from typing import Annotated, Any, Literal
from uuid import UUID

from prometheus_client import Counter
from pydantic import AfterValidator, AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field

from wallwatch_backend.audit import service as audit
from wallwatch_backend.incidents.service import note_remedy
from wallwatch_backend.kit import changes, clock
from wallwatch_backend.kit.database import WriteSession
from wallwatch_backend.plans import repository as plans
from wallwatch_backend.plans.arrivals import answered
from wallwatch_backend.remedies import actions, repository, telling
from wallwatch_backend.remedies.cordons import CORDON
from wallwatch_backend.remedies.models import CommandRow, RemedyRow
from wallwatch_backend.remedies.signing import rfc3339

RESULTS = Counter("wallwatch_remedy_results", "Results that agents reported", ["operation", "state"])


ONLY_CLAIMED = frozenset({"bad_signature", "unknown_key", "malformed"})
"""Codes whose ids are what a rejected message claimed: somebody else may have made them up."""
REFUSALS = ONLY_CLAIMED | {
    "wrong_host", "unknown_action", "bad_parameter", "retired_key", "expired", "not_yet_valid", "precondition_failed", "nothing_to_undo"
}  # fmt: skip

Outcome = Literal["applied", "known", "rejected", "unknown_command", "other_remedy", "contradicts"]
WRONG = frozenset({"rejected", "unknown_command", "other_remedy", "contradicts"})
"""Outcomes that an honest agent, with nobody between it and the server, never causes."""


def _storable(text: str) -> str:
    """What PostgreSQL can hold: a character that it cannot must not keep an agent from being heard."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}").encode(errors="replace").decode()


ClaimedId = Annotated[UUID | None, BeforeValidator(lambda value: None if value == "" else value)]
Text = Annotated[str, AfterValidator(_storable)]


class AgentOperation(BaseModel):
    """One operation, as an agent tells of it: text, or null where a key or file is absent."""

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
    new: Count = Field(default=0, description="Of the orphaned, those that were not there before the remedy")
    examples: list[Text] = Field(default=[], max_length=20)
    error: Text | None = Field(default=None, max_length=1000)


class AgentResult(BaseModel):
    """Message `result` of the capability `com.wallwatch.remedy.v1` (docs/contracts.md)."""

    model_config = ConfigDict(extra="ignore")

    command_id: ClaimedId = Field(description="None where a message was rejected that named none")
    remedy_id: ClaimedId = None
    state: Literal["done", "failed", "refused"]
    code: Text | None = Field(default=None, max_length=100)
    message: Text | None = Field(default=None, max_length=4000)
    repeated: bool = False
    operations: list[AgentOperation] | None = Field(default=None, max_length=100)
    finished_at: AwareDatetime | None = None
    tc_audit: AgentAudit | None = None


async def apply_result(session: WriteSession, host: str, result: AgentResult) -> Outcome:
    """Apply a result, and say whether it could be.

    A result is taken even after its command expired here: the host did it, whatever our clock says. A rejection settles nothing: whoever
    can send a spoilt copy of a command to its agent would otherwise have us call it refused while the agent carries the command out.
    """
    command = await repository.command_locked(session, result.command_id, host) if result.command_id is not None else None
    if result.state == "refused" and result.code in ONLY_CLAIMED:
        if command is not None and command.state in repository.OPEN:
            command.code, command.message = result.code, result.message or None
        return "rejected"
    if command is None:
        return "unknown_command"
    if result.remedy_id is not None and result.remedy_id != command.remedy_id:
        return "other_remedy"
    if command.state in ("done", "failed", "refused") and command.code != "busy":  # a second copy was too much, the first one may have run
        same = (command.state, command.code or "") == (result.state, result.code or "")
        return "known" if same else "contradicts"
    remedy = await repository.one_locked(session, command.remedy_id)
    if remedy is None:
        return "unknown_command"
    at = clock.now()
    # A host's clock may run ahead. And telemetry from before the order proves nothing of it, whatever the agent says.
    finished_at = min(max(result.finished_at or at, command.issued_at), at)
    command.state, command.code, command.message = result.state, result.code or None, result.message or None
    command.finished_at, command.result = finished_at, result.model_dump(mode="json")
    remedy.updated_at = at
    if result.operations and (command.operation != "undo"):
        remedy.operations = [operation.model_dump(mode="json") for operation in result.operations]
    RESULTS.labels(command.operation, result.state).inc()
    if remedy.action == plans.APPLY and command.operation != "dry_run":
        await answered(session, remedy, command)
    if result.state == "done":
        _done(remedy, command, finished_at)
    elif command.operation == "undo":
        pass  # the remedy is still applied; the command says why it could not be undone
    else:
        remedy.state, remedy.code, remedy.message = result.state, command.code, command.message
    if result.state == "done" or command.operation != "undo":
        await telling.tell(session, remedy)
    await _tell(session, host, remedy, command)
    return "applied"


def _done(remedy: RemedyRow, command: CommandRow, finished_at: datetime) -> None:
    remedy.code = remedy.message = None
    if command.operation == "dry_run":
        remedy.state = "planned"
    elif command.operation == "undo":
        remedy.state = "undone"
    else:
        remedy.state, remedy.applied_at = "applied", finished_at
        remedy.verification = first_verification(remedy.action, remedy.params, finished_at)


def first_verification(action_id: str, params: dict[str, Any], applied_at: datetime) -> dict[str, Any]:
    """What telemetry is to show, before any was read.

    >>> from datetime import UTC
    >>> first_verification("tune-revalidator", {}, datetime(2026, 1, 1, tzinfo=UTC))["deadline"]
    '2026-01-01T00:03:00.000Z'
    """
    action = actions.action_of(action_id)
    verification = action.verification
    label, unit = actions.signal_label(action)
    return {
        "signal": verification.signal,
        "label": label,
        "unit": unit,
        "expected": verification.expected_with(params),
        "for_s": verification.for_s,
        "measured": None,
        "measured_at": None,
        "deadline": rfc3339(applied_at + timedelta(seconds=verification.within_s)),
    }


async def _tell(session: WriteSession, host: str, remedy: RemedyRow, command: CommandRow) -> None:
    outcome: audit.Outcome = "ok" if command.state == "done" else "refused" if command.state == "refused" else "failed"
    audit.record(
        session,
        f"agent:{host}",
        f"remedy.{command.operation}.result",
        f"{host} {remedy.pci or ''}".strip(),
        outcome=outcome,
        remedy_id=str(remedy.id),
        command_id=str(command.id),
        remedy_action=remedy.action,
        code=command.code,
    )
    verb = {"dry_run": "planned", "apply": "applied", "undo": "undid"}[command.operation]
    if command.state == "done":
        text = f"The agent {verb} {remedy.action}."
    else:
        operation = command.operation.replace("_", " ")
        why = command.message or command.code or "no reason given"
        text = f"{operation.capitalize()} of {remedy.action}: the agent says {command.state} ({why})."
    await note_remedy(session, remedy.incident_id, f"agent:{host}", text)
    extra = {"host": remedy.host, "pci": remedy.pci} if remedy.action == CORDON else {}
    await changes.announce(session, "remedy", remedy.id, remedy.state, **extra)


async def expire_command(session: WriteSession, command_id: UUID, host: str) -> bool:
    """Note that no answer came in time."""
    await repository.hold(session, [command_id])
    command = await repository.command_locked(session, command_id, host)
    if command is None or command.state not in repository.OPEN:
        return False
    remedy = await repository.one_locked(session, command.remedy_id)
    if remedy is None:
        return False
    never_sent = command.state == "pending"
    why = "The agent was not connected." if never_sent else "The agent took the command and did not answer; look at the host."
    if command.code in ONLY_CLAIMED:
        said = command.message or "no reason given"
        why = f"The agent rejected a message that named this command ({command.code}: {said}) and gave no other answer; look at the host."
    at = clock.now()
    command.state, command.message, command.finished_at = "expired", why, at
    if command.operation != "undo":
        remedy.state, remedy.code, remedy.message, remedy.updated_at = "expired", command.code, why, at
        await telling.tell(session, remedy)
    remedy.updated_at = at
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
    await note_remedy(session, remedy.incident_id, "wallwatch", f"No answer to {command.operation} of {remedy.action}. {why}")
    await changes.announce(session, "remedy", remedy.id, remedy.state)
    return True
