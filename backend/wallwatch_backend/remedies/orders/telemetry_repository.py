"""Queries of the telemetry that verifies a remedy: samples since a time, oldest first."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Literal

from sqlalchemy import Double, cast, func, select

from wallwatch.domain.telemetry.registry import MetricField, measurements
from wallwatch.store.packed import all_of, hours_within, of_rnics, vf_sample_all
from wallwatch.store.tables import datapath_sample, metadata, rnic, vf_minute
from wallwatch.store.tables import host as host_table
from wallwatch_backend.kit.database import ReadSession

Samples = Sequence[tuple[datetime, float]]


async def of_rnic(session: ReadSession, host: str, pci: str | None, measurement: str, field: MetricField, since: datetime) -> Samples:
    """A field of `rnic` or `rnic_offload`; of all RNICs of the host when no PCI address is given."""
    table = all_of(metadata.tables[measurements()[measurement].table])
    stored = table.c[field.name] if field.stored == "column" else table.c.other[field.name].astext
    wanted = [rnic.c.host == host] if pci is None else [rnic.c.host == host, rnic.c.pci == pci]
    query = (
        select(table.c.time, cast(stored, Double))
        .where(of_rnics(table, *wanted), table.c.time > since, hours_within(table, since), stored.is_not(None))
        .order_by(table.c.time)
    )
    return [(row[0], row[1]) for row in (await session.execute(query)).all()]


async def of_host(session: ReadSession, host: str, field: MetricField, since: datetime) -> Samples:
    """A field of `ovs_datapath`, of all datapaths of the host."""
    stored = datapath_sample.c[field.name] if field.stored == "column" else datapath_sample.c.other[field.name].astext
    query = (
        select(datapath_sample.c.time, cast(stored, Double))
        .join(host_table, host_table.c.host_id == datapath_sample.c.host_id)
        .where(host_table.c.host == host, datapath_sample.c.time > since, stored.is_not(None))
        .order_by(datapath_sample.c.time)
    )
    return [(row[0], row[1]) for row in (await session.execute(query)).all()]


async def broken_seconds(session: ReadSession, host: str, pci: str, since: datetime) -> Samples:
    """Broken seconds of the VF that suffered most, at the end of each minute that the job `isolation` has judged."""
    end = vf_minute.c.time + timedelta(minutes=1)
    judged = vf_minute.c.kept_s + vf_minute.c.broken_s
    query = (
        select(end, func.max(vf_minute.c.broken_s))
        .join(rnic, rnic.c.rnic_id == vf_minute.c.rnic_id)
        .where(rnic.c.host == host, rnic.c.pci == pci, vf_minute.c.time > since - timedelta(minutes=1), judged > 0)
        .group_by(vf_minute.c.time)
        .order_by(vf_minute.c.time)
    )
    return [(row[0], row[1]) for row in (await session.execute(query)).all()]


async def of_function(
    session: ReadSession, host: str, pci: str, vf: int, field: Literal["max_tx_mbps", "min_tx_mbps"], since: datetime
) -> Samples:
    """The rate limit (max_tx_mbps) or the guaranteed rate (min_tx_mbps) of one virtual function, Mbit/s."""
    table = vf_sample_all
    rate = table.c[field]
    of_one = of_rnics(table, rnic.c.host == host, rnic.c.pci == pci)
    query = (
        select(table.c.time, rate)
        .where(of_one, table.c.vf == vf, table.c.time > since, hours_within(table, since), rate.is_not(None))
        .order_by(table.c.time)
    )
    return [(row[0], float(row[1])) for row in (await session.execute(query)).all()]
