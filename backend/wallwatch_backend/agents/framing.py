"""OpAMP's form of a WebSocket message: a header, which is the varint 0, and then a protobuf message."""

from uuid import UUID

import orjson
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]  # protobuf ships no types
from opentelemetry._opamp.proto import opamp_pb2

_HEADER = b"\x00"

SERVER_CAPABILITIES = int(opamp_pb2.ServerCapabilities_AcceptsStatus) | int(opamp_pb2.ServerCapabilities_OffersRemoteConfig)
ACCEPTS_CONFIG = int(opamp_pb2.AgentCapabilities_AcceptsRemoteConfig)
CONFIG_FAILED = int(opamp_pb2.RemoteConfigStatuses_FAILED)
REPORT_FULL_STATE = int(opamp_pb2.ServerToAgentFlags_ReportFullState)
REMEDY_CAPABILITY = "com.wallwatch.remedy.v1"


class BadFrame(ValueError):
    """The bytes are no OpAMP message."""


def decode(frame: bytes) -> opamp_pb2.AgentToServer:
    """Read a message of an agent.

    Raises
    ------
    BadFrame
        When the header is not 0 or the rest is no protobuf message.
    """
    if not frame.startswith(_HEADER):
        raise BadFrame("the header of the message is not 0")
    try:
        message: opamp_pb2.AgentToServer = opamp_pb2.AgentToServer.FromString(frame[len(_HEADER) :])
    except DecodeError as error:
        raise BadFrame("the message is not an AgentToServer") from error
    return message


def encode(message: opamp_pb2.ServerToAgent) -> bytes:
    body: bytes = message.SerializeToString()
    return _HEADER + body


def reply(instance_uid: bytes, *, report_full_state: bool = False) -> opamp_pb2.ServerToAgent:
    """An answer with what this server can do; `report_full_state` asks the agent to say everything again."""
    message = opamp_pb2.ServerToAgent(instance_uid=instance_uid, capabilities=SERVER_CAPABILITIES)
    if report_full_state:
        message.flags = REPORT_FULL_STATE
    message.custom_capabilities.capabilities.append(REMEDY_CAPABILITY)
    return message


def command(instance_uid: bytes, jws: str) -> opamp_pb2.ServerToAgent:
    """A signed command as a custom message."""
    message = opamp_pb2.ServerToAgent(instance_uid=instance_uid)
    message.custom_message.capability = REMEDY_CAPABILITY
    message.custom_message.type = "command"
    message.custom_message.data = jws.encode()
    return message


def attachment(instance_uid: bytes, command_id: str, name: str, sha256: str, content: bytes) -> opamp_pb2.ServerToAgent:
    """What goes before a command that is too long for one: a line of JSON, and gzip."""
    header = {"command_id": command_id, "name": name, "sha256": sha256, "bytes": len(content), "part": 1, "parts": 1}
    message = opamp_pb2.ServerToAgent(instance_uid=instance_uid)
    message.custom_message.capability = REMEDY_CAPABILITY
    message.custom_message.type = "attachment"
    message.custom_message.data = orjson.dumps(header) + b"\n" + content
    return message


def ack(instance_uid: bytes, command_id: UUID) -> opamp_pb2.ServerToAgent:
    """Tell an agent that a command's result is stored, so that it does not send it again."""
    message = opamp_pb2.ServerToAgent(instance_uid=instance_uid)
    message.custom_message.capability = REMEDY_CAPABILITY
    message.custom_message.type = "ack"
    message.custom_message.data = orjson.dumps({"command_id": str(command_id)})
    return message


def key(instance_uid: bytes, jws: str) -> opamp_pb2.ServerToAgent:
    """An introduction of a command key as a custom message."""
    message = opamp_pb2.ServerToAgent(instance_uid=instance_uid)
    message.custom_message.capability = REMEDY_CAPABILITY
    message.custom_message.type = "key"
    message.custom_message.data = jws.encode()
    return message


def error(instance_uid: bytes, text: str) -> opamp_pb2.ServerToAgent:
    message = opamp_pb2.ServerToAgent(instance_uid=instance_uid)
    message.error_response.type = opamp_pb2.ServerErrorResponseType_BadRequest
    message.error_response.error_message = text
    return message


def attribute(message: opamp_pb2.AgentToServer, key: str) -> str | None:
    """A text attribute of the agent's description."""
    for pair in (*message.agent_description.identifying_attributes, *message.agent_description.non_identifying_attributes):
        if pair.key == key and pair.value.string_value:
            return str(pair.value.string_value)
    return None
