"""The messages that carry commands to agents (docs/contracts.md, "Backend ↔ agent")."""

from uuid import UUID

import orjson

from wallwatch_backend.hosts.connections.capabilities import CustomMessage


def command(jws: str) -> CustomMessage:
    """A signed command."""
    return CustomMessage("command", jws.encode())


def attachment(command_id: UUID, name: str, sha256: str, content: bytes) -> CustomMessage:
    """Content too long for a command, sent before it: a line of JSON, then the compressed bytes."""
    header = {"command_id": str(command_id), "name": name, "sha256": sha256, "bytes": len(content), "part": 1, "parts": 1}
    return CustomMessage("attachment", orjson.dumps(header) + b"\n" + content)


def acknowledgement(command_id: UUID) -> CustomMessage:
    """Confirms that a command's result is stored, so that the agent does not send it again."""
    return CustomMessage("ack", orjson.dumps({"command_id": str(command_id)}))
