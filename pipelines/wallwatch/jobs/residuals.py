"""Measured vs. expected bandwidth, inside the job `forecast`, which has `Q_l` and `Q_r` of the whole fleet every minute, joined over peers.

`domain/symptoms/residual` decides. Findings go to Kafka like those of `classify`. A restarted process resumes the findings that are active
in the store.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson
import psycopg
from confluent_kafka import Producer

from wallwatch.domain.catalogue.residual import residual_rule
from wallwatch.domain.forecast.peers import Weights
from wallwatch.domain.forecast.throttled_share import Congested
from wallwatch.domain.hypotheses.versions import Identity
from wallwatch.domain.symptoms import residual
from wallwatch.domain.symptoms.residual import Lives, Minute
from wallwatch.forecasting.histories.store_queries import Known
from wallwatch.jobs import kafka
from wallwatch.jobs.metrics import FINDINGS

TOPIC = "wallwatch.findings"

# A counter that went backwards was reset and has no value for this minute.
_MEASURED = """
WITH sampled AS (
  SELECT rnic_id, avg(tx_gbps) AS sent, min(rate_gbps) AS rate, EXTRACT(epoch FROM max(time) - min(time))::float8 AS seconds,
    last(port_xmit_wait, time) - first(port_xmit_wait, time) AS waited
  FROM rnic_sample WHERE time >= %(since)s AND time < %(until)s GROUP BY rnic_id
)
SELECT r.rnic_id, r.host, r.pci, r.model, r.driver, r.fw_ver, s.sent, s.rate,
  CASE WHEN s.waited >= 0 AND s.seconds > 0 THEN s.waited / s.seconds END
FROM sampled s JOIN rnic r USING (rnic_id)
"""
# Many RNICs have no pause counters where pause frames are not configured; they count as zero.
_PAUSES = ("rx_pause_ctrl_phy", "rx_global_pause", "rx_prio3_pause")
_FRAMES = " + ".join(f"COALESCE((other ->> '{name}')::float8, 0)" for name in _PAUSES)
_NOTIFIED = "COALESCE(rp_cnp_handled::float8, (other ->> 'cnpHandled')::float8)"
_SECONDS = "NULLIF(EXTRACT(epoch FROM max(time) - min(time))::float8, 0)"
_HELD = f"""
SELECT rnic_id, (last({_FRAMES}, time) - first({_FRAMES}, time)) / {_SECONDS},
  (last({_NOTIFIED}, time) - first({_NOTIFIED}, time)) / {_SECONDS}
FROM rnic_sample WHERE rnic_id = ANY(%(rnics)s) AND time >= %(since)s AND time < %(until)s GROUP BY rnic_id
"""  # noqa: S608
_EXPLAINED = """
SELECT DISTINCT host, pci FROM rnic_state, jsonb_each(symptoms) AS one
WHERE one.key <> 'unexplained' AND (one.value ->> 'until' IS NULL OR (one.value ->> 'until')::timestamptz > %(since)s)
"""
_LASTING = """
SELECT s.host, s.pci, s.rack, f.model, f.driver, f.fw_ver, f.started_at, f.time, f.remedies <> '[]'::jsonb
FROM rnic_state s CROSS JOIN LATERAL (
  SELECT * FROM finding WHERE finding_id = (s.symptoms -> 'unexplained' ->> 'finding_id')::uuid ORDER BY time DESC LIMIT 1
) f
WHERE s.symptoms ? 'unexplained' AND s.symptoms -> 'unexplained' ->> 'until' IS NULL AND f.rule = %(rule)s AND f.state = 'active'
"""


class Residuals:
    """Follows the fleet minute by minute."""

    def __init__(self, producer: Producer) -> None:
        self._producer = producer
        self._lives: Lives | None = None

    def step(
        self,
        connection: psycopg.Connection[Any],
        minute: int,
        known: Sequence[Known],
        queries: npt.NDArray[np.float64],
        of_peers: npt.NDArray[np.bool_],
        link_gbps: npt.NDArray[np.float64],
        weights: Weights,
        congested: Congested,
    ) -> int:
        """Evaluate one minute; returns how many findings were sent.

        Parameters
        ----------
        minute : int
            Since 1970.
        known : sequence, length rnics
        queries : array (rnics, 2)
            `Q_l` and `Q_r` over packets in flight; NaN where unknown.
        of_peers : array (rnics,)
            Whether `Q_r` was measured at the peers.
        link_gbps : array (rnics,)
            Bandwidth of the PCIe link; NaN where unknown.
        weights : Weights
            How much each RNIC sends to each other one.
        congested : Congested
            Which ports are congested.
        """
        if self._lives is None:
            self._lives = _lasting(connection)
        since = datetime.fromtimestamp(minute * 60, UTC)
        span = {"since": since, "until": since + timedelta(minutes=1)}
        rule = residual_rule()
        places = {(one.host, one.pci): i for i, one in enumerate(known)}
        rows = [row for row in connection.execute(_MEASURED, span).fetchall() if (row[1], row[2]) in places]
        waiting = [row[0] for row in rows if row[8] is not None and row[8] >= rule.waited_ticks_per_s]
        held = {row[0]: row[1:] for row in connection.execute(_HELD, {**span, "rnics": waiting}).fetchall()} if waiting else {}
        explained = self._explained(connection, span["until"], places, weights)
        to_congested = _share(weights, congested.receives)
        minutes = []
        for rnic_id, host, pci, model, driver, fw_ver, sent, rate, waited in rows:
            place = places[host, pci]
            paused, notified = held.get(rnic_id, (None, None))
            bounds = [x for x in (rate, link_gbps[place]) if x is not None and np.isfinite(x) and x > 0]
            minutes.append(
                Minute(
                    host, pci, known[place].rack, Identity(model or "", driver or "", fw_ver or ""), (minute + 1) * residual.MINUTE_MS,
                    _number(queries[place, 0]), _number(queries[place, 1]) if of_peers[place] else None,
                    None if sent is None else float(sent), float(min(bounds)) if bounds else None,
                    None if waited is None else float(waited), paused, notified,
                    bool(explained[place]), float(to_congested[place]),
                )
            )  # fmt: skip
        findings = residual.step(self._lives, minutes, (minute + 1) * residual.MINUTE_MS)
        for finding in findings:
            FINDINGS.labels(finding["symptom"], finding["state"]).inc()
            kafka.produce(self._producer, TOPIC, finding["host"], orjson.dumps(finding))
        self._producer.poll(0)
        return len(findings)

    @staticmethod
    def _explained(
        connection: psycopg.Connection[Any], until: datetime, places: Mapping[tuple[str, str], int], weights: Weights
    ) -> npt.NDArray[np.bool_]:
        """RNICs with a current or recent symptom, and RNICs that send a large share of their packets to such RNICs."""
        rule = residual_rule()
        own = np.zeros(len(places), dtype=np.bool_)
        for row in connection.execute(_EXPLAINED, {"since": until - timedelta(minutes=rule.after_symptom_min)}):
            if (row[0], row[1]) in places:
                own[places[row[0], row[1]]] = True
        return np.asarray(own | (_share(weights, own) > rule.share_to_symptoms))


def _share(weights: Weights, of: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
    """Share of each RNIC's packets that goes to the selected RNICs; 0 where it sends none."""
    total = np.bincount(weights.senders, weights=weights.packets, minlength=len(of)) + weights.elsewhere
    selected = np.bincount(weights.senders, weights=weights.packets * of[weights.receivers], minlength=len(of))
    return np.asarray(selected / np.where(total > 0.0, total, 1.0))


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _lasting(connection: psycopg.Connection[Any]) -> Lives:
    """Active findings that a previous process raised."""
    found: Lives = {}
    for host, pci, rack, model, driver, fw_ver, started_at, at, below in connection.execute(_LASTING, {"rule": residual_rule().rule}):
        subject = {"host": host, "pci": pci, "rack": rack}
        started_ms, known_ms = (int(time.timestamp() * 1000) for time in (started_at, at))
        life = residual.Life(subject, Identity(model, driver, fw_ver), "below" if below else "above", started_ms, known_ms)
        life.started_ms = started_ms
        found[host, pci] = life
    return found
