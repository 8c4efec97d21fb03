"""OpAMP messages over a WebSocket: a header, the varint 0, and then a protobuf message."""

from collections.abc import Iterable

from google.protobuf.message import DecodeError  # type: ignore[import-untyped]  # protobuf ships no types
from opentelemetry._opamp.proto import opamp_pb2

from wallwatch_backend.hosts.connections.capabilities import ConfigFile, CustomMessage

_HEADER = b"\x00"

SERVER_CAPABILITIES = int(opamp_pb2.ServerCapabilities_AcceptsStatus) | int(opamp_pb2.ServerCapabilities_OffersRemoteConfig)
ACCEPTS_CONFIG = int(opamp_pb2.AgentCapabilities_AcceptsRemoteConfig)
CONFIG_FAILED = int(opamp_pb2.RemoteConfigStatuses_FAILED)
REPORT_FULL_STATE = int(opamp_pb2.ServerToAgentFlags_ReportFullState)


class BadFrame(ValueError):
    """The bytes are not an OpAMP message."""


def decode(frame: bytes) -> opamp_pb2.AgentToServer:
    """Decode a message from an agent.

    Raises
    ------
    BadFrame
        When the header is not 0 or the rest is not a protobuf message.
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


def reply(instance_uid: bytes, capabilities: Iterable[str], *, report_full_state: bool = False) -> opamp_pb2.ServerToAgent:
    """Return an answer with the server's capabilities; `report_full_state` makes the agent report everything again."""
    message = opamp_pb2.ServerToAgent(instance_uid=instance_uid, capabilities=SERVER_CAPABILITIES)
    if report_full_state:
        message.flags = REPORT_FULL_STATE
    message.custom_capabilities.capabilities.extend(capabilities)
    return message


def custom(instance_uid: bytes, capability: str, message: CustomMessage) -> opamp_pb2.ServerToAgent:
    """Return a message that carries a custom message of a capability."""
    carrier = opamp_pb2.ServerToAgent(instance_uid=instance_uid)
    carrier.custom_message.capability = capability
    carrier.custom_message.type = message.type
    carrier.custom_message.data = message.data
    return carrier


def add_config(message: opamp_pb2.ServerToAgent, config: ConfigFile) -> None:
    """Offer a remote configuration in a message."""
    file = message.remote_config.config.config_map[config.name]
    file.body, file.content_type = config.content, config.content_type
    message.remote_config.config_hash = config.hash


def error(instance_uid: bytes, text: str) -> opamp_pb2.ServerToAgent:
    message = opamp_pb2.ServerToAgent(instance_uid=instance_uid)
    message.error_response.type = opamp_pb2.ServerErrorResponseType_BadRequest
    message.error_response.error_message = text
    return message


def attribute(message: opamp_pb2.AgentToServer, key: str) -> str | None:
    """Return a text attribute of the agent's description."""
    for pair in (*message.agent_description.identifying_attributes, *message.agent_description.non_identifying_attributes):
        if pair.key == key and pair.value.string_value:
            return str(pair.value.string_value)
    return None


def storable(text: str, max_length: int) -> str:
    """Return an agent's text without NUL characters, which PostgreSQL cannot store, and cut to a length."""
    return text.replace("\0", "")[:max_length]
