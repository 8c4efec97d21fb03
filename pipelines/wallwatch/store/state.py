"""The table `rnic_state`: one row per RNIC with its walls, headroom, symptoms and newest rates.

The page Fleet reads it, so a row is written when a visible value has changed, and within what the database can sustain: at most
`BUDGET_PER_S` rows per second. Rows of a small fleet are at most a second old; 40,000 RNICs share the budget, and their rows are at most
about ten seconds old.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from typing import Any, NamedTuple

import orjson
import psycopg

from wallwatch.domain.catalogue.load import walls
from wallwatch.domain.catalogue.models import Profile
from wallwatch.domain.catalogue.promoted import profile_of
from wallwatch.domain.walls.headroom import WallReading, nearest, read_walls
from wallwatch.store.identities import Identities, Rnic
from wallwatch.store.tables import NOTIFY_CHANNEL, RECENT_MIN

BUDGET_PER_S = 4_000
LOCK = 7_241_001
"""Advisory lock that makes `change_seq` grow in commit order even with several ingest processes."""

REFRESH_S = 10.0
"""A row without visible changes is written this often, so that `seen_at` separates a silent RNIC from a quiet one."""

RECENT = f"{RECENT_MIN} minutes"
"""How long a symptom that has cleared stays in its RNIC's row, in event time."""

MISSED_SAMPLES = 3

SHOWN_FIELDS: Mapping[str, tuple[str, ...]] = {
    "rnic": ("tx_gbps", "rx_gbps"),
    "rnic_offload": tuple(wall.signal for wall in walls().values()),
}
"""Measurement -> the fields that `rnic_state` is made of."""


def stale_after_s(sampling_interval_s: float, refresh_s: float = REFRESH_S) -> float:
    """Return the age of `seen_at` past which an RNIC has missed `MISSED_SAMPLES` samples; without them it may be one refresh old.

    >>> stale_after_s(10)
    40.0
    """
    return MISSED_SAMPLES * sampling_interval_s + refresh_s


@dataclass(slots=True)
class Known:
    """The newest values of one RNIC in this process; None until it has received any."""

    rates: Mapping[str, Any] | None = None
    rates_ns: int = 0
    offload: Mapping[str, Any] | None = None
    offload_ns: int = 0
    walls: list[WallReading] | None = None
    walls_of: tuple[Mapping[str, Any], Profile | None] | None = None
    """What `walls` were read from."""
    written: tuple[Any, ...] | None = None
    """The coarse view at the last write."""
    written_s: float = -1e9

    def coarse(self) -> tuple[Any, ...]:
        """Values at visible precision: headroom to half a percent, the nearest wall, rates to about two percent."""
        first = nearest(self.walls or ())
        rates = self.rates or {}
        return (
            None if first is None else (round(first.headroom * 200), first.wall),
            _step(rates.get("tx_gbps")),
            _step(rates.get("rx_gbps")),
        )


def _step(gbps: float | None) -> int | None:
    if gbps is None:
        return None
    return round(gbps * 10) if gbps < 1.0 else round(gbps * 2) if gbps < 50.0 else round(gbps / 2) + 1_000


class StoredFinding(NamedTuple):
    """One message of `wallwatch.findings` with the numbers of its RNIC and host."""

    rnic_id: int | None
    host_id: int
    shown_on: tuple[int, ...]
    """RNICs whose row shows the finding: all RNICs of the host if it concerns the host."""
    message: Mapping[str, Any]


@dataclass(slots=True)
class News:
    """The newest samples of one batch: RNIC -> (ns, those of its fields that are shown)."""

    rates: dict[int, tuple[int, Mapping[str, Any]]] = field(default_factory=dict)
    offload: dict[int, tuple[int, Mapping[str, Any]]] = field(default_factory=dict)


class StateKeeper:
    """Merges news and writes the rows that are due. All `now_s` come from one monotonic clock."""

    def __init__(self, identities: Identities) -> None:
        self._identities = identities
        self._known: dict[int, Known] = {}
        self._pending: dict[int, None] = {}
        self._allowance = float(BUDGET_PER_S)
        self._last_s: float | None = None

    def take(self, news: News, now_s: float) -> None:
        """Store a batch's newest samples and note which rows are due; samples older than known ones are ignored."""
        for rnic_id, (at_ns, fields) in news.rates.items():
            known = self._known.setdefault(rnic_id, Known())
            if at_ns >= known.rates_ns:
                known.rates, known.rates_ns = fields, at_ns
        for rnic_id, (at_ns, fields) in news.offload.items():
            known = self._known.setdefault(rnic_id, Known())
            if at_ns >= known.offload_ns:
                known.offload, known.offload_ns = fields, at_ns
        # Checking every sample of a large fleet would cost more than writing as many rows as the budget allows.
        least_age_s = 0.5 * len(self._known) / BUDGET_PER_S
        for rnic_id in {**news.rates, **news.offload}:
            known = self._known[rnic_id]
            age_s = now_s - known.written_s
            if age_s < least_age_s or rnic_id in self._pending:
                continue
            self._read_walls(rnic_id, known)
            if age_s >= REFRESH_S or known.coarse() != known.written:
                self._pending[rnic_id] = None

    def _read_walls(self, rnic_id: int, known: Known) -> None:
        if known.offload is not None:
            rnic = self._identities.by_id[rnic_id]
            tags = rnic.tags or {}
            profile = profile_of(rnic.model, tags.get("driver"), tags.get("fw_ver"))
            if known.walls_of is None or known.walls_of[0] is not known.offload or known.walls_of[1] is not profile:
                known.walls, known.walls_of = read_walls(known.offload, profile), (known.offload, profile)

    @property
    def waiting(self) -> bool:
        """Whether rows are to be written, now or later."""
        return bool(self._pending)

    def due(self, now_s: float) -> list[int]:
        """RNICs to write now, within the budget; those that waited longest come first."""
        if self._last_s is not None:
            self._allowance = min(self._allowance + (now_s - self._last_s) * BUDGET_PER_S, float(BUDGET_PER_S))
        self._last_s = now_s
        return list(islice(self._pending, int(self._allowance)))

    def write(self, connection: psycopg.Connection[Any], due: list[int], findings: Sequence[StoredFinding]) -> bool:
        """Write rows and symptoms inside the caller's transaction; True when anything was written. NOTIFY goes out with the commit."""
        if not due and not findings:
            return False
        with connection.pipeline():  # all of it takes one answer of the database
            connection.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])
            for rates_known in (True, False):
                rows = [(i, self._identities.by_id[i], self._known[i]) for i in due if (self._known[i].rates is not None) == rates_known]
                for rnic_id, _, known in rows:
                    self._read_walls(rnic_id, known)
                if rows:
                    connection.execute(_UPSERT_WITH_RATES if rates_known else _UPSERT_WITHOUT_RATES, [_as_json(rows)])
            for finding in findings:
                for rnic_id in finding.shown_on:
                    self._write_symptom(connection, rnic_id, finding.message)
            connection.execute(f"NOTIFY {NOTIFY_CHANNEL}")
        return True

    def _write_symptom(self, connection: psycopg.Connection[Any], rnic_id: int, message: Mapping[str, Any]) -> None:
        rnic, symptom = self._identities.by_id[rnic_id], message["symptom"]
        entry = {
            "since": message["started_at"],
            "finding_id": message["finding_id"],
            "severity": message["severity"],
            "until": None if message["state"] == "active" else message["at"],
        }
        values = {"rnic_id": rnic_id, "host": rnic.host, "pci": rnic.pci, "rack": rnic.rack, "model": rnic.model, "symptom": symptom}
        shown = orjson.dumps({symptom: entry}).decode()
        connection.execute(
            _SYMPTOM, {**values, "set": shown, "at": message["at"], "since": message["started_at"], "kept": f"{RECENT_MIN} minutes"}
        )

    def written(self, due: list[int], now_s: float) -> None:
        """Note, after the commit, that these rows are in the database."""
        self._allowance -= len(due)
        for rnic_id in due:
            known = self._known[rnic_id]
            known.written, known.written_s = known.coarse(), now_s
            self._pending.pop(rnic_id, None)


_WRITTEN = {
    "rnic_id": "int",
    "host": "text",
    "pci": "text",
    "rack": "text",
    "model": "text",
    "walls": "jsonb",
    "headroom": "float8",
    "nearest_wall": "text",
    "tx_gbps": "float8",
    "rx_gbps": "float8",
    "seen_at": "timestamptz",
}
"""Column that telemetry fills -> its SQL type, in the order of `_values`."""

_UPSERT = """
INSERT INTO rnic_state AS s ({names}, change_seq)
SELECT {names}, nextval('rnic_state_change_seq_values')
FROM json_to_recordset(%s::json) AS n ({columns})
ON CONFLICT (rnic_id) DO UPDATE SET
  rack = excluded.rack,
  model = COALESCE(excluded.model, s.model),
  walls = COALESCE(excluded.walls, s.walls),
  headroom = CASE WHEN excluded.walls IS NULL THEN s.headroom ELSE excluded.headroom END,
  nearest_wall = CASE WHEN excluded.walls IS NULL THEN s.nearest_wall ELSE excluded.nearest_wall END,
  {rates}
  seen_at = GREATEST(s.seen_at, excluded.seen_at),
  updated_at = now(),
  change_seq = excluded.change_seq
"""
_COLUMNS = {"names": ", ".join(_WRITTEN), "columns": ", ".join(f"{name} {type}" for name, type in _WRITTEN.items())}
_UPSERT_WITH_RATES = _UPSERT.format(**_COLUMNS, rates="tx_gbps = excluded.tx_gbps, rx_gbps = excluded.rx_gbps,")
_UPSERT_WITHOUT_RATES = _UPSERT.format(**_COLUMNS, rates="")
"""A process knows no rates before its first `rnic` sample, so it leaves those of its predecessor unchanged."""

# Kafka may repeat messages or replay from the start: a message older than the known state of the same symptom changes nothing, nor does a
# message of a finding that has cleared. Cleared symptoms stay in the row for a while, so operators still see them later.
# `updated_at` stays: `store/admission` reads from it when a sample came last, and findings of a host are in the rows of removed cards, too.
_SYMPTOM = """
INSERT INTO rnic_state AS s (rnic_id, host, pci, rack, model, symptoms, findings_at, updated_at, change_seq)
VALUES (%(rnic_id)s, %(host)s, %(pci)s, %(rack)s, %(model)s, %(set)s::jsonb, %(at)s,
  COALESCE((SELECT first_seen FROM rnic WHERE rnic_id = %(rnic_id)s), now()), nextval('rnic_state_change_seq_values'))
ON CONFLICT (rnic_id) DO UPDATE SET
  symptoms = (
    SELECT COALESCE(jsonb_object_agg(e.key, e.value), '{}') FROM jsonb_each(s.symptoms) AS e
    WHERE e.value ->> 'until' IS NULL
      OR (e.value ->> 'until')::timestamptz > GREATEST(s.findings_at, excluded.findings_at) - %(kept)s::interval
  ) || excluded.symptoms,
  findings_at = GREATEST(s.findings_at, excluded.findings_at),
  change_seq = excluded.change_seq
WHERE (s.findings_at IS NULL OR excluded.findings_at > s.findings_at - %(kept)s::interval)
  AND CASE WHEN s.symptoms ? %(symptom)s::text THEN
    (s.symptoms -> %(symptom)s::text ->> 'since')::timestamptz < %(since)s::timestamptz
    OR ((s.symptoms -> %(symptom)s::text ->> 'since')::timestamptz = %(since)s::timestamptz
        AND s.symptoms -> %(symptom)s::text ->> 'until' IS NULL)
  ELSE true END
"""


def _shown_walls(walls: Iterable[WallReading]) -> dict[str, dict[str, Any]]:
    return {w.wall: {"value": w.value, "limit": w.limit, "headroom": round(w.headroom, 4), "basis": w.basis} for w in walls}


def _as_json(rows: list[tuple[int, Rnic, Known]]) -> str:
    """All rows as one parameter: lists of numbers and texts cost some thirty times as much to pass on (docs/decisions/0024)."""
    return orjson.dumps([dict(zip(_WRITTEN, _values(*row), strict=True)) for row in rows]).decode()


def _values(rnic_id: int, rnic: Rnic, known: Known) -> tuple[Any, ...]:
    first = nearest(known.walls or ())
    tx, rx = (None if v is None else float(v) for v in map((known.rates or {}).get, ("tx_gbps", "rx_gbps")))
    shown = None if known.walls is None else _shown_walls(known.walls)
    headroom, nearest_wall = (None, None) if first is None else (first.headroom, first.wall)
    seen_at = datetime.fromtimestamp(max(known.rates_ns, known.offload_ns) / 1e9, UTC)
    return (rnic_id, rnic.host, rnic.pci, rnic.rack, rnic.model, shown, headroom, nearest_wall, tx, rx, seen_at)
