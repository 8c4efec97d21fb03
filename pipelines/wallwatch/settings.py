"""Settings: read once from the environment and passed down. The backend derives its own class from `SharedSettings`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator
from pydantic_settings import SettingsConfigDict

from wallwatch.database_liveness import with_liveness
from wallwatch.kafka_settings import KafkaSettings


class SharedSettings(KafkaSettings):
    """Settings that jobs, commands and the backend share; environment variables with the prefix `WALLWATCH_`."""

    model_config = SettingsConfigDict(
        env_prefix="WALLWATCH_",
        extra="ignore",
        hide_input_in_errors=True,  # a wrong setting is named without its value, which may be a secret
        env_ignore_empty=True,  # an empty variable is an unset one: Compose cannot leave one out
    )

    database_url: str = Field(
        default="postgresql+psycopg://wallwatch@127.0.0.1:5432/wallwatch",
        description="PostgreSQL with TimescaleDB, as an SQLAlchemy address",
    )
    telemetry_secret_file: Path | None = Field(
        default=None,
        description="file with the fleet's telemetry secret, from which each host's telemetry key comes; the backend creates it with mode "
        "0600. Unset: any producer can write in the name of any host",
    )
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
        """The address in the format that psycopg itself accepts, with what notices a server that is gone."""
        return with_liveness(self.database_url.replace("postgresql+psycopg://", "postgresql://", 1))


class LabDevice(BaseModel):
    """A device of the lab: how it is started, and which RNIC it is."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    command: str = Field(min_length=1, description="starts a process that speaks dut/1")
    model: str | None = Field(default=None, description="model of its profile, such as CX-6")
    host: str | None = Field(default=None, description="of an RNIC of the fleet; it is tested only while it is cordoned")
    pci: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _command_alone(cls, value: Any) -> Any:
        return {"command": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _a_whole_place(self) -> LabDevice:
        if (self.host is None) != (self.pci is None):
            raise ValueError("an RNIC of the fleet needs host and pci")
        return self


class Settings(SharedSettings):
    """Settings of jobs and commands."""

    model_config = SettingsConfigDict(frozen=True)

    api_url: str = Field(default="http://127.0.0.1:8000", description="where `wallwatch status` finds the API")
    state_dir: Path = Field(default=Path(".local/state"), description="folder of what the jobs keep on this machine")
    metrics_port: int = Field(default=0, ge=0, le=65535, description="port of a job's own Prometheus metrics; 0 disables them")

    ingest_group: str = Field(default="wallwatch-ingest", description="Kafka consumer group of ingest")
    ingest_flush_ms: int = Field(
        default=250,
        ge=10,
        le=10_000,
        description="longest time that a sample waits for its transaction, in ms; of several processes that have little to do, "
        "each waits up to three times as long",
    )
    ingest_batch_rows: int = Field(default=20_000, ge=1, description="messages after which a transaction starts immediately")
    retention_days: int = Field(
        default=7, ge=1, description="days to keep samples (Apache edition; the Community edition uses retention policies)"
    )
    rollup_retention_days: int = Field(
        default=90, ge=1, description="days to keep one-minute aggregates (Apache edition); past hours up to a week longer"
    )
    future_tolerance_s: int = Field(default=600, ge=0, description="samples further in the future than this are refused, in seconds")

    classify_group: str = Field(default="wallwatch-classify", description="Kafka consumer group of classify")
    classify_commit_s: float = Field(
        default=20.0,
        gt=0,
        description="time between two checkpoints of classify, in seconds; after a kill, messages since the last one are read again",
    )

    validate_patience_s: float = Field(default=30.0, gt=0, description="how late an event may reach validate and still count, in seconds")
    validate_most_subjects: int = Field(
        default=1_000_000, ge=1, description="maximum number of subjects that validate watches per policy, about 1 kB each"
    )
    validate_checkpoint_s: float = Field(default=10.0, gt=0, description="time between two checkpoints of validate, in seconds")

    isolation_group: str = Field(default="wallwatch-isolation", description="Kafka consumer group of isolation")

    lab_devices: dict[str, LabDevice] = Field(
        default_factory=dict,
        description="devices that this runner of the lab tests: JSON, name to command, or to an object with command, model, host and pci",
    )

    forecast_models: Path | None = Field(
        default=None, description="folder of trained forecast models (the registry); default: `forecast` in the state folder"
    )
    forecast_promote_better: bool = Field(
        default=False,
        description="promote a challenger automatically when it was better on live data for a day; otherwise an operator promotes it",
    )
    forecast_keep_s: float | None = Field(
        default=None,
        ge=0,
        description="shortest time between two stored forecasts of an RNIC (2 kB each), in seconds; default: 60, and longer above 8,000 "
        "RNICs (300 for 40,000)",
    )
    forecast_delay_s: float = Field(
        default=15.0, ge=0, lt=60, description="how long to wait for the samples of a minute after its end before forecasting, in seconds"
    )

    @field_validator("lab_devices", mode="before")
    @classmethod
    def _no_device(cls, value: Any) -> Any:
        return {} if value is None else value  # Compose cannot write an empty object as a default

    @property
    def registry_dir(self) -> Path:
        """Folder of trained forecast models."""
        return self.forecast_models or self.state_dir / "forecast"
