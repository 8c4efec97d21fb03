"""Q_r of an RNIC: the ingress queries of its peers, weighted by the packets that it sends to each.

The collector reports the tunnel addresses that an RNIC sends to (`peers`) and those at which it receives (`tunnel_addresses`); the join
over all hosts is here. Where an address belongs to several RNICs of a host, each counts alike.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from sqlalchemy import text

from wallwatch_backend.kit.database import ReadSession

KEPT = timedelta(minutes=5)
"""Addresses change seldom; reports come every 30 s."""
KNOWN_SHARE = 0.25
"""With less of the packets going to peers that are known, the mean says little, and there is none."""

_SENT = text(
    """
    SELECT DISTINCT ON (rnic_id) rnic_id, other ->> 'peers', (other ->> 'peers_other_packets_per_s')::float8
    FROM offload_sample
    WHERE rnic_id = ANY(:rnics) AND time >= :since AND other ? 'peers'
    ORDER BY rnic_id, time DESC
    """
)
_OWNERS = text(
    """
    SELECT DISTINCT ON (rnic_id) rnic_id, other ->> 'tunnel_addresses'
    FROM offload_sample
    WHERE time >= :since AND other ? 'tunnel_addresses'
    ORDER BY rnic_id, time DESC
    """
)
_QUERIES = text(
    """
    SELECT DISTINCT ON (rnic_id) rnic_id, q_ingress FROM offload_sample
    WHERE rnic_id = ANY(:rnics) AND time >= :since AND q_ingress IS NOT NULL
    ORDER BY rnic_id, time DESC
    """
)


def shares(peers: str) -> dict[str, float]:
    """Return address → packets/s; what is damaged is left out.

    >>> shares("192.0.2.8=25 192.0.2.7=10 192.0.2.9= x")
    {'192.0.2.8': 25.0, '192.0.2.7': 10.0}
    """
    found: dict[str, float] = {}
    for part in peers.split():
        address, _, packets = part.rpartition("=")
        try:
            found[address] = float(packets)
        except ValueError:
            continue
    return found


async def weights(session: ReadSession, rnic_ids: Sequence[int], now: datetime) -> dict[int, tuple[dict[int, float], float]]:
    """Return RNIC → (peer RNIC → packets/s, packets/s to addresses that nobody is known to own), from the reports of the last minutes."""
    since = now - KEPT
    sent = [tuple(row) for row in await session.execute(_SENT, {"rnics": list(rnic_ids), "since": since})]
    if not sent:
        return {}
    owners: dict[str, list[int]] = {}
    for rnic_id, addresses in await session.execute(_OWNERS, {"since": since}):
        for address in (addresses or "").split():
            owners.setdefault(address, []).append(rnic_id)
    return {rnic_id: weighed(peers, rest or 0.0, owners) for rnic_id, peers, rest in sent}


def weighed(peers: str, rest: float, owners: dict[str, list[int]]) -> tuple[dict[int, float], float]:
    """Return the packets/s to each known RNIC, and those to others. An address of several RNICs counts alike for each.

    >>> weighed("a=30 b=10 c=5", 1.0, {"a": [3], "b": [4, 5]})
    ({3: 30.0, 4: 5.0, 5: 5.0}, 6.0)
    """
    found: dict[int, float] = {}
    for address, packets in shares(peers).items():
        own = owners.get(address)
        if not own:
            rest += packets
            continue
        for rnic_id in own:
            found[rnic_id] = found.get(rnic_id, 0.0) + packets / len(own)
    return found, rest


def mean(weight: dict[int, float], unknown: float, q_ingress: Mapping[int, float]) -> float | None:
    """Return Q_r, or nothing where hardly any packet goes to RNICs whose ingress queries are known.

    >>> mean({3: 30.0, 4: 10.0}, 0.0, {3: 2.0, 4: 10.0}), mean({3: 5.0}, 20.0, {3: 2.0})
    (4.0, None)
    """
    known = {rnic_id: packets for rnic_id, packets in weight.items() if rnic_id in q_ingress}
    total = sum(known.values())
    if total <= 0.0 or total < KNOWN_SHARE * (sum(weight.values()) + unknown):
        return None
    return sum(packets * q_ingress[rnic_id] for rnic_id, packets in known.items()) / total


async def remote_queries(session: ReadSession, rnic_ids: Sequence[int], now: datetime) -> dict[int, float]:
    """Return RNIC → Q_r, for those whose peers are known, from the reports of the last minutes."""
    weight = await weights(session, rnic_ids, now)
    concerned = sorted({peer for known, _ in weight.values() for peer in known})
    if not concerned:
        return {}
    rows = await session.execute(_QUERIES, {"rnics": concerned, "since": now - KEPT})
    q_ingress = {row[0]: float(row[1]) for row in rows}
    found = {rnic_id: mean(known, unknown, q_ingress) for rnic_id, (known, unknown) in weight.items()}
    return {rnic_id: q for rnic_id, q in found.items() if q is not None}
