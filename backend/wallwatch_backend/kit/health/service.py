"""Readiness: database, migrations and Kafka."""

import asyncio
import time

from confluent_kafka import KafkaException, Producer
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from wallwatch import kafka_clients
from wallwatch.kafka_settings import KafkaSettings
from wallwatch_backend.kit.database import Database
from wallwatch_backend.kit.health.schemas import Check, Readiness

REQUIRED_REVISION = "0035"
_KAFKA_TIMEOUT_S = 3
_KAFKA_KEPT_S = 5.0  # frequent probes must not ask the brokers each time


class KafkaProbe:
    """Asks Kafka for its brokers, at most every five seconds."""

    def __init__(self, kafka: KafkaSettings) -> None:
        self._kafka = kafka
        self._client: Producer | None = None
        self._last: tuple[float, Check] | None = None
        self._lock = asyncio.Lock()

    async def check(self) -> Check:
        async with self._lock:
            if self._last is None or time.monotonic() - self._last[0] > _KAFKA_KEPT_S:
                self._last = (time.monotonic(), await asyncio.to_thread(self._ask))
            return self._last[1]

    def _ask(self) -> Check:
        if self._client is None:
            self._client = kafka_clients.producer(self._kafka, {"log_level": 2})
        try:
            metadata = self._client.list_topics(timeout=_KAFKA_TIMEOUT_S)
        except KafkaException as error:
            return Check(ok=False, detail=f"{self._kafka.kafka_bootstrap} does not answer: {error.args[0].str()}")
        return Check(ok=True, detail=f"{len(metadata.brokers)} broker(s)")


async def _database(database: Database) -> tuple[Check, Check]:
    try:
        async with database.read() as session:
            await session.execute(text("SELECT 1"))
            exists = (await session.execute(text("SELECT to_regclass('alembic_version') IS NOT NULL"))).scalar_one()
            revision = (await session.execute(text("SELECT max(version_num) FROM alembic_version"))).scalar_one() if exists else None
    except (SQLAlchemyError, OSError) as error:
        unreachable = Check(ok=False, detail=f"does not answer: {str(error).splitlines()[0][:200]}")
        return unreachable, Check(ok=False, detail="unknown while the database does not answer")
    if revision is None or revision < REQUIRED_REVISION:
        revision_now = revision or "none"
        return Check(ok=True, detail="answers"), Check(
            ok=False, detail=f"at {revision_now}, needs {REQUIRED_REVISION}: run `wallwatch db upgrade`"
        )
    return Check(ok=True, detail="answers"), Check(ok=True, detail=f"at {revision}")


async def readiness(database: Database, probe: KafkaProbe) -> Readiness:
    (db, migrations), kafka = await asyncio.gather(_database(database), probe.check())
    checks = {"database": db, "migrations": migrations, "kafka": kafka}
    return Readiness(status="ready" if all(check.ok for check in checks.values()) else "not_ready", checks=checks)
