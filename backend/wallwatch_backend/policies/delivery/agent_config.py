"""The policies that agents run, compiled into their OpAMP remote configuration: the catalogue's that are enabled, and
operators' own."""

import asyncio
from collections.abc import Sequence
from typing import Any, NamedTuple

import orjson
import structlog
from prometheus_client import Gauge
from pydantic import ValidationError
from sqlalchemy import Row

from wallwatch.domain.ltl.limits import TooComplex
from wallwatch.domain.policies.load import policies as catalogue
from wallwatch.domain.policies.models import Policy
from wallwatch.domain.policies.tables import DoesNotFit, tables
from wallwatch_backend.hosts.connections.capabilities import ConfigFile
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.database import Database
from wallwatch_backend.policies.registry import repository

log = structlog.get_logger(__name__)
LEFT_OUT = Gauge("wallwatch_policies_left_out", "Enabled policies that could not be compiled and are not delivered")

FILE = "policies.json"


class Compiled(NamedTuple):
    """The file, its hash (also the configuration's), the version of each policy, and those left out, with reasons."""

    hash: bytes
    body: bytes
    versions: dict[str, int]
    left_out: list[str]


class PolicyFile:
    """The compiled enabled policies, compiled once and again after `changed`.

    Implements `RemoteConfiguration` of `hosts.connections`.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._compiled: Compiled | None = None
        self._changes = 0
        self._compiling = asyncio.Lock()

    def changed(self) -> None:
        """Compile again: a policy was enabled or disabled, or may have been."""
        self._changes += 1
        self._compiled = None

    async def config_file(self) -> ConfigFile:
        """Return the compiled policies as the agents' remote configuration."""
        compiled = await self.current()
        return ConfigFile(compiled.hash, FILE, compiled.body, "application/json")

    async def current(self) -> Compiled:
        """Return the compiled policies; compiling takes tens of milliseconds, in a thread."""
        async with self._compiling:
            while self._compiled is None:
                changes = self._changes
                async with self._database.read() as session:
                    rows = await repository.in_force(session)
                compiled = await asyncio.to_thread(compile_all, rows)
                async with self._database.write() as session:
                    await repository.keep_tables(session, compiled.hash.decode(), clock.now(), compiled.versions)
                LEFT_OUT.set(len(compiled.left_out))
                if changes == self._changes:
                    self._compiled = compiled
            return self._compiled


def compile_all(rows: Sequence[Row[Any]]) -> Compiled:
    """Compile the enabled policies. One that cannot be used after an upgrade is left out; the others stay."""
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
