"""Forecasts in ingest: from the topic `wallwatch.forecasts` into the tables `forecast` and `rnic_forecast`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

import orjson
import psycopg

from wallwatch.domain.forecast.confidence import Confidence
from wallwatch.domain.telemetry.decode import Refused, check_names, parse_json
from wallwatch.domain.telemetry.shown import shown

TOPIC = "wallwatch.forecasts"
ROWS_PER_MINUTE = 8_000
"""Forecasts stored per minute: 16 MB per minute, 160 GB per week."""
_TEXTS = ("host", "pci", "at")
_FLAGS = ("cold_start", "policy_violated")


class StoredForecast(NamedTuple):
    """One message with the number of its RNIC."""

    rnic_id: int
    at: datetime
    message: dict[str, Any]


def decode_forecast(value: bytes | None) -> dict[str, Any]:
    """Read one message of `wallwatch.forecasts`.

    Raises
    ------
    Refused
        When a field that the tables require is missing or has the wrong type.
    """
    found = parse_json(value)
    for name in _TEXTS:
        if not isinstance(found.get(name), str) or not found[name]:
            raise Refused("missing_field", f"the forecast's {name!r} is missing or is not text")
    check_names({name: found.get(name) or "" for name in ("host", "pci", "rack", "model")})
    for name in _FLAGS:
        if not isinstance(found.get(name), bool):
            raise Refused("missing_field", f"the forecast's {name!r} is missing or is not true or false")
    if not isinstance(found.get("walls"), dict) or not all(isinstance(w, dict) for w in found["walls"].values()):
        raise Refused("wrong_type", "the forecast's walls are not an object of objects")
    times = [v for w in found["walls"].values() for v in w.values()]
    confidence = found.get("confidence")
    if confidence is not None and not (isinstance(confidence, str) and confidence in set(Confidence)):
        raise Refused("wrong_type", f"the forecast's confidence is none of {', '.join(Confidence)}")
    decline = found.get("decline")
    if decline is not None:
        if not isinstance(decline, dict):
            raise Refused("wrong_type", "the forecast's decline is not an object")
        times += [decline.get("share"), decline.get("in_s")]
        _time_of(decline.get("since"), "decline.since")
    if any(v is not None and (isinstance(v, bool) or not isinstance(v, int | float)) for v in times):
        raise Refused("wrong_type", "a time, limit or share of the forecast is not a number")
    found["at"] = found["at"][:40]
    _time_of(found["at"], "at")
    return found


def _time_of(value: object, name: str) -> datetime | None:
    """Parse an RFC 3339 time; None when there is none."""
    if value is None:
        return None
    try:
        at = datetime.fromisoformat(shown(value, 80))
    except ValueError:
        at = None
    if at is None or at.tzinfo is None:
        raise Refused("bad_timestamp", f"the forecast's {name!r} is not an RFC 3339 time: {shown(value, 40)!r}")
    return at


def keep_s(wanted: float | None, rnics: int) -> float:
    """Shortest time between two stored forecasts of an RNIC: the setting, or whole minutes such that fewer than 8,000 rows per minute come.

    >>> keep_s(None, 100), keep_s(None, 40_000), keep_s(120.0, 40_000)
    (60.0, 300.0, 120.0)
    """
    return wanted if wanted is not None else 60.0 * max(1, -(-rnics // ROWS_PER_MINUTE))


class NextWall(NamedTuple):
    """The wall that is reached first, and when; all None if none may be within the hour."""

    wall: str | None = None
    earliest_in_s: float | None = None
    likely_in_s: float | None = None
    latest_in_s: float | None = None
    chance: float | None = None


def next_wall(walls: dict[str, dict[str, Any]]) -> NextWall:
    """The wall that is reached first: by likely time, otherwise the one with the highest chance, otherwise by earliest time.

    >>> next_wall({"a": {"earliest_in_s": 60, "likely_in_s": None}, "b": {"earliest_in_s": 120, "likely_in_s": 300, "chance": 0.8}})
    NextWall(wall='b', earliest_in_s=120, likely_in_s=300, latest_in_s=None, chance=0.8)
    >>> next_wall({"a": {"earliest_in_s": 60, "chance": 0.1}, "b": {"earliest_in_s": 120, "chance": 0.3}}).wall
    'b'
    """
    end = float("inf")

    def order(one: dict[str, Any]) -> tuple[float, float, float]:
        likely, earliest = one.get("likely_in_s"), one.get("earliest_in_s")
        return (end if likely is None else likely, -(one.get("chance") or 0.0), end if earliest is None else earliest)

    possible = {name: one for name, one in walls.items() if one.get("earliest_in_s") is not None}
    name, first = min(possible.items(), key=lambda item: order(item[1]), default=(None, {}))
    return NextWall(name, *(first.get(field) for field in NextWall._fields[1:]))


def _since(forecast: StoredForecast, decline: dict[str, Any]) -> datetime | None:
    """Since when a decline is predicted; an earlier version of the job sends only when the decline comes."""
    since = _time_of(decline.get("since"), "decline.since")
    return since if since is not None or decline.get("in_s") is None else forecast.at


# All forecasts are one JSON parameter: lists, one for each column, take psycopg ten times as long. Whether a forecast is stored depends on
# when the previous one was.
_WRITE = """
WITH n AS MATERIALIZED (
  SELECT * FROM json_to_recordset(%(rows)s::json) AS n (at timestamptz, rnic_id int, forecaster text, cold boolean, violated boolean,
    wall text, earliest float8, likely float8, latest float8, chance float8, confidence text, share float8, since timestamptz, in_s float8,
    body jsonb)
), kept AS (
  INSERT INTO forecast (time, rnic_id, forecaster, cold_start, policy_violated, body)
  SELECT n.at, n.rnic_id, n.forecaster, n.cold, n.violated, n.body FROM n LEFT JOIN rnic_forecast r ON r.rnic_id = n.rnic_id
  WHERE r.kept_at IS NULL OR n.at >= r.kept_at + make_interval(secs => %(keep_s)s)
  ON CONFLICT DO NOTHING
)
INSERT INTO rnic_forecast AS r (rnic_id, made_at, kept_at, cold_start, policy_violated, next_wall, earliest_in_s, likely_in_s, latest_in_s,
  wall_chance, confidence, decline_share, decline_since, decline_in_s, body)
SELECT DISTINCT ON (n.rnic_id) n.rnic_id, n.at, n.at, n.cold, n.violated, n.wall, n.earliest, n.likely, n.latest,
  n.chance, n.confidence, n.share, n.since, n.in_s, n.body
FROM n ORDER BY n.rnic_id, n.at DESC
ON CONFLICT (rnic_id) DO UPDATE SET
  made_at = excluded.made_at, cold_start = excluded.cold_start, policy_violated = excluded.policy_violated, next_wall = excluded.next_wall,
  earliest_in_s = excluded.earliest_in_s, likely_in_s = excluded.likely_in_s, latest_in_s = excluded.latest_in_s,
  wall_chance = excluded.wall_chance, confidence = excluded.confidence,
  decline_share = excluded.decline_share, decline_since = excluded.decline_since, decline_in_s = excluded.decline_in_s,
  body = excluded.body,
  kept_at = CASE WHEN excluded.made_at >= r.kept_at + make_interval(secs => %(keep_s)s) THEN excluded.made_at ELSE r.kept_at END
WHERE excluded.made_at >= r.made_at
"""


def write(connection: psycopg.Connection[Any], forecasts: Sequence[StoredForecast], keep_s: float) -> None:
    """Store forecasts inside the caller's transaction; a forecast that is stored already adds nothing.

    Parameters
    ----------
    keep_s : float
        Shortest time between two stored forecasts of an RNIC, in seconds; `rnic_forecast` always has the newest.
    """
    if not forecasts:
        return
    rows = orjson.dumps([_row(forecast) for forecast in forecasts]).decode()
    connection.execute(_WRITE, {"rows": rows, "keep_s": keep_s})


def _row(forecast: StoredForecast) -> dict[str, Any]:
    message = forecast.message
    wall = next_wall(message["walls"])
    decline = message.get("decline") or {}
    return {
        "at": forecast.at,
        "rnic_id": forecast.rnic_id,
        "forecaster": str(message.get("forecaster") or ""),
        "cold": message["cold_start"],
        "violated": message["policy_violated"],
        "wall": wall.wall,
        "earliest": wall.earliest_in_s,
        "likely": wall.likely_in_s,
        "latest": wall.latest_in_s,
        "chance": wall.chance,
        "confidence": message.get("confidence"),
        "share": decline.get("share"),
        "since": _since(forecast, decline),
        "in_s": decline.get("in_s"),
        "body": message,
    }
