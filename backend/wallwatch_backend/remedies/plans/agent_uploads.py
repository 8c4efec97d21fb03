"""What agents send in addition to results: the flows that they read, in parts, and the progress of applying a plan."""

import hashlib
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

import structlog
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from wallwatch_backend.kit import changes, clock
from wallwatch_backend.kit.database import Database, WriteSession
from wallwatch_backend.remedies.models import CommandRow, RemedyRow
from wallwatch_backend.remedies.orders.actions import MASK_PLAN
from wallwatch_backend.remedies.plans import repository
from wallwatch_backend.remedies.plans.states import PlanState

log = structlog.get_logger(__name__)

MAX_BYTES = 16 << 20
"""Compressed; 15,000 flows twice are about 2 MB."""
EXTENSION = timedelta(seconds=60)
"""An agent that reports progress is alive: Wallwatch waits this much longer for its result."""
MAX_EXTENSION = timedelta(minutes=15)
"""Since the order: an agent gives up after 5 minutes and rolls back for 2. Progress alone must not block the host."""


class Part(BaseModel):
    """First line of the message `attachment`."""

    model_config = ConfigDict(extra="ignore")

    command_id: UUID
    name: str = Field(max_length=40)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    bytes: int = Field(ge=0, le=MAX_BYTES)
    part: int = Field(ge=1)
    parts: int = Field(ge=1, le=64)


class ProgressMessage(BaseModel):
    model_config = ConfigDict(extra="ignore")

    command_id: UUID
    done: int = Field(ge=0)
    total: int = Field(ge=1)


class BadAttachment(ValueError):
    """The attachment cannot be used; the message is for the log."""


@dataclass
class Upload:
    """The attachment that is arriving over one connection; a new one replaces an incomplete one."""

    header: Part | None = None
    content: bytearray = field(default_factory=bytearray)

    def add(self, message: bytes) -> tuple[Part, bytes] | None:
        """Add a part; return the complete attachment after the last one.

        Raises
        ------
        BadAttachment

        Examples
        --------
        >>> import hashlib, orjson
        >>> head = {"command_id": "6f3c2c8e-1111-4222-8333-9d1d0a2b7c11", "name": "flows", "bytes": 4, "parts": 2}
        >>> head["sha256"] = hashlib.sha256(b"abcd").hexdigest()
        >>> upload = Upload()
        >>> upload.add(orjson.dumps({**head, "part": 1}) + b"\\nab")
        >>> upload.add(orjson.dumps({**head, "part": 2}) + b"\\ncd")[1]
        b'abcd'
        """
        line, _, chunk = message.partition(b"\n")
        try:
            header = Part.model_validate_json(line)
        except ValidationError as bad:
            raise BadAttachment(f"its header: {bad.errors()[0]['msg']}") from None
        if header.part == 1:
            self.header, self.content = header, bytearray()
        previous = self.header
        next_part = previous.part + 1 if previous is not None and header.part > 1 else 1
        if previous is None or header.part != next_part or header.sha256 != previous.sha256:
            self.header = None
            raise BadAttachment(f"part {header.part} of {header.parts} does not follow")
        self.header = header
        self.content += chunk
        if len(self.content) > header.bytes:
            self.header = None
            raise BadAttachment("it is longer than its header says")
        if header.part < header.parts:
            return None
        self.header, content = None, bytes(self.content)
        self.content = bytearray()
        if len(content) != header.bytes or hashlib.sha256(content).hexdigest() != header.sha256:
            raise BadAttachment("its content does not match its header")
        return header, content


async def store(database: Database, host: str, header: Part, content: bytes) -> bool:
    """Store flows with their plan; return False if they were not requested from this host."""
    if header.name != "flows":
        return False
    async with database.write() as session:
        command_and_remedy = await repository.command(session, header.command_id, host)
        if command_and_remedy is None:
            return False
        command, remedy = command_and_remedy
        if remedy.action == repository.READ_FLOWS:
            row = await repository.read_by(session, remedy.id)
            if row is None or row.state != PlanState.reading:
                return row is not None  # sent again: known already
            row.state, row.flows = PlanState.planning, content
        elif remedy.action == MASK_PLAN and command.operation in ("apply", "undo"):
            row = await repository.one_locked(session, UUID(remedy.params["plan"]))
            if row is None:
                return False
            row.flows_after = content
            row.aftermath = {"state": "waiting", "operation": command.operation, "command_id": str(command.id)}
        else:
            return False
        row.updated_at = clock.now()
        await changes.announce(session, "plan", row.id, row.state)
    return True


async def note_progress(database: Database, host: str, message: bytes) -> bool:
    """Store the progress of an apply or undo; return False if this host does not run it."""
    try:
        progress = ProgressMessage.model_validate_json(message)
    except ValidationError:
        return False
    async with database.write() as session:
        command_and_remedy = await repository.command(session, progress.command_id, host)
        if command_and_remedy is None:
            return False
        command, remedy = command_and_remedy
        if remedy.action != MASK_PLAN or command.operation == "dry_run":
            return False
        row = await repository.one_locked(session, UUID(remedy.params["plan"]))
        if row is None or command.finished_at is not None:
            return row is not None
        at = clock.now()
        done = min(progress.done, progress.total)
        row.progress = {"operation": command.operation, "done": done, "total": progress.total, "at": at.isoformat()}
        row.updated_at = at
        command.expires_at = max(command.expires_at, min(at + EXTENSION, command.issued_at + MAX_EXTENSION))
        await changes.announce(session, "plan", row.id, row.state)
    return True


async def answered(session: WriteSession, remedy: RemedyRow, command: CommandRow) -> None:
    """Note the end of an apply or undo; without the flows afterwards nothing can be checked."""
    row = await repository.one_locked(session, UUID(remedy.params["plan"]))
    if row is None:
        return
    row.progress, row.updated_at = None, clock.now()
    if (row.aftermath or {}).get("command_id") != str(command.id):
        message = "The agent's result came without the flows afterwards."
        row.aftermath = {"state": "not_checked", "operation": command.operation, "command_id": str(command.id), "message": message}
        row.flows_after = None
    await changes.announce(session, "plan", row.id, row.state)
