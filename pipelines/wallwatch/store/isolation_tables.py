"""The tables of isolation: broken seconds, minutes per VF, and the newest state of each RNIC's VFs.

A text that is unknown is empty, because it is part of keys; a number that was not measured is null. Rates are Mbit/s.
"""

from __future__ import annotations

from sqlalchemy import Boolean, Column, DateTime, Double, Index, Integer, MetaData, Table, Text, text
from sqlalchemy.dialects.postgresql import JSONB

SECONDS = ("kept_s", "broken_s", "unknown_s", "not_promised_s", "aggressor_s")
"""Tallies of `vf_minute`, summed by day in `vf_day`."""

VALUES = (
    "tx_mbps", "rx_mbps", "tx_mbps_max", "rx_mbps_max", "tx_kpps", "rx_kpps", "delay_p50_us", "delay_p99_us", "dropped", "share",
    "fair_share",
)  # fmt: skip
"""What was measured in a minute; null where it was not."""

HYPERTABLES = {"vf_broken": "1 day", "vf_minute": "6 hours"}
"""Hypertable -> chunk interval. Six hours of 40,000 RNICs with 8 VFs are 115 million minutes."""


def _known(name: str, comment: str | None = None) -> Column[object]:
    return Column(name, Text, nullable=False, server_default="", comment=comment)


def _key() -> list[Column[object]]:
    return [
        Column("time", DateTime(timezone=True), nullable=False),
        Column("rnic_id", Integer, nullable=False),
        Column("vf", Integer, nullable=False),
        _known("generation", "changes when the VF is bound again"),
        _known("pod", "namespace/name of the pod that held the VF"),
        _known("tenant", "namespace of that pod"),
    ]


def define(metadata: MetaData) -> tuple[Table, Table, Table]:
    """Add `vf_broken`, `vf_minute` and `rnic_isolation` to the metadata."""
    broken = Table(
        "vf_broken",
        metadata,
        *_key(),
        Column("interval_s", Double, nullable=False, comment="the row's time is the end of the interval"),
        Column("estimated", Boolean, nullable=False, comment="samples were more than 1.5 s apart; the whole interval counts"),
        Column("mechanism", Text, comment="what was overloaded; null: undetermined"),
        Column("reason", Text, nullable=False),
        Column("aggressors", JSONB, nullable=False, comment='[{"vf", "pod", "tenant", "share", "fair_share"}]'),
        Column("load", Double, comment="1 is what the RNIC can carry"),
        Column("port_drops_per_s", Double),
        Index("vf_broken_key", "rnic_id", "time", "vf", unique=True),
        Index("vf_broken_time", text("time DESC")),
    )
    minute = Table(
        "vf_minute",
        metadata,
        *_key(),
        _known("slo", "name of the SLO class; empty without one, and for an SLO of the CNI configuration"),
        *(Column(name, Double, nullable=False) for name in SECONDS),
        *(Column(name, Double) for name in VALUES),
        Column("state", Text, nullable=False, comment="the worst in the minute: broken, then unknown, then kept"),
        Index("vf_minute_key", "rnic_id", "time", "vf", "generation", unique=True),
        # Minutes arrive in order of time: a summary per megabyte finds an hour of the whole fleet, and costs nearly nothing to keep.
        Index("vf_minute_time", "time", postgresql_using="brin", postgresql_with={"autosummarize": "on"}),
    )
    now = Table(
        "rnic_isolation",
        metadata,
        Column("rnic_id", Integer, primary_key=True, autoincrement=False),
        Column("at", DateTime(timezone=True), nullable=False),
        Column("doubt", Text, comment="why the RNIC is sampled every second; null while it is not"),
        Column("mechanism", Text),
        Column("load", Double),
        Column("port_mbps", Double),
        Column("vfs", JSONB, nullable=False, comment="as in the message; docs/contracts.md"),
        postgresql_with={"fillfactor": "60"},
    )
    return broken, minute, now
