"""Q_r of some RNICs: what their packets meet at their peers, joined over all hosts as forecasts join it (`domain.forecast.peers`)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
from sqlalchemy import text

from wallwatch.domain.forecast.peers import Joined, Report, Weights, join, owners_of, shares, weights
from wallwatch_backend.kit.database import ReadSession

KEPT = timedelta(minutes=5)
"""Addresses rarely change; reports come every 30 s."""

_OWNERS = text(
    """
    SELECT DISTINCT ON (rnic_id) rnic_id, other ->> 'tunnel_addresses'
    FROM offload_sample
    WHERE time >= :since AND other ? 'tunnel_addresses'
    ORDER BY rnic_id, time DESC
    """
)
_REPORTS = text(
    """
    SELECT DISTINCT ON (rnic_id) rnic_id, other ->> 'peers', (other ->> 'peers_other_packets_per_s')::float8,
      other ->> 'tunnel_addresses', other ->> 'tunnel_sources', q_ingress
    FROM offload_sample
    WHERE rnic_id = ANY(:rnics) AND time >= :since AND (other ? 'peers' OR other ? 'tunnel_addresses')
    ORDER BY rnic_id, time DESC
    """
)
_QUERIES = text(
    """
    SELECT DISTINCT ON (rnic_id) rnic_id, q_ingress, (other ->> 'q_ingress_sd')::float8 FROM offload_sample
    WHERE rnic_id = ANY(:rnics) AND time >= :since AND q_ingress IS NOT NULL
    ORDER BY rnic_id, time DESC
    """
)


@dataclass(frozen=True)
class Remote:
    """Lookups of an RNIC's packets at their receivers: mean, and standard deviation."""

    mean: float
    spread: float


@dataclass(frozen=True)
class Peers:
    """The receivers of some RNICs' packets, from the newest reports."""

    rnics: Sequence[int]
    """The requested RNICs, then their peers."""
    asked: int
    by: Weights
    queries: Mapping[int, tuple[float, float]]
    """The newest ingress lookups of each, and their standard deviation (NaN where not reported)."""

    def known_share(self, rnic_id: int) -> float | None:
        """Share of its packets that goes to known RNICs; None without a report."""
        row = self.rnics.index(rnic_id)
        known = float(self.by.packets[self.by.senders == row].sum())
        total = known + float(self.by.elsewhere[row])
        return known / total if total > 0.0 else None

    def now(self) -> dict[int, Remote]:
        """Return RNIC → lookups of its packets at their receivers, for those whose peers are known."""
        return self.at({rnic_id: mean for rnic_id, (mean, _) in self.queries.items()})

    def at(self, q_ingress: Mapping[int, float]) -> dict[int, Remote]:
        """The same with other ingress lookups of the peers, such as those of an earlier minute; the newest spread stands for all times."""
        nothing = np.nan, np.nan
        mean = np.array([q_ingress.get(one, np.nan) for one in self.rnics], dtype=np.float64)
        spread = np.array([self.queries.get(one, nothing)[1] for one in self.rnics], dtype=np.float64)
        found: Joined = join(self.by, mean, spread)
        rows = [row for row in range(self.asked) if found.of_peers[row]]
        return {self.rnics[row]: Remote(float(found.mean[row]), float(np.nan_to_num(found.spread[row]))) for row in rows}


async def peers_of(session: ReadSession, rnic_ids: Sequence[int], now: datetime) -> Peers:
    """Return the receivers of RNICs' packets, from the reports of the last minutes."""
    since = now - KEPT
    reported = await _reports(session, rnic_ids, since)
    addresses = await session.execute(_OWNERS, {"since": since}) if any(one.peers for one in reported.values()) else ()
    owners = owners_of({rnic_id: Report(addresses=own or "") for rnic_id, own in addresses})
    receivers = {one for report in reported.values() for address in shares(report.peers) for one in owners.get(address, ())}
    rnics = [*rnic_ids, *sorted(receivers - set(rnic_ids))]
    rows = {rnic_id: row for row, rnic_id in enumerate(rnics)}
    reported |= await _reports(session, rnics[len(rnic_ids) :], since)
    # What counts of peers is the lookups at their side, not whom they send to.
    reports = {rows[one]: report if rows[one] < len(rnic_ids) else _without_peers(report) for one, report in reported.items()}
    by = weights(reports, len(rnics), {address: [rows[one] for one in own if one in rows] for address, own in owners.items()})
    rows_of_queries = await session.execute(_QUERIES, {"rnics": rnics, "since": since}) if receivers else ()
    queries = {row[0]: (float(row[1]), np.nan if row[2] is None else float(row[2])) for row in rows_of_queries}
    return Peers(rnics, len(rnic_ids), by, queries)


async def _reports(session: ReadSession, rnic_ids: Sequence[int], since: datetime) -> dict[int, Report]:
    if not rnic_ids:
        return {}
    rows = await session.execute(_REPORTS, {"rnics": list(rnic_ids), "since": since})
    return {
        row[0]: Report(row[1] or "", row[2] or 0.0, row[3] or "", row[4] or "", np.nan if row[5] is None else float(row[5])) for row in rows
    }


def _without_peers(report: Report) -> Report:
    return Report("", 0.0, report.addresses, report.sources, report.q_ingress)


async def remote_queries(session: ReadSession, rnic_ids: Sequence[int], now: datetime) -> dict[int, Remote]:
    """Return RNIC → lookups of its packets at their receivers, where peers are known, from the reports of the last minutes."""
    return (await peers_of(session, rnic_ids, now)).now()
