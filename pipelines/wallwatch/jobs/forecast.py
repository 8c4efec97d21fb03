"""The job `forecast`: once per minute, forecast every RNIC from the store and write to `wallwatch.forecasts`.

The last hour of the fleet is in memory, so each turn reads only the minute that has just ended, and the hour that followed this minute a
day and a week ago. State may be lost: a restarted process reads the hour back and continues the active decline predictions and the scores
of its models. Of several processes one works, the others are on standby.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson
import psycopg

from wallwatch import kafka_clients
from wallwatch.domain.forecast import peers
from wallwatch.domain.forecast.confidence import Confidence
from wallwatch.domain.forecast.decline import Declines, reportable
from wallwatch.domain.forecast.message import messages
from wallwatch.domain.forecast.physical_model import Parameters, in_flight, link_gbps
from wallwatch.domain.forecast.predict import Forecast, predict
from wallwatch.domain.forecast.targets import HISTORY_MIN, HORIZONS_MIN, column, limits, targets
from wallwatch.domain.forecast.throttle_tracker import RnicMinute, ThrottleTracker
from wallwatch.domain.forecast.throttled_share import Congested
from wallwatch.domain.forecast.window import Window
from wallwatch.forecasting.histories import port_load, store_queries
from wallwatch.forecasting.live.recent_minutes import Rings
from wallwatch.forecasting.registry.folder import Registry
from wallwatch.jobs import kafka
from wallwatch.jobs.contention import ContentionWatch
from wallwatch.jobs.forecast_models import Models
from wallwatch.jobs.garbage import Garbage
from wallwatch.jobs.metrics import FORECAST_SECONDS, FORECAST_WORKING, FORECASTS, serve
from wallwatch.jobs.residuals import Residuals
from wallwatch.jobs.singleton_lock import SingletonLock
from wallwatch.settings import Settings
from wallwatch.store.promoted import ProfileWatcher

log = logging.getLogger(__name__)

TOPIC = "wallwatch.forecasts"
RETRY_S = 5.0
SENT_TOGETHER = 500
"""Forecasts that are sent at once: `ingest` stores them in less than a tenth of a second, and samples that come meanwhile do not wait."""
SEND_S = 30.0
"""Longest time over which those of a large fleet are spread; less where the next minute is due before."""

LOCK = 7_241_022
"""PostgreSQL advisory lock: the process that holds it forecasts."""
STANDBY_S = 2.0


class Fleet:
    """The RNICs in the store and their last hour."""

    def __init__(self) -> None:
        self.known: list[store_queries.Known] = []
        self.models: list[str | None] = []
        self.hosts = np.empty(0, dtype=np.int64)
        self._place: dict[int, int] = {}
        self.peers = peers.weights({}, 0)
        self.congested = Congested.nowhere(0)
        self._tracker = ThrottleTracker()
        self._peers_of = -store_queries.ADDRESSES_MIN
        self.rings = Rings()

    def refresh_rnics(self, connection: psycopg.Connection[Any]) -> None:
        """Read new RNICs, and models that have become known."""
        for rnic_id, known in store_queries.rnics(connection).items():
            place = self._place.setdefault(rnic_id, len(self.known))
            if place == len(self.known):
                self.known.append(known)
            else:
                self.known[place] = known
        self.models = [k.model for k in self.known]
        numbers: dict[str, int] = {}
        self.hosts = np.array([numbers.setdefault(k.host, len(numbers)) for k in self.known], dtype=np.int64)
        self.rings.grow(len(self.known))

    def fill(self, connection: psycopg.Connection[Any], minute: int) -> None:
        """Read what the rings do not have for a forecast at the end of `minute`."""
        rings = self.rings
        self.congested = self._ports(connection, minute)
        self._refresh_peers(connection, minute)
        self._links(connection, minute)
        fresh = store_queries.newest(connection, minute)
        places = np.array([self._place[r[0]] for r in fresh if r[0] in self._place], dtype=np.intp)
        found = np.array([r[1:] for r in fresh if r[0] in self._place], dtype=np.float64).reshape(
            len(places), 2 + len(store_queries.FIELDS)
        )
        self._tracker.step(self.peers, self.congested, self._rnic_minute(minute, places, found))
        first = max((m for m in range(minute - HISTORY_MIN + 1, minute) if not rings.now.has(m)), default=None)
        if first is not None:
            for m, rows, values in self._minutes(store_queries.rolled_up(connection, minute - HISTORY_MIN + 1, minute)):
                rings.now.put(m, rows, values)
            self._containers(connection, minute - HISTORY_MIN + 1, minute)
        remote = self._joined(places, found[:, -1], found[:, 1])
        rings.spread.put(minute, places, np.stack([found[:, 0], remote.spread[places], remote.of_peers[places]], axis=1))
        rings.now.put(minute, places, self._wide(found[:, 2:], remote.mean[places]))
        self._read_late_minutes(connection, minute, places)
        self._containers(connection, minute, minute + 1)
        for ago, ring in rings.seasons.items():
            last = minute - ago + max(HORIZONS_MIN)
            begin = last if ring.has(last - 1) else last - HISTORY_MIN + 1
            for m, rows, values in self._minutes(store_queries.rolled_up(connection, begin, last + 1)):
                ring.put(m, rows, values)

    def _read_late_minutes(self, connection: psycopg.Connection[Any], minute: int, places: npt.NDArray[np.intp]) -> None:
        """Read late samples: the minutes before this one of RNICs that were silent then and report again."""
        first = self.rings.now.silent_since(minute, places)
        back = first < minute
        if back.any():
            numbers = {place: rnic_id for rnic_id, place in self._place.items()}
            only = [numbers[int(place)] for place in places[back]]
            for m, rows, values in self._minutes(store_queries.rolled_up(connection, int(first[back].min()), minute, only)):
                self.rings.now.add(m, rows, values)

    def violated(self, connection: psycopg.Connection[Any], minute: int) -> npt.NDArray[np.bool_]:
        """RNICs with a policy violation on them or on their host within the last hour."""
        found = store_queries.violated(connection, minute - HISTORY_MIN + 1, minute + 1)
        return np.array([(k.host, k.pci) in found or (k.host, "") in found for k in self.known], dtype=np.bool_)

    def declining(self, connection: psycopg.Connection[Any], minute: int) -> npt.NDArray[np.int64]:
        """The minute since which each decline is predicted, as the previous process left them (`Declines.since`)."""
        since = np.full(len(self.known), -1, dtype=np.int64)
        for rnic_id, since_minute in store_queries.declining(connection, minute):
            if rnic_id in self._place:
                since[self._place[rnic_id]] = since_minute
        return since

    def _ports(self, connection: psycopg.Connection[Any], minute: int) -> Congested:
        """Put the sent bandwidth into its ring; return which ports are congested."""
        rows = [row for row in store_queries.ports(connection, minute) if row[0] in self._place]
        places = np.array([self._place[row[0]] for row in rows], dtype=np.intp)
        found = np.array([row[1:] for row in rows], dtype=np.float64).reshape(len(rows), 1 + len(port_load.COUNTERS))
        rates = {name: np.full(len(self.known), np.nan) for name in port_load.COUNTERS}
        for i, name in enumerate(port_load.COUNTERS, 1):
            rates[name][places] = found[:, i]
        self.rings.sent.put(minute, places, port_load.sent_gbps(found[:, 0], rates["packets"][places])[:, None])
        return port_load.congested(rates)

    def _links(self, connection: psycopg.Connection[Any], minute: int) -> None:
        """Put the bandwidth of PCIe links into its ring."""
        rows = [row for row in store_queries.links(connection, minute) if row[0] in self._place]
        speeds, lanes = (np.array([row[i] for row in rows], dtype=np.float64) for i in (1, 2))
        places = np.array([self._place[row[0]] for row in rows], dtype=np.intp)
        self.rings.link.put(minute, places, link_gbps(speeds, lanes)[:, None])

    def _refresh_peers(self, connection: psycopg.Connection[Any], minute: int) -> None:
        """Read which RNICs exchange traffic, every few minutes and when the fleet has grown."""
        if minute - self._peers_of < store_queries.ADDRESSES_MIN and len(self.peers.elsewhere) == len(self.known):
            return
        reports = store_queries.reports(connection, minute - store_queries.ADDRESSES_MIN + 1, minute + 1)
        self.peers = peers.weights({self._place[i]: report for i, report in reports.items() if i in self._place}, len(self.known))
        self._peers_of = minute

    def _rnic_minute(self, minute: int, places: npt.NDArray[np.intp], found: npt.NDArray[np.float64]) -> RnicMinute:
        """What the newest samples (`store.newest`) measure of the RNICs of the whole fleet."""
        chains = np.full((4, len(self.known)), np.nan)
        chains[:, places] = found[:, 2 + store_queries.FIELDS.index("q_egress")], found[:, 0], found[:, -1], found[:, 1]
        sent, link = (ring.last(minute)[:, -1, 0] for ring in (self.rings.sent, self.rings.link))
        return RnicMinute(Parameters.of(self.models), chains[0], chains[1], chains[2], chains[3], sent, link)

    def _joined(self, places: npt.NDArray[np.intp], q_ingress: npt.NDArray[np.float64], spread: npt.NDArray[np.float64]) -> peers.Joined:
        """`Q_r` of the whole fleet, from the ingress lookups of those RNICs that report any."""
        of_all = np.full((2, len(self.known)), np.nan)
        of_all[:, places] = q_ingress, spread
        return peers.join(self.peers, of_all[0], of_all[1], self._tracker.held.asked(self.peers))

    def _containers(self, connection: psycopg.Connection[Any], first: int, last: int) -> None:
        places = {(k.host, k.pci): i for i, k in enumerate(self.known)}
        for minute in range(first, last):
            self.rings.containers.put(minute, np.empty(0, dtype=np.intp), np.empty((0, 1)))
        for host, pci, minute, change in store_queries.containers(connection, first, last):
            if (host, pci) in places:
                self.rings.containers.put(minute, np.array([places[host, pci]]), np.array([[float(change)]]))

    def _minutes(self, rows: list[tuple[Any, ...]]) -> list[tuple[int, npt.NDArray[np.intp], npt.NDArray[np.float64]]]:
        known = [row for row in rows if row[0] in self._place]
        table = np.array(known, dtype=np.float64).reshape(len(known), 2 + len(store_queries.FIELDS))
        found = []
        for minute in np.unique(table[:, 1]):
            some = table[table[:, 1] == minute]
            places = np.array([self._place[int(i)] for i in some[:, 0]], dtype=np.intp)
            remote = self._joined(places, some[:, -1], np.full(len(some), np.nan))
            found.append((int(minute), places, self._wide(some[:, 2:], remote.mean[places])))
        return found

    @staticmethod
    def _wide(fields: npt.NDArray[np.float64], q_r: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Widen the fields of samples and the joined `q_r` to all targets."""
        wide = np.full((len(fields), len(targets())), np.nan)
        wide[:, [k for k, t in enumerate(targets()) if t.field is not None]] = fields[:, :-1]
        wide[:, column("q_r")] = q_r
        return wide


class ForecastJob:
    """The running job; `run` returns after `stop`."""

    def __init__(self, settings: Settings, now: Callable[[], float] = time.time) -> None:
        self._settings = settings
        self._now = now
        self._stop = threading.Event()
        self._producer = kafka_clients.producer(settings, {"linger.ms": 20, "compression.type": "zstd"})
        self._lock = SingletonLock(settings.libpq_url, LOCK, "wallwatch-forecast-lock")
        self._begin()

    def _begin(self) -> None:
        """Reset all state in memory; the store has what this process continues from."""
        self._fleet = Fleet()
        self._models = Models(Registry(self._settings.registry_dir), self._settings.forecast_promote_better)
        self._declines: Declines | None = None
        self._residuals = Residuals(self._producer)
        self._contention = ContentionWatch(self._producer)

    def stop(self) -> None:
        self._stop.set()

    def run(self) -> None:
        """Forecast every minute until `stop`. While the database is unreachable, retry; minutes missed meanwhile are skipped.

        While another process forecasts, this one is on standby.
        """
        serve(self._settings.metrics_port)
        ProfileWatcher(self._settings.libpq_url, self._stop).start()
        done, waiting = -1, False
        garbage = Garbage()
        while not self._stop.is_set():
            garbage.collect_when_due()
            try:
                if not self._lock.held():
                    if not waiting:
                        log.info("another process forecasts: this one is on standby until it ends")
                    waiting = True
                    FORECAST_WORKING.set(0)
                    self._stop.wait(STANDBY_S)
                    continue
            except psycopg.OperationalError as error:
                log.warning("the database does not answer, waiting: %s", str(error).strip())
                self._stop.wait(RETRY_S)
                continue
            if self._lock.newly_acquired:
                self._begin()
                log.info("this process forecasts")
            waiting = False
            FORECAST_WORKING.set(1)
            minute = int((self._now() - self._settings.forecast_delay_s) // 60) - 1
            if minute > done:
                try:
                    self.forecast(minute)
                    done = minute
                except psycopg.OperationalError as error:
                    log.warning("the database does not answer, waiting: %s", str(error).strip())
                    self._stop.wait(RETRY_S)
                    continue
            ahead = (done + 2) * 60 + self._settings.forecast_delay_s - self._now()
            self._stop.wait(min(max(ahead, 0.05), 60.0))
        self._producer.flush(5.0)
        self._lock.release()

    def forecast(self, minute: int) -> int:
        """Forecast the whole fleet at the end of one minute; returns how many forecasts were sent."""
        began = time.perf_counter()
        fleet = self._fleet
        with psycopg.connect(self._settings.libpq_url, connect_timeout=5, application_name="wallwatch-forecast") as connection:
            self._models.follow(connection)
            fleet.refresh_rnics(connection)
            fleet.fill(connection, minute)
            violated = fleet.violated(connection, minute)
            window = fleet.rings.window(minute, fleet.models, fleet.hosts)
            self._check_residuals(connection, window)
            self._contention.step(connection, minute)
            name, champion = self._models.champion
            made = predict(window, champion, self._models.widths)
            self._models.judge(window, made)
            self._models.publish(connection)
            if self._declines is None:
                self._declines = Declines(fleet.declining(connection, minute))
        learnt_here = ~made.cold_start & (self._models.confidence == Confidence.HIGH)
        self._declines.step(minute, reportable(made.decline.chance, learnt_here, made.wall_chance), made.decline.learnt)
        FORECAST_SECONDS.observe(time.perf_counter() - began)
        next_in_s = (minute + 2) * 60 + self._settings.forecast_delay_s - self._now()
        sent = self._send(made, violated, name, self._declines.since, pause_s(len(self._fleet.known), next_in_s))
        self._models.promote_if_better()
        FORECASTS.labels("cold").inc(int(made.cold_start.sum()))
        FORECASTS.labels("trained").inc(int((~made.cold_start).sum()))
        return sent

    def _check_residuals(self, connection: psycopg.Connection[Any], window: Window) -> None:
        """Compare measured with expected bandwidth for the minute that has just ended."""
        now = window.values[:, -1]
        parameters = Parameters.of(window.models)
        queries = in_flight(parameters, now[:, column("q_l")], now[:, column("q_r")], window.spread[:, 0], window.spread[:, 1])
        flight = np.stack(queries, axis=1)
        fleet = self._fleet
        self._residuals.step(
            connection, window.minute, fleet.known, flight, window.of_peers, window.link_gbps, fleet.peers, fleet.congested
        )

    def _send(
        self, made: Forecast, violated: npt.NDArray[np.bool_], forecaster: str, since: npt.NDArray[np.int64], between_s: float
    ) -> int:
        names = [(k.host, k.pci, k.rack) for k in self._fleet.known]
        sent = 0
        confidence = self._models.confidence
        for message in messages(made, names, self._fleet.models, limits(self._fleet.models), forecaster, confidence, violated, since):
            kafka.produce(self._producer, TOPIC, message["host"], orjson.dumps(message))
            sent += 1
            if sent % SENT_TOGETHER == 0 and sent < len(names):
                self._producer.poll(0)
                self._stop.wait(between_s)
        self._producer.flush(10.0)
        return sent


def pause_s(forecasts: int, next_in_s: float) -> float:
    """How long to wait after some were sent, so that the last ones leave in half of the time until the next minute is due.

    >>> pause_s(600, 50.0), pause_s(40_000, 50.0), pause_s(40_000, 8.0), pause_s(40_000, -2.0)
    (1.0, 0.3125, 0.05, 0.0)
    """
    return max(0.0, min(1.0, min(SEND_S, next_in_s / 2) * SENT_TOGETHER / max(1, forecasts)))
