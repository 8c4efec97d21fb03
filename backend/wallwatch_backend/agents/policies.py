"""The compiled policies that agents get as OpAMP remote configuration: the catalogue's, but for those switched off, and operators' own."""

import asyncio
from collections.abc import Sequence
from typing import Any, NamedTuple

import orjson
import structlog
from opentelemetry._opamp.proto import opamp_pb2
from prometheus_client import Gauge
from pydantic import ValidationError
from sqlalchemy import Row

from wallwatch.domain.ltl.limits import TooComplex
from wallwatch.domain.policies.load import policies as catalogue
from wallwatch.domain.policies.models import Policy
from wallwatch.domain.policies.tables import DoesNotFit, tables
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.database import Database
from wallwatch_backend.policies import repository

log = structlog.get_logger(__name__)
LEFT_OUT = Gauge("wallwatch_policies_left_out", "Enabled policies that could not be compiled and are not delivered")

FILE = "policies.json"


class Compiled(NamedTuple):
    """The file, the hash that stands in it (it is the configuration's hash too), the version of each policy, and what is missing."""

    hash: bytes
    body: bytes
    versions: dict[str, int]
    left_out: list[str]


def offer(message: opamp_pb2.ServerToAgent, compiled: Compiled) -> None:
    """Put the policies into a message to an agent."""
    file = message.remote_config.config.config_map[FILE]
    file.body, file.content_type = compiled.body, "application/json"
    message.remote_config.config_hash = compiled.hash


class PolicyFile:
    """The tables of today, made once and again after `changed`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._made: Compiled | None = None
        self._age = 0
        self._making = asyncio.Lock()

    def changed(self) -> None:
        """A policy was enabled or disabled, or it may have been."""
        self._age += 1
        self._made = None

    async def current(self) -> Compiled:
        """The tables; compiling them takes some tens of milliseconds, in a thread."""
        async with self._making:
            while self._made is None:
                age = self._age
                async with self._database.read() as session:
                    rows = await repository.in_force(session)
                made = await asyncio.to_thread(compile_all, rows)
                async with self._database.write() as session:
                    await repository.keep_tables(session, made.hash.decode(), clock.now(), made.versions)
                LEFT_OUT.set(len(made.left_out))
                if age == self._age:
                    self._made = made
            return self._made


def compile_all(rows: Sequence[Row[Any]]) -> Compiled:
    """Compile what is in force. One that cannot be used any more, after an upgrade, is left out; the others go on."""
    switched_off = {row.id for row in rows if not row.own}
    chosen = {id: (policy, 0) for id, policy in catalogue().items() if id not in switched_off and policy.where == "edge"}
    left_out = []
    for row in rows:
        if not row.own or row.definition.get("where") != "edge":
            continue
        try:
            policy = Policy.model_validate(row.definition)
            tables([policy])
        except (ValidationError, DoesNotFit, TooComplex) as problem:
            reason = problem.errors()[0]["msg"] if isinstance(problem, ValidationError) else str(problem)
            log.error("policy_left_out", policy=row.id, version=row.number, reason=reason)
            left_out.append(f"{row.id}: {reason}")
            continue
        chosen[row.id] = (policy, row.number)
    body = tables(policy for policy, _ in chosen.values())
    versions = {id: number for id, (_, number) in chosen.items()}
    return Compiled(orjson.loads(body)["hash"].encode(), body, versions, left_out)
