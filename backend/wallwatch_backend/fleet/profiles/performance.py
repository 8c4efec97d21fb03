"""Expected against measured performance of one RNIC."""

import math
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from sqlalchemy import Row

from wallwatch.domain.catalogue import load
from wallwatch.domain.forecast.physical_model import link_gbps, one_in_flight
from wallwatch.domain.performance.formulas import bandwidth_gbps, latency_us
from wallwatch.domain.performance.parameters import Performance
from wallwatch.domain.performance.predict import Interval, predict
from wallwatch_backend.fleet.profiles import peers, present, repository
from wallwatch_backend.fleet.profiles.models import ProfileVersionRow
from wallwatch_backend.fleet.profiles.peers import Remote
from wallwatch_backend.fleet.profiles.schemas import Estimate, PathPoint, RnicPerformance
from wallwatch_backend.fleet.profiles.service import FRESH
from wallwatch_backend.fleet.rnics.service import identity_of
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.database import ReadSession
from wallwatch_backend.kit.problems import NotFound

SAME_MINUTES = timedelta(minutes=6)
"""Expected and measured bandwidth are means of these last minutes: five whole ones and the present one."""
LEAST_MINUTES = 3
"""Minutes that a verdict needs: one sample is noise, and may be three times the traffic of its minute."""
FULL = 0.85
"""As in the symptom stage: a port that carries this share of what the model predicts is full."""


async def of_rnic(session: ReadSession, host: str, pci: str, hours: float) -> RnicPerformance:
    identity = await identity_of(session, host, pci)
    if identity.model not in load.profiles():
        raise NotFound(f"The model of RNIC {pci} of host {host} is unknown, so its performance cannot be predicted.")
    version = await _in_force(session, identity.model, identity.driver or "", identity.fw_ver or "")
    p = present.profile_in_force(identity.model, version).performance
    now = clock.now()
    own = identity.rnic_id
    peer_set = await peers.peers_of(session, [own], now)
    newest = await repository.newest_of(session, own, now - FRESH)
    result = RnicPerformance(
        model=identity.model,
        number=version.number if version is not None else 0,
        at=None,
        q_l=None,
        q_r=None,
        q_r_basis=None,
        peers_known=peer_set.known_share(own),
        bandwidth_gbps=None,
        latency_us=None,
        measured_gbps=None,
        minutes=0,
        full=None,
        above=None,
        head_gbps=bandwidth_gbps(p, 0.0, 0.0),
        head_us=latency_us(p, 0.0, 0.0),
        path=[],
    )
    since = now - timedelta(hours=hours)
    of_peers = await repository.ingress_paths(session, peer_set.rnics[1:], since)
    for row in await repository.path(session, own, since):
        bucket, gbps = row.bucket, row.tx_gbps_avg
        # Its peers of now stand for those of then: only the newest report of peers is used, and the newest spread.
        remote = peer_set.at(of_peers.get(bucket, {})).get(own)
        q_r = row.q_ingress_avg if remote is None else remote.mean
        if q_r is None:
            continue
        place = _place(p, row.q_egress_avg, q_r, newest, remote)
        expected = min(bandwidth_gbps(p, *place), _link(row))
        result.path.append(
            PathPoint(
                at=bucket,
                q_l=place[0],
                q_r=place[1],
                expected_gbps=expected,
                expected_us=latency_us(p, row.q_egress_avg, q_r),
                measured_gbps=gbps,
                residual=None if gbps is None else gbps / expected - 1.0,
            )
        )
    if newest is None:
        return result
    remote = peer_set.now().get(own)
    result.at, result.q_l = newest.time, newest.q_egress
    q_r = newest.q_ingress if remote is None else remote.mean
    if q_r is None:
        return result
    result.q_r_basis = "own_ingress" if remote is None else "peers"
    result.q_l, result.q_r = _place(p, newest.q_egress, q_r, newest, remote)
    link, bandwidth = _link(newest), predict(p, result.q_l, result.q_r).bandwidth_gbps
    bounded = Interval(min(bandwidth.value, link), min(bandwidth.lower, link), min(bandwidth.upper, link))
    result.bandwidth_gbps, result.latency_us = _estimate(bounded), _estimate(predict(p, newest.q_egress, q_r).latency_us)
    _compare(result, newest.time, bandwidth)
    return result


def _compare(result: RnicPerformance, newest: datetime, bandwidth: Interval) -> None:
    """Compare expected with measured bandwidth over the same minutes; `bandwidth` is the interval of the model at the newest sample."""
    both = [(p.expected_gbps, p.measured_gbps) for p in result.path if p.at > newest - SAME_MINUTES and p.measured_gbps is not None]
    result.minutes = len(both)
    if len(both) < LEAST_MINUTES or bandwidth.value <= 0.0:
        return
    expected, measured = (sum(values) / len(both) for values in zip(*both, strict=True))
    lower, upper = (expected * bound / bandwidth.value for bound in (bandwidth.lower, bandwidth.upper))
    result.bandwidth_gbps, result.measured_gbps = Estimate(value=expected, lower=lower, upper=upper), measured
    result.full, result.above = measured >= FULL * expected, measured > upper


def _place(p: Performance, q_l: float, q_r: float, newest: Row[Any] | None, remote: Remote | None) -> tuple[float, float]:
    """Return the place on the surface: queries over packets in flight. An earlier minute's spread was as large in proportion."""
    spread_l = spread_r = None
    if newest is not None:
        spread_l = _grown(newest.egress_sd, newest.q_egress, q_l)
        spread_r = remote.spread if remote is not None else _grown(newest.ingress_sd, newest.q_ingress, q_r)
    return one_in_flight(p, q_l, q_r, spread_l, spread_r)


def _grown(spread: float | None, then: float | None, mean: float) -> float | None:
    return spread * mean / then if spread is not None and then else spread


def _link(row: Row[Any]) -> float:
    """What the port and its PCIe link carry, Gbit/s, which bounds what is expected; infinite where neither was read."""
    bounds = [float(row.rate_gbps)] if row.rate_gbps else []
    if row.pci_gts and row.pci_lanes:
        bounds.append(float(link_gbps(np.array([row.pci_gts], dtype=np.float64), np.array([row.pci_lanes], dtype=np.float64))[0]))
    return min(bounds, default=math.inf)


def _estimate(found: Interval) -> Estimate:
    return Estimate(value=found.value, lower=found.lower, upper=found.upper)


async def _in_force(session: ReadSession, model: str, driver: str, fw_ver: str) -> ProfileVersionRow | None:
    """Return the version of its firmware before that of its driver before that of its model, as the jobs do."""
    for scope in ((driver, fw_ver), ("", fw_ver), (driver, ""), ("", "")):
        row = await repository.in_force(session, model, *scope)
        if row is not None:
            return row
    return None
