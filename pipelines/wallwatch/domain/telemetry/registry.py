"""The metric and topic registry: `metrics.yaml` and `topics.yaml` as typed, validated values.

Schema, documentation, decoding and UI labels all come from here, so a field has one name, one unit and one meaning.
"""

from __future__ import annotations

from enum import StrEnum
from functools import cache
from importlib import resources
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from wallwatch.domain.telemetry.identities import FORMS

FieldType = Literal["int", "float", "text", "bool"]


class KafkaRole(StrEnum):
    """Who signs in to Kafka, each by its own user: see `user`."""

    host = "host"
    ingest = "ingest"
    classify = "classify"
    isolation = "isolation"
    validate = "validate"
    forecast = "forecast"
    backend = "backend"
    admin = "admin"

    @property
    def user(self) -> str:
        """Name of the user at Kafka.

        >>> KafkaRole.ingest.user
        'wallwatch-ingest'
        """
        return f"wallwatch-{self}"


class RegistryError(ValueError):
    """A registry or catalogue file is not what the code expects; the message names the file and the entry to correct."""


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class MetricField(_Entry):
    """One field of a measurement."""

    name: str
    type: FieldType
    kind: Literal["counter", "gauge", "text"]
    unit: str
    stored: Literal["column", "other", "none"]
    """Where the hypertable keeps it; none in a measurement without a hypertable."""
    source: str
    label: str
    meaning: str
    """The label if the registry has no meaning."""
    node_exporter: str | None = None
    """Family of node_exporter, without `node_`, that has the same value; the collector's input `node_exporter` converts the unit."""

    @model_validator(mode="before")
    @classmethod
    def _label_as_meaning(cls, raw: Any) -> Any:
        return {"meaning": raw["label"], **raw} if isinstance(raw, dict) and "label" in raw else raw

    @property
    def numeric(self) -> bool:
        return self.type in ("int", "float")


class Measurement(_Entry):
    """One kind of sample: its tags, its fields and the hypertable that keeps it, if any does."""

    name: str
    meaning: str
    hypertable: str | None = None
    """None if only a job reads the messages: they are in Kafka and nowhere else."""
    of: Literal["rnic", "host"]
    """What a row belongs to."""
    key_tags: tuple[str, ...] = Field(min_length=1)
    """Tags without which a message is useless."""
    text_columns: tuple[str, ...] = ()
    """Further tags with a column of their own, in the order of the table."""
    number_columns: tuple[str, ...] = ()
    """The same for tags that are whole numbers."""
    tags: dict[str, str]
    fields: dict[str, MetricField]

    @property
    def topic(self) -> str:
        return f"wallwatch.{self.name}"

    @property
    def table(self) -> str:
        """The hypertable, for those who store or query it.

        Raises
        ------
        RegistryError
            When no hypertable keeps the measurement.
        """
        if self.hypertable is None:
            raise RegistryError(f"{self.name} has no hypertable: only a job reads its messages")
        return self.hypertable

    @property
    def of_parts(self) -> bool:
        """Whether a row is of a part of an RNIC, such as a mask or a virtual function: an RNIC has many rows at one time."""
        return self.of == "rnic" and bool(self.text_columns or self.number_columns)

    @property
    def columns(self) -> tuple[MetricField, ...]:
        """Fields with a column of their own, in the order of the registry."""
        return tuple(f for f in self.fields.values() if f.stored == "column")

    @property
    def others(self) -> tuple[MetricField, ...]:
        """Fields kept in the column `other` when they are not zero."""
        return tuple(f for f in self.fields.values() if f.stored == "other")

    @model_validator(mode="after")
    def _known_tags(self) -> Measurement:
        unknown = {*self.key_tags, *self.text_columns, *self.number_columns} - set(self.tags)
        if unknown:
            raise ValueError(f"{', '.join(sorted(unknown))}: not among the tags of {self.name}")
        return self

    @model_validator(mode="after")
    def _stored_in_the_hypertable(self) -> Measurement:
        if self.hypertable is None:
            rule, wrong = "has no hypertable, so its fields are `stored: none`", [f for f in self.fields.values() if f.stored != "none"]
        else:
            rule, wrong = "has a hypertable that keeps its fields", [f for f in self.fields.values() if f.stored == "none"]
        if wrong:
            raise ValueError(f"{self.name} {rule}: {', '.join(sorted(f.name for f in wrong))}")
        return self

    @model_validator(mode="before")
    @classmethod
    def _name_the_fields(cls, raw: Any) -> Any:
        if isinstance(raw, dict) and isinstance(raw.get("fields"), dict):
            named = {k: ({**v, "name": k} if isinstance(v, dict) else v) for k, v in raw["fields"].items()}
            return {**raw, "fields": named}
        return raw


class Topic(_Entry):
    """One Kafka topic."""

    name: str
    meaning: str
    measurement: str | None = None
    partitions: int = Field(ge=1)
    retention_hours: int = Field(ge=1)
    message_version: int = Field(ge=1)
    """Version of the schema of its messages."""
    compression: Literal["none", "gzip", "snappy", "lz4", "zstd"]
    writers: tuple[KafkaRole, ...] = Field(min_length=1)
    readers: tuple[KafkaRole, ...] = Field(min_length=1)


def _read(name: str) -> Any:
    return yaml.safe_load(resources.files(__package__).joinpath(name).read_text(encoding="utf-8"))


def parse_measurements(raw: Any, source: str = "metrics.yaml") -> dict[str, Measurement]:
    """Validate the content of `metrics.yaml`.

    Raises
    ------
    RegistryError
        When an entry is missing or wrong; the message has its place.
    """
    if not isinstance(raw, dict) or not isinstance(raw.get("measurements"), dict):
        raise RegistryError(f"{source}: the top level must be a mapping with the key 'measurements'")
    try:
        return {name: Measurement.model_validate({**body, "name": name}) for name, body in raw["measurements"].items()}
    except ValidationError as error:
        raise RegistryError(f"{source}: {error}") from error


def parse_topics(raw: Any, source: str = "topics.yaml") -> dict[str, Topic]:
    """Validate the content of `topics.yaml`; a topic's own value replaces the default."""
    if not isinstance(raw, dict) or not isinstance(raw.get("topics"), dict):
        raise RegistryError(f"{source}: the top level must be a mapping with the keys 'defaults' and 'topics'")
    defaults = raw.get("defaults") or {}
    try:
        return {name: Topic.model_validate({**defaults, **body, "name": name}) for name, body in raw["topics"].items()}
    except ValidationError as error:
        raise RegistryError(f"{source}: {error}") from error


@cache
def measurements() -> dict[str, Measurement]:
    """Every measurement by its name.

    >>> measurements()["rnic_offload"].fields["q_egress"].unit
    'lookups'
    """
    found = parse_measurements(_read("metrics.yaml"))
    without = sorted({tag for measurement in found.values() for tag in measurement.tags} - set(FORMS))
    if without:
        raise RegistryError(f"metrics.yaml: {', '.join(without)} has no form in identities.py, so any text would be accepted for it")
    return found


def stored_measurements() -> dict[str, Measurement]:
    """The measurements that `ingest` writes to a hypertable, by name.

    >>> "vf_traffic" in measurements(), "vf_traffic" in stored_measurements()
    (True, False)
    """
    return {name: m for name, m in measurements().items() if m.hypertable is not None}


@cache
def topics() -> dict[str, Topic]:
    """Every topic by its name.

    >>> topics()["wallwatch.dead_letter"].partitions
    1
    """
    found = parse_topics(_read("topics.yaml"))
    for topic in found.values():
        if topic.measurement is not None and topic.measurement not in measurements():
            raise RegistryError(
                f"topics.yaml: topic {topic.name} names the measurement {topic.measurement!r}, which metrics.yaml does not have"
            )
    return found


def field(measurement: str, name: str) -> MetricField:
    """Look up one field; the error for a wrong name lists the valid names."""
    found = measurements()[measurement].fields
    if name not in found:
        raise RegistryError(f"{measurement} has no field {name!r}; it has {', '.join(sorted(found))}")
    return found[name]
