"""The job `forecast`: once a minute, what is ahead of every RNIC, from the store to `wallwatch.forecasts`.

The last hour of the fleet is in memory, so each turn reads only the minute that has just ended, and what happened an hour after it a day
and a week ago. State can be lost: a process that starts again reads the hour back.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson
import psycopg
from confluent_kafka import Producer
from psycopg.types.json import Jsonb

from wallwatch.domain.forecast import peers
from wallwatch.domain.forecast.decline import Declines
from wallwatch.domain.forecast.held import Congested, Held, step
from wallwatch.domain.forecast.message import messages
from wallwatch.domain.forecast.model import Forecaster
from wallwatch.domain.forecast.physical import Parameters, in_flight, link_gbps
from wallwatch.domain.forecast.predict import Forecast, predict
from wallwatch.domain.forecast.targets import HISTORY_MIN, HORIZONS_MIN, column, limits, targets
from wallwatch.domain.forecast.window import Window
from wallwatch.forecasting import ports, store
from wallwatch.forecasting.live import Score
from wallwatch.forecasting.registry import Registry, RegistryError, Roles
from wallwatch.forecasting.rings import Rings
from wallwatch.jobs.metrics import FORECAST_SECONDS, FORECASTS, serve
from wallwatch.jobs.residuals import Residuals
from wallwatch.settings import Settings
from wallwatch.store.promoted import Follower

log = logging.getLogger(__name__)

TOPIC = "wallwatch.forecasts"
RETRY_S = 5.0

_MODEL = """
INSERT INTO forecast_model AS m (id, role, trained_at, description, live) VALUES (%s, %s, %s, %s, %s)
ON CONFLICT (id) DO UPDATE SET role = excluded.role, live = COALESCE(NULLIF(excluded.live, '{}'::jsonb), m.live), updated_at = now()
"""


class Fleet:
    """The RNICs of the store and their last hour."""

    def __init__(self) -> None:
        self.known: list[store.Known] = []
        self.models: list[str | None] = []
        self.hosts = np.empty(0, dtype=np.int64)
        self._place: dict[int, int] = {}
        self.peers = peers.weights({}, 0)
        self.congested = Congested.nowhere(0)
        self._held = Held.nothing(0)
        self._peers_of = -store.ADDRESSES_MIN
        self.rings = Rings()

    def look(self, connection: psycopg.Connection[Any]) -> None:
        """Learn of new RNICs, and of models that became known."""
        for rnic_id, known in store.rnics(connection).items():
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
        self._look_at_peers(connection, minute)
        first = max((m for m in range(minute - HISTORY_MIN + 1, minute) if not rings.now.has(m)), default=None)
        if first is not None:
            for m, rows, values in self._minutes(store.rolled_up(connection, minute - HISTORY_MIN + 1, minute)):
                rings.now.put(m, rows, values)
            self._containers(connection, minute - HISTORY_MIN + 1, minute)
        fresh = store.newest(connection, minute)
        places = np.array([self._place[r[0]] for r in fresh if r[0] in self._place], dtype=np.intp)
        found = np.array([r[1:] for r in fresh if r[0] in self._place], dtype=np.float64).reshape(len(places), 2 + len(store.FIELDS))
        told = self._joined(places, found[:, -1], found[:, 1])
        rings.spread.put(minute, places, np.stack([found[:, 0], told.spread[places], told.of_peers[places]], axis=1))
        rings.now.put(minute, places, self._wide(found[:, 2:], told.mean[places]))
        cards = [row for row in store.links(connection, minute) if row[0] in self._place]
        speeds, lanes = (np.array([row[i] for row in cards], dtype=np.float64) for i in (1, 2))
        rings.link.put(minute, np.array([self._place[row[0]] for row in cards], dtype=np.intp), link_gbps(speeds, lanes)[:, None])
        self._containers(connection, minute, minute + 1)
        for ago, ring in rings.seasons.items():
            last = minute - ago + max(HORIZONS_MIN)
            begin = last if ring.has(last - 1) else last - HISTORY_MIN + 1
            for m, rows, values in self._minutes(store.rolled_up(connection, begin, last + 1)):
                ring.put(m, rows, values)

    def violated(self, connection: psycopg.Connection[Any], minute: int) -> npt.NDArray[np.bool_]:
        """RNICs on which, or on whose host, a policy was violated within the hour."""
        found = store.violated(connection, minute - HISTORY_MIN + 1, minute + 1)
        return np.array([(k.host, k.pci) in found or (k.host, "") in found for k in self.known], dtype=np.bool_)

    def _ports(self, connection: psycopg.Connection[Any], minute: int) -> Congested:
        """What was sent goes to its ring; which ports are congested is returned."""
        rows = [row for row in store.ports(connection, minute) if row[0] in self._place]
        places = np.array([self._place[row[0]] for row in rows], dtype=np.intp)
        found = np.array([row[1:] for row in rows], dtype=np.float64).reshape(len(rows), 1 + len(ports.COUNTERS))
        rates = {name: np.full(len(self.known), np.nan) for name in ports.COUNTERS}
        for i, name in enumerate(ports.COUNTERS, 1):
            rates[name][places] = found[:, i]
        self.rings.sent.put(minute, places, ports.sent_gbps(found[:, 0], rates["packets"][places])[:, None])
        return ports.congested(rates)

    def _look_at_peers(self, connection: psycopg.Connection[Any], minute: int) -> None:
        """Learn who talks to whom, every few minutes and when the fleet has grown, and what congested cards hold back."""
        self._held = self._held.still(self.congested)
        if minute - self._peers_of < store.ADDRESSES_MIN and len(self.peers.elsewhere) == len(self.known):
            return
        told = store.reports(connection, minute - store.ADDRESSES_MIN + 1, minute + 1)
        before = self.peers
        self.peers = peers.weights({self._place[i]: report for i, report in told.items() if i in self._place}, len(self.known))
        self._held = step(self._held, before, self.peers, self.congested)
        self._peers_of = minute

    def _joined(self, places: npt.NDArray[np.intp], q_ingress: npt.NDArray[np.float64], spread: npt.NDArray[np.float64]) -> peers.Joined:
        """`Q_r` of the whole fleet, from the ingress queries of those RNICs that have any."""
        of_all = np.full((2, len(self.known)), np.nan)
        of_all[:, places] = q_ingress, spread
        return peers.join(self.peers, of_all[0], of_all[1], self._held.asked(self.peers))

    def _containers(self, connection: psycopg.Connection[Any], first: int, last: int) -> None:
        places = {(k.host, k.pci): i for i, k in enumerate(self.known)}
        for minute in range(first, last):
            self.rings.containers.put(minute, np.empty(0, dtype=np.intp), np.empty((0, 1)))
        for host, pci, minute, change in store.containers(connection, first, last):
            if (host, pci) in places:
                self.rings.containers.put(minute, np.array([places[host, pci]]), np.array([[float(change)]]))

    def _minutes(self, rows: list[tuple[Any, ...]]) -> list[tuple[int, npt.NDArray[np.intp], npt.NDArray[np.float64]]]:
        known = [row for row in rows if row[0] in self._place]
        table = np.array(known, dtype=np.float64).reshape(len(known), 2 + len(store.FIELDS))
        found = []
        for minute in np.unique(table[:, 1]):
            some = table[table[:, 1] == minute]
            places = np.array([self._place[int(i)] for i in some[:, 0]], dtype=np.intp)
            told = self._joined(places, some[:, -1], np.full(len(some), np.nan))
            found.append((int(minute), places, self._wide(some[:, 2:], told.mean[places])))
        return found

    @staticmethod
    def _wide(fields: npt.NDArray[np.float64], q_r: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """From the fields of samples and the joined `q_r` to all targets."""
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
        self._registry = Registry(settings.registry_dir)
        self._roles = Roles()
        self._loaded: dict[str, Forecaster] = {}
        self._told: set[str] = set()
        self._scores: dict[str, Score] = {}
        self._fleet = Fleet()
        self._declines = Declines()
        self._producer = Producer({"bootstrap.servers": settings.kafka_bootstrap, "linger.ms": 20, "compression.type": "lz4"})
        self._residuals = Residuals(self._producer)

    def stop(self) -> None:
        self._stop.set()

    def run(self) -> None:
        """Forecast at each minute until `stop`. A database that is away is tried again; what was missed meanwhile is not made up."""
        serve(self._settings.metrics_port)
        Follower(self._settings.libpq_url, self._stop).start()
        done = -1
        while not self._stop.is_set():
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

    def forecast(self, minute: int) -> int:
        """Forecast the whole fleet at the end of one minute; returns how many forecasts were sent."""
        began = time.perf_counter()
        self._choose()
        fleet = self._fleet
        with psycopg.connect(self._settings.libpq_url, connect_timeout=5, application_name="wallwatch-forecast") as connection:
            fleet.look(connection)
            fleet.fill(connection, minute)
            violated = fleet.violated(connection, minute)
            window = fleet.rings.window(minute, fleet.models, fleet.hosts)
            self._compare(connection, window)
            champion = self._loaded.get(self._roles.champion or "")
            made = predict(window, champion)
            self._score(made, window.values[:, -1])
            if self._roles.challenger in self._loaded:
                challenger = self._loaded[self._roles.challenger or ""]
                self._scores[self._roles.challenger or ""].note(predict(window, challenger))
            self._publish_models(connection)
        self._declines.step(minute, made.decline.chance, made.decline.learnt)
        sent = self._send(made, violated)
        FORECASTS.labels("cold").inc(int(made.cold_start.sum()))
        FORECASTS.labels("trained").inc(int((~made.cold_start).sum()))
        FORECAST_SECONDS.observe(time.perf_counter() - began)
        return sent

    def _compare(self, connection: psycopg.Connection[Any], window: Window) -> None:
        """Measured against expected bandwidth in the minute that has just ended."""
        now = window.values[:, -1]
        parameters = Parameters.of(window.models)
        queries = in_flight(parameters, now[:, column("q_l")], now[:, column("q_r")], window.spread[:, 0], window.spread[:, 1])
        flight = np.stack(queries, axis=1)
        fleet = self._fleet
        self._residuals.look(
            connection, window.minute, fleet.known, flight, window.of_peers, window.link_gbps, fleet.peers, fleet.congested
        )

    def _choose(self) -> None:
        """Follow the registry's roles. A model that cannot be loaded is told once; forecasts go on without it."""
        roles = self._registry.roles()
        for model in (roles.champion, roles.challenger):
            if model is None or model in self._loaded or (roles == self._roles and model not in self._loaded):
                continue
            try:
                self._loaded[model] = self._registry.load(model)
                self._scores.setdefault(model, Score())
            except RegistryError as error:
                log.error("forecasts go on without model %s: %s", model, error)
        self._roles = roles
        self._loaded = {m: f for m, f in self._loaded.items() if m in (roles.champion, roles.challenger)}

    def _score(self, made: Forecast, values: npt.NDArray[np.float64]) -> None:
        for model, forecaster in self._loaded.items():
            self._scores[model].settle(made.minute, values, self._fleet.models, forecaster.meta.get("metrics", {}))
        if self._roles.champion in self._loaded:
            self._scores[self._roles.champion or ""].note(made)

    def _publish_models(self, connection: psycopg.Connection[Any]) -> None:
        for meta in self._registry.describe(self._unreadable):
            live = self._scores[meta["id"]].describe() if meta["id"] in self._scores else {}
            connection.execute(_MODEL, [meta["id"], meta["role"], datetime.fromisoformat(meta["trained_at"]), Jsonb(meta), Jsonb(live)])

    def _unreadable(self, problem: str) -> None:
        if problem not in self._told:
            self._told.add(problem)
            log.error("a model is left out: %s", problem)

    def _send(self, made: Forecast, violated: npt.NDArray[np.bool_]) -> int:
        names = [(k.host, k.pci, k.rack) for k in self._fleet.known]
        sent = 0
        champion = self._roles.champion if self._roles.champion in self._loaded else None
        for message in messages(
            made, names, self._fleet.models, limits(self._fleet.models), champion or "", violated, self._declines.since
        ):
            while True:
                try:
                    self._producer.produce(TOPIC, orjson.dumps(message), key=message["host"].encode())
                    break
                except BufferError:
                    self._producer.poll(0.1)
            sent += 1
        self._producer.flush(10.0)
        return sent
