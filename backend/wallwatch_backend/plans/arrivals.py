"""What agents send beside results: flows in parts, and how far an apply has come."""

import hashlib
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

import structlog
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from wallwatch_backend.kit import changes, clock
from wallwatch_backend.kit.database import Database, WriteSession
from wallwatch_backend.plans import repository
from wallwatch_backend.remedies.models import CommandRow, RemedyRow

log = structlog.get_logger(__name__)

MOST_BYTES = 16 << 20
"""Packed; 15,000 flows twice are some 2 MB."""
PATIENCE = timedelta(seconds=60)
"""An agent that tells of progress lives: its result is awaited for so much longer."""
MOST_PATIENCE = timedelta(minutes=15)
"""After the order: an agent gives up after 5 minutes and takes back for 2. Progress alone must not hold a host's place for ever."""


class Part(BaseModel):
    """First line of the message `attachment`."""

    model_config = ConfigDict(extra="ignore")

    command_id: UUID
    name: str = Field(max_length=40)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    bytes: int = Field(ge=0, le=MOST_BYTES)
    part: int = Field(ge=1)
    parts: int = Field(ge=1, le=64)


class ProgressMessage(BaseModel):
    model_config = ConfigDict(extra="ignore")

    command_id: UUID
    done: int = Field(ge=0)
    total: int = Field(ge=1)


class BadAttachment(ValueError):
    """It cannot be used; the message is for the log."""


@dataclass
class Attachments:
    """The attachment that is arriving over one connection; a new one takes the place of one that was not completed."""

    header: Part | None = None
    content: bytearray = field(default_factory=bytearray)

    def add(self, message: bytes) -> tuple[Part, bytes] | None:
        """Take a part; return the whole when it was the last.

        Raises
        ------
        BadAttachment

        Examples
        --------
        >>> import hashlib, orjson
        >>> head = {"command_id": "6f3c2c8e-1111-4222-8333-9d1d0a2b7c11", "name": "flows", "bytes": 4, "parts": 2}
        >>> head["sha256"] = hashlib.sha256(b"abcd").hexdigest()
        >>> held = Attachments()
        >>> held.add(orjson.dumps({**head, "part": 1}) + b"\\nab")
        >>> held.add(orjson.dumps({**head, "part": 2}) + b"\\ncd")[1]
        b'abcd'
        """
        line, _, chunk = message.partition(b"\n")
        try:
            header = Part.model_validate_json(line)
        except ValidationError as bad:
            raise BadAttachment(f"its header: {bad.errors()[0]['msg']}") from None
        if header.part == 1:
            self.header, self.content = header, bytearray()
        held = self.header
        if held is None or header.model_copy(update={"part": held.part + (header.part > 1)}) != header or header.sha256 != held.sha256:
            self.header = None
            raise BadAttachment(f"part {header.part} of {header.parts} does not follow")
        self.header = header
        self.content += chunk
        if len(self.content) > header.bytes:
            self.header = None
            raise BadAttachment("it is longer than its header says")
        if header.part < header.parts:
            return None
        self.header, whole = None, bytes(self.content)
        self.content = bytearray()
        if len(whole) != header.bytes or hashlib.sha256(whole).hexdigest() != header.sha256:
            raise BadAttachment("its content is not what its header says")
        return header, whole


async def take(database: Database, host: str, header: Part, content: bytes) -> bool:
    """Put flows where they belong; False when this host was not asked for them."""
    if header.name != "flows":
        return False
    async with database.write() as session:
        found = await repository.command(session, header.command_id, host)
        if found is None:
            return False
        command, remedy = found
        if remedy.action == repository.READ:
            row = await repository.read_by(session, remedy.id)
            if row is None or row.state != "reading":
                return row is not None  # sent again: known already
            row.state, row.flows = "planning", content
        elif remedy.action == repository.APPLY and command.operation in ("apply", "undo"):
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
    """Note how far an apply or undo has come; False when it is none of this host's."""
    try:
        told = ProgressMessage.model_validate_json(message)
    except ValidationError:
        return False
    async with database.write() as session:
        found = await repository.command(session, told.command_id, host)
        if found is None or found[1].action != repository.APPLY or found[0].operation == "dry_run":
            return False
        command, remedy = found
        row = await repository.one_locked(session, UUID(remedy.params["plan"]))
        if row is None or command.finished_at is not None:
            return row is not None
        at = clock.now()
        row.progress = {"operation": command.operation, "done": min(told.done, told.total), "total": told.total, "at": at.isoformat()}
        row.updated_at = at
        command.expires_at = max(command.expires_at, min(at + PATIENCE, command.issued_at + MOST_PATIENCE))
        await changes.announce(session, "plan", row.id, row.state)
    return True


async def answered(session: WriteSession, remedy: RemedyRow, command: CommandRow) -> None:
    """Note the end of an apply or undo; without the flows afterwards there is nothing to prove."""
    row = await repository.one_locked(session, UUID(remedy.params["plan"]))
    if row is None:
        return
    row.progress, row.updated_at = None, clock.now()
    if (row.aftermath or {}).get("command_id") != str(command.id):
        message = "The agent's answer came without the flows afterwards."
        row.aftermath = {"state": "not_checked", "operation": command.operation, "command_id": str(command.id), "message": message}
        row.flows_after = None
    await changes.announce(session, "plan", row.id, row.state)
