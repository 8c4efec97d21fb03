"""Settings: read once from the environment, passed down. The backend derives its own class from `SharedSettings`."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict


class SharedSettings(BaseSettings):
    """Settings that jobs, commands and the backend share, in the environment with a prefix: `WALLWATCH_DATABASE_URL`."""

    model_config = SettingsConfigDict(env_prefix="WALLWATCH_", extra="ignore")

    database_url: str = Field(
        default="postgresql+psycopg://wallwatch@127.0.0.1:5432/wallwatch",
        description="PostgreSQL with TimescaleDB, as an SQLAlchemy address",
    )
    kafka_bootstrap: str = Field(default="127.0.0.1:9092", description="Kafka brokers, host:port separated by commas")
    log_level: str = Field(default="INFO", description="DEBUG, INFO, WARNING or ERROR")

    @field_validator("database_url")
    @classmethod
    def _psycopg_address(cls, value: str) -> str:
        for plain in ("postgresql://", "postgres://"):
            if value.startswith(plain):
                return "postgresql+psycopg://" + value.removeprefix(plain)
        if not value.startswith("postgresql+psycopg://"):
            raise ValueError("must start with postgresql+psycopg://, for example postgresql+psycopg://user@host:5432/wallwatch")
        return value

    @property
    def libpq_url(self) -> str:
        """The address in the form that psycopg itself takes."""
        return self.database_url.replace("postgresql+psycopg://", "postgresql://", 1)


class Settings(SharedSettings):
    """Settings of jobs and commands."""

    model_config = SettingsConfigDict(frozen=True)

    api_url: str = Field(default="http://127.0.0.1:8000", description="where `wallwatch status` finds the API")
    state_dir: Path = Field(default=Path(".local/state"), description="folder of the stream jobs' local state (RocksDB)")
    metrics_port: int = Field(default=0, ge=0, le=65535, description="port of a job's own Prometheus metrics; 0 serves none")

    ingest_group: str = Field(default="wallwatch-ingest", description="Kafka consumer group of ingest")
    ingest_flush_ms: int = Field(default=250, ge=10, le=10_000, description="longest time that a sample waits for its transaction, in ms")
    ingest_batch_rows: int = Field(default=20_000, ge=1, description="messages after which a transaction starts at once")
    retention_days: int = Field(
        default=7, ge=1, description="how long samples are kept (Apache edition; the Community edition has policies)"
    )
    rollup_retention_days: int = Field(default=90, ge=1, description="how long one-minute aggregates are kept (Apache edition)")
    future_tolerance_s: int = Field(default=600, ge=0, description="a sample from further in the future than this is refused, in seconds")

    classify_group: str = Field(default="wallwatch-classify", description="Kafka consumer group of classify")
    classify_commit_s: float = Field(
        default=5.0, gt=0, description="time between two checkpoints of classify, in seconds; what came since is read again after a kill"
    )

    validate_patience_s: float = Field(
        default=30.0, gt=0, description="how long after its time an event may still reach validate without being late, in seconds"
    )
    validate_most_subjects: int = Field(
        default=1_000_000, ge=1, description="most subjects of a policy that validate watches at a time, about 1 kB each"
    )
    validate_checkpoint_s: float = Field(default=10.0, gt=0, description="time between two checkpoints of validate, in seconds")

    forecast_models: Path | None = Field(
        default=None, description="folder of trained forecast models (the registry); `forecast` in the state folder unless given"
    )
    forecast_promote_better: bool = Field(
        default=False,
        description="let `forecast` promote a challenger by itself when it was better on live data for a day; otherwise somebody does",
    )
    forecast_keep_s: float | None = Field(
        default=None,
        ge=0,
        description="least time between two forecasts of an RNIC that are kept, 2 kB each; unless given 60, and longer for more than "
        "8,000 RNICs: 300 for 40,000",
    )
    forecast_delay_s: float = Field(
        default=15.0, ge=0, lt=60, description="how long after the end of a minute its samples are awaited before forecasting, in seconds"
    )

    @property
    def registry_dir(self) -> Path:
        """Where trained forecast models are."""
        return self.forecast_models or self.state_dir / "forecast"
