"""Findings of the job `isolation`: from verdicts to messages of `wallwatch.findings`. `domain/symptoms/isolation` decides."""

from __future__ import annotations

import logging
from typing import Any

import psycopg

from wallwatch.domain.catalogue.isolation import isolation_rule
from wallwatch.domain.hypotheses.versions import Identity
from wallwatch.domain.isolation.live import RnicStream
from wallwatch.domain.isolation.readings import MBPS
from wallwatch.domain.isolation.verdicts import Verdict
from wallwatch.domain.symptoms.isolation import SYMPTOM, Broken, Life, Sufferer, Taker, forget, step

log = logging.getLogger(__name__)

_LASTING = """
SELECT s.host, s.pci, s.rack, f.model, f.driver, f.fw_ver, f.started_at, f.time, (
  SELECT coalesce(sum(seconds), 0) FROM (
    SELECT max(interval_s) AS seconds FROM vf_broken b
    WHERE b.rnic_id = s.rnic_id AND b.time >= f.started_at AND b.time <= f.time GROUP BY b.time
  ) one
) AS broken_s
FROM rnic_state s CROSS JOIN LATERAL (
  SELECT * FROM finding WHERE finding_id = (s.symptoms -> %(symptom)s ->> 'finding_id')::uuid ORDER BY time DESC LIMIT 1
) f
WHERE s.symptoms ? %(symptom)s AND s.symptoms -> %(symptom)s ->> 'until' IS NULL AND f.rule = %(rule)s AND f.state = 'active'
"""

Key = tuple[str, str]


class IsolationFindings:
    """The RNICs with broken seconds in the last minute, or with a finding."""

    def __init__(self) -> None:
        self._lives: dict[Key, Life] = {}
        self._resumed: set[Key] = set()
        """Findings of an earlier process whose RNIC has sent nothing to this one: maybe another process reads it."""
        self._newest_ms = 0

    def resume(self, connection: psycopg.Connection[Any]) -> None:
        """Go on with the findings that are active in the store: a previous process raised them."""
        for host, pci, rack, model, driver, fw_ver, started_at, at, broken_s in connection.execute(
            _LASTING, {"symptom": SYMPTOM, "rule": isolation_rule().rule}
        ):
            life = Life({"host": host, "pci": pci, "rack": rack}, Identity(model, driver, fw_ver))
            life.started_ms, life.known_ms = round(started_at.timestamp() * 1000), round(at.timestamp() * 1000)
            life.broken_ms = life.said_ms = life.sent_ms = life.heard_ms = life.known_ms
            life.total_s = broken_s
            self._lives[host, pci] = life
            self._resumed.add((host, pci))
        if self._lives:
            log.info("going on with %d active findings", len(self._lives))

    def take(self, stream: RnicStream, verdict: Verdict, model: str) -> list[dict[str, Any]]:
        """Take a verdict; cheap for an RNIC without broken seconds."""
        key = (stream.host, stream.pci)
        life = self._lives.get(key)
        at_ms = round(verdict.t * 1000)
        self._newest_ms = max(self._newest_ms, at_ms)
        if life is None:
            if not verdict.victims:
                return []
            subject = {"host": stream.host, "pci": stream.pci, "rack": stream.rack}
            life = self._lives[key] = Life(subject, Identity(model))
        self._resumed.discard(key)
        findings = step(life, at_ms, _broken(stream, verdict, at_ms) if verdict.victims else None, self._newest_ms)
        if life.idle:
            del self._lives[key]
        return findings

    def forget(self, reads_all: bool) -> list[dict[str, Any]]:
        """End the findings of RNICs that send nothing any more, by the newest time that any host sent.

        Parameters
        ----------
        reads_all : bool
            This process reads every RNIC, so one that it has never seen is silent and not another process's.
        """
        findings = []
        for key, life in list(self._lives.items()):
            if key in self._resumed and not reads_all:
                continue
            findings += forget(life, self._newest_ms)
            if life.idle:
                del self._lives[key]
                self._resumed.discard(key)
        return findings


def _broken(stream: RnicStream, verdict: Verdict, at_ms: int) -> Broken:
    return Broken(
        at_ms,
        verdict.interval_s,
        None if verdict.mechanism is None else verdict.mechanism.value,
        tuple(_sufferer(stream, verdict, name) for name in verdict.victims),
        tuple(_taker(stream, verdict, name) for name in verdict.aggressors),
        verdict.load,
        verdict.port_drops_per_s,
    )


def _sufferer(stream: RnicStream, verdict: Verdict, name: str) -> Sufferer:
    part, slo = stream.part(name), stream.slo(name)
    guarantee, limit = (None if rate is None else rate / MBPS for rate in stream.set_rates(name))
    promised = 0.0 if slo is None else slo.min_bps / MBPS
    return Sufferer(part["vf"], part["pod"], verdict.vfs[name].reason, promised, guarantee, limit)


def _taker(stream: RnicStream, verdict: Verdict, name: str) -> Taker:
    part, found, slo = stream.part(name), verdict.vfs[name], stream.slo(name)
    tx, rx = (None if rate is None else rate / MBPS for rate in (found.tx_bps, found.rx_bps))
    return Taker(part["vf"], part["pod"], found.share, found.fair_share, tx, rx, 0.0 if slo is None else slo.min_bps / MBPS)
