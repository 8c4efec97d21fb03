"""Expected against measured performance of one RNIC."""

import math
from datetime import timedelta
from typing import Any

import numpy as np
from sqlalchemy import Row

from wallwatch.domain.catalogue import load
from wallwatch.domain.forecast.physical import link_gbps
from wallwatch.domain.performance.model import bandwidth_gbps, latency_us
from wallwatch.domain.performance.predict import Interval, predict
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.database import ReadSession
from wallwatch_backend.kit.problems import NotFound
from wallwatch_backend.profiles import peers, repository, shown
from wallwatch_backend.profiles.models import ProfileVersionRow
from wallwatch_backend.profiles.schemas import Estimate, PathPoint, RnicPerformance
from wallwatch_backend.profiles.service import FRESH
from wallwatch_backend.rnics.service import identity_of

FULL = 0.85
"""As the symptom stage has it: a port that carries so much of what the model predicts is full."""


async def of_rnic(session: ReadSession, host: str, pci: str, hours: float) -> RnicPerformance:
    identity = await identity_of(session, host, pci)
    if identity.model not in load.profiles():
        raise NotFound(f"The model of RNIC {pci} of host {host} is not known, so nothing can be expected of it.")
    version = await _in_force(session, identity.model, identity.driver or "", identity.fw_ver or "")
    p = shown.profile_in_force(identity.model, version).performance
    now = clock.now()
    weight, unknown = (await peers.weights(session, [identity.rnic_id], now)).get(identity.rnic_id, ({}, 0.0))
    total = sum(weight.values()) + unknown
    found = RnicPerformance(
        model=identity.model,
        number=version.number if version is not None else 0,
        at=None,
        q_l=None,
        q_r=None,
        q_r_basis=None,
        peers_known=sum(weight.values()) / total if total > 0.0 else None,
        bandwidth_gbps=None,
        latency_us=None,
        measured_gbps=None,
        full=None,
        above=None,
        head_gbps=bandwidth_gbps(p, 0.0, 0.0),
        head_us=latency_us(p, 0.0, 0.0),
        path=[],
    )
    since = now - timedelta(hours=hours)
    of_peers = await repository.ingress_paths(session, list(weight), since) if weight else {}
    for row in await repository.path(session, identity.rnic_id, since):
        bucket, q_l, own_ingress, gbps = row.bucket, row.q_egress_avg, row.q_ingress_avg, row.tx_gbps_avg
        # Whom it talks to now stands for whom it talked to: only the newest report of its peers is used.
        q_r = peers.mean(weight, unknown, of_peers.get(bucket, {}))
        if q_r is None:
            q_r = own_ingress
        if q_r is None:
            continue
        expected = min(bandwidth_gbps(p, q_l, q_r), _link(row))
        found.path.append(
            PathPoint(
                at=bucket,
                q_l=q_l,
                q_r=q_r,
                expected_gbps=expected,
                expected_us=latency_us(p, q_l, q_r),
                measured_gbps=gbps,
                residual=None if gbps is None else gbps / expected - 1.0,
            )
        )
    newest = await repository.newest_of(session, identity.rnic_id, now - FRESH)
    if newest is None:
        return found
    joined = (await peers.remote_queries(session, [identity.rnic_id], now)).get(identity.rnic_id)
    found.at, found.q_l, found.measured_gbps = newest.time, newest.q_egress, newest.tx_gbps
    found.q_r = joined if joined is not None else newest.q_ingress
    if found.q_r is None:
        return found
    found.q_r_basis = "peers" if joined is not None else "own_ingress"
    predicted = predict(p, newest.q_egress, found.q_r)
    link, bandwidth = _link(newest), predicted.bandwidth_gbps
    bounded = Interval(min(bandwidth.value, link), min(bandwidth.lower, link), min(bandwidth.upper, link))
    found.bandwidth_gbps, found.latency_us = _estimate(bounded), _estimate(predicted.latency_us)
    if found.measured_gbps is not None:
        found.full = found.measured_gbps >= FULL * bounded.value
        found.above = found.measured_gbps > bandwidth.upper
    return found


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
