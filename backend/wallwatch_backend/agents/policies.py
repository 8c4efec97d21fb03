"""The compiled policies that agents get as OpAMP remote configuration."""

from functools import cache
from typing import NamedTuple

import orjson
from opentelemetry._opamp.proto import opamp_pb2

from wallwatch.domain.policies.load import policies
from wallwatch.domain.policies.tables import tables

FILE = "policies.json"


class Compiled(NamedTuple):
    """The file, and the hash that stands in it: it is the configuration's hash too."""

    hash: bytes
    body: bytes


@cache
def current() -> Compiled:
    """The catalogue's policies for hosts; compiled once in a process, in some tens of milliseconds."""
    body = tables(policies().values())
    return Compiled(orjson.loads(body)["hash"].encode(), body)


def offer(message: opamp_pb2.ServerToAgent, compiled: Compiled) -> None:
    """Put the policies into a message to an agent."""
    file = message.remote_config.config.config_map[FILE]
    file.body, file.content_type = compiled.body, "application/json"
    message.remote_config.config_hash = compiled.hash
