"""The telemetry tables. Hypertables are generated from the metric registry; all others are written out.

A sample's identity is one small number: `rnic.rnic_id` stands for `(host, pci)`, `host.host_id` for a host. Rows are unique by
identity and time, so that a replayed message adds nothing.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Double,
    Identity,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB, UUID
from sqlalchemy.types import TypeEngine

from wallwatch.domain.telemetry.registry import Measurement, measurements
from wallwatch.store import isolation_tables

metadata = MetaData()

NOTIFY_CHANNEL = "wallwatch_rnic_state"
"""Sent after every transaction that changed `rnic_state`."""

RECENT_MIN = 30
"""How long a cleared symptom stays in its RNIC's row, in event time."""

_TYPES: dict[str, type[TypeEngine[Any]]] = {"int": BigInteger, "float": Double, "text": Text, "bool": Boolean}


def _time(name: str = "time", nullable: bool = False) -> Column[object]:
    return Column(name, DateTime(timezone=True), nullable=nullable)


def _registry_columns(measurement: Measurement) -> list[Column[object]]:
    columns: list[Column[object]] = [Column(field.name, _TYPES[field.type]) for field in measurement.columns]
    if measurement.others:
        columns.append(Column("other", JSONB))
    return columns


rnic = Table(
    "rnic",
    metadata,
    Column("rnic_id", Integer, Identity(always=True), primary_key=True),
    Column("host", Text, nullable=False),
    Column("pci", Text, nullable=False),
    Column("rack", Text, nullable=False, server_default=""),
    Column("model", Text, comment="RNIC profile of the catalogue; null when the device is not in it"),
    Column("driver", Text),
    Column("fw_ver", Text),
    Column("ibdev", Text),
    Column("netdev", Text),
    Column("pci_id", Text),
    Column("hca_type", Text),
    Column("board_id", Text),
    Column("link_layer", Text),
    Column("first_seen", DateTime(timezone=True), nullable=False, server_default=text("now()")),
    UniqueConstraint("host", "pci", name="rnic_host_pci_key"),
)

host = Table(
    "host",
    metadata,
    Column("host_id", Integer, Identity(always=True), primary_key=True),
    Column("host", Text, nullable=False, unique=True),
    Column("rack", Text, nullable=False, server_default=""),
)

_m = measurements()

rnic_sample = Table(
    _m["rnic"].table,
    metadata,
    _time(),
    Column("rnic_id", Integer, nullable=False),
    *_registry_columns(_m["rnic"]),
    Index("rnic_sample_key", "rnic_id", "time", unique=True),
)

offload_sample = Table(
    _m["rnic_offload"].table,
    metadata,
    _time(),
    Column("rnic_id", Integer, nullable=False),
    *_registry_columns(_m["rnic_offload"]),
    Index("offload_sample_key", "rnic_id", "time", unique=True),
)

mask_sample = Table(
    _m["rnic_mask"].table,
    metadata,
    _time(),
    Column("rnic_id", Integer, nullable=False),
    Column("direction", Text, nullable=False),
    Column("mask", Text, nullable=False),
    *_registry_columns(_m["rnic_mask"]),
    Index("mask_sample_key", "rnic_id", "time", "direction", "mask", unique=True),
)

vf_sample = Table(
    _m["rnic_vf"].table,
    metadata,
    _time(),
    Column("rnic_id", Integer, nullable=False),
    Column("vf", Integer, nullable=False),
    Column("vf_pci", Text, nullable=False, server_default=""),
    Column("representor", Text, nullable=False, server_default=""),
    Column("netdev", Text, nullable=False, server_default=""),
    *_registry_columns(_m["rnic_vf"]),
    Index("vf_sample_key", "rnic_id", "time", "vf", unique=True),
)

function_sample = Table(
    _m["network_function"].table,
    metadata,
    _time(),
    Column("rnic_id", Integer, nullable=False),
    Column("function", Text, nullable=False),
    Column("container", Text, nullable=False, server_default=""),
    Column("pod", Text, nullable=False, server_default=""),
    *_registry_columns(_m["network_function"]),
    Index("function_sample_key", "rnic_id", "time", "function", "container", unique=True),
)

datapath_sample = Table(
    _m["ovs_datapath"].table,
    metadata,
    _time(),
    Column("host_id", Integer, nullable=False),
    Column("datapath", Text, nullable=False),
    *_registry_columns(_m["ovs_datapath"]),
    Index("datapath_sample_key", "host_id", "time", "datapath", unique=True),
)

event = Table(
    _m["event"].table,
    metadata,
    _time(),
    Column("host_id", Integer, nullable=False),
    Column("pci", Text, nullable=False, server_default="", comment="empty when the row concerns no RNIC"),
    Column("kind", Text, nullable=False),
    *_registry_columns(_m["event"]),
    Index("event_key", "host_id", "time", "pci", "kind", unique=True),
    # Finds the container that has a virtual function: the newest of these events, among a year of events of a busy host.
    Index(
        "event_container_of_device",
        "host_id",
        text("(other->>'device')"),
        text("time DESC"),
        postgresql_where=text("kind IN ('cni_add', 'cni_del', 'host_booted')"),
    ),
    # The job `isolation` reads the newest of them every few seconds.
    Index(
        "event_container_time",
        text("time DESC"),
        postgresql_where=text("kind IN ('cni_add', 'cni_del', 'host_booted')"),
    ),
    Index("event_policy_violated", text("(other->>'policy')"), text("time DESC"), postgresql_where=text("kind = 'policy_violated'")),
)

policy_sample = Table(
    _m["policy_state"].table,
    metadata,
    _time(),
    Column("host_id", Integer, nullable=False, comment="0 for a cross-host policy"),
    Column("pci", Text, nullable=False, server_default="", comment="empty when the row concerns no RNIC"),
    Column("policy", Text, nullable=False),
    Column("revision", Text, nullable=False, server_default=""),
    *_registry_columns(_m["policy_state"]),
    Index("policy_sample_key", "host_id", "time", "policy", "pci", unique=True),
    Index("policy_sample_policy_time", "policy", text("time DESC")),
)

finding = Table(
    "finding",
    metadata,
    _time(),
    Column("rnic_id", Integer, comment="null for a finding about a whole host"),
    Column("host_id", Integer, nullable=False),
    Column("finding_id", UUID(as_uuid=True), nullable=False),
    Column("symptom", Text, nullable=False),
    Column("state", Text, nullable=False),
    _time("started_at"),
    Column("severity", Text, nullable=False),
    Column("blast_radius", Text, nullable=False),
    Column("rule", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("summary", Text, nullable=False),
    Column("explanation", Text, nullable=False, server_default="", comment="2 to 6 sentences for a ticket"),
    Column("model", Text, nullable=False, server_default=""),
    Column("driver", Text, nullable=False, server_default=""),
    Column("fw_ver", Text, nullable=False, server_default=""),
    Column("evidence", JSONB, nullable=False),
    Column("hypotheses", JSONB, nullable=False),
    Column("remedies", JSONB, nullable=False),
    Index("finding_key", "finding_id", "time", "state", unique=True),
    Index("finding_rnic_time", "rnic_id", "time"),
    Index("finding_host_time", "host_id", "time"),
)

rnic_state = Table(
    "rnic_state",
    metadata,
    Column("rnic_id", Integer, primary_key=True, autoincrement=False),
    Column("host", Text, nullable=False),
    Column("pci", Text, nullable=False),
    Column("rack", Text, nullable=False, server_default=""),
    Column("model", Text),
    Column("walls", JSONB, comment='{"<wall>": {"value", "limit", "headroom", "basis"}}; a wall that could not be measured is absent'),
    Column("headroom", Double, comment="1 - value/limit of the nearest wall; null when no wall could be measured"),
    Column("nearest_wall", Text),
    Column(
        "symptoms",
        JSONB,
        nullable=False,
        server_default="{}",
        comment='{"S1": {"since", "finding_id", "severity", "until"}}; until is null while it is active, '
        f"and cleared symptoms stay for {RECENT_MIN} minutes",
    ),
    Column("findings_at", DateTime(timezone=True), comment="event time of the newest finding applied"),
    Column("tx_gbps", Double),
    Column("rx_gbps", Double),
    Column("seen_at", DateTime(timezone=True), comment="event time of the newest sample"),
    Column("updated_at", DateTime(timezone=True), nullable=False, server_default=text("now()")),
    Column("change_seq", BigInteger, nullable=False, comment="grows with every change, in commit order: read rows above the last one seen"),
    UniqueConstraint("host", "pci", name="rnic_state_host_pci_key"),
    Index("rnic_state_change_seq", "change_seq"),
    postgresql_with={"fillfactor": "60"},
)

forecast = Table(
    "forecast",
    metadata,
    _time(),
    Column("rnic_id", Integer, nullable=False),
    Column("forecaster", Text, nullable=False, server_default="", comment="id of the trained model; empty for a cold start"),
    Column("cold_start", Boolean, nullable=False),
    Column(
        "policy_violated",
        Boolean,
        nullable=False,
        comment="a policy was violated then, so the forecast may be wrong",
    ),
    Column("body", JSONB, nullable=False, comment="the message of wallwatch.forecasts"),
    Index("forecast_key", "rnic_id", "time", unique=True),
)

rnic_forecast = Table(
    "rnic_forecast",
    metadata,
    Column("rnic_id", Integer, primary_key=True, autoincrement=False),
    Column("made_at", DateTime(timezone=True), nullable=False),
    Column("kept_at", DateTime(timezone=True), nullable=False, comment="time of the newest forecast in the hypertable"),
    Column("cold_start", Boolean, nullable=False),
    Column("policy_violated", Boolean, nullable=False),
    Column("next_wall", Text, comment="the wall predicted to be reached first; null when none within the hour"),
    Column("earliest_in_s", Double, comment="of that wall; 0 when the RNIC exceeds the limit already"),
    Column("likely_in_s", Double),
    Column("latest_in_s", Double, comment="null when it may not be reached within the hour"),
    Column("wall_chance", Double, comment="of reaching that wall within the hour; null in forecasts of older versions"),
    Column("confidence", Text, comment="low, medium or high; null in forecasts of older versions"),
    Column("decline_share", Double, comment="largest predicted decline within the hour; null when unknown"),
    Column("decline_since", DateTime(timezone=True), comment="when the active decline was first predicted; null without one"),
    Column("decline_in_s", Double, comment="first horizon with a decline of 5% or more; null without one, and when the time is unknown"),
    Column("body", JSONB, nullable=False),
    Index("rnic_forecast_earliest", "earliest_in_s"),
    postgresql_with={"fillfactor": "60"},
)

forecast_model = Table(
    "forecast_model",
    metadata,
    Column("id", Text, primary_key=True, comment="the first 12 hexadecimal digits of its SHA-256"),
    Column("role", Text, nullable=False, comment="champion, challenger, former, base or none"),
    Column("trained_at", DateTime(timezone=True), nullable=False),
    Column("description", JSONB, nullable=False, comment="data window, features, metrics, hash"),
    Column("live", JSONB, nullable=False, server_default="{}", comment="errors on live data, and their drift from those at training"),
    Column("updated_at", DateTime(timezone=True), nullable=False, server_default=text("now()")),
)

forecast_model_change = Table(
    "forecast_model_change",
    metadata,
    Column("at", DateTime(timezone=True), primary_key=True),
    Column("action", Text, primary_key=True, comment="trained, promoted, rolled_back or removed"),
    Column("model", Text, primary_key=True, comment="the model that was trained, promoted or removed"),
    Column("champion_before", Text),
    Column("by", Text, nullable=False, comment="account of the operating system, or the job"),
    Column("reason", Text, nullable=False, server_default=""),
)

dead_letter_count = Table(
    "dead_letter_count",
    metadata,
    Column("topic", Text, primary_key=True),
    Column("reason", Text, primary_key=True),
    Column("count", BigInteger, nullable=False),
    Column("last_at", DateTime(timezone=True), nullable=False),
    Column("last_detail", Text, nullable=False),
)

vf_broken, vf_minute, rnic_isolation = isolation_tables.define(metadata)

HYPERTABLES: dict[str, str] = {
    "rnic_sample": "1 hour",
    "offload_sample": "1 hour",
    "mask_sample": "1 hour",
    "vf_sample": "6 hours",
    "function_sample": "6 hours",
    "datapath_sample": "1 day",
    "policy_sample": "1 day",
    "event": "7 days",
    "finding": "7 days",
    "forecast": "1 day",
    **isolation_tables.HYPERTABLES,
}
"""Hypertable -> chunk interval. An hour of 40,000 RNICs at 10 s is 14 million rows: its index still fits in memory."""
