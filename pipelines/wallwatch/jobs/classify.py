"""The job `classify`: offload samples in, findings out. A thin shell of Quix Streams around `domain/symptoms`.

State is per host (the key of the topics) in RocksDB, with changelog topics: one entry an RNIC, one for its model, one for the host's
datapaths. Refused messages are counted here; ingest reads the same topics and sends each of them to the dead-letter topic, once.
"""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import orjson

# Its schema registry client, which is not used here, warns about the future of a library of its own, past any filter.
with warnings.catch_warnings(record=True):
    from quixstreams import Application, State, message_context

from wallwatch.domain.catalogue.load import model_of
from wallwatch.domain.symptoms import host
from wallwatch.domain.symptoms.model import OffloadSample
from wallwatch.domain.symptoms.stage import step
from wallwatch.domain.telemetry.registry import measurements
from wallwatch.jobs.decode import Decoded, Refused, decode
from wallwatch.jobs.metrics import DEAD_LETTERS, FINDINGS, LATE_SAMPLES, MESSAGES, serve
from wallwatch.settings import Settings
from wallwatch.store.encode import problem_of

log = logging.getLogger(__name__)

INPUTS = ("rnic_offload", "rnic", "ovs_datapath")
OUTPUT = "wallwatch.findings"

_NUMBERS = frozenset({int, float})

_read = {name: MESSAGES.labels("classify", f"wallwatch.{name}") for name in INPUTS}


def get_json(state: State[str, Any], key: str) -> Any:
    raw = state.get_bytes(key)
    return None if raw is None else orjson.loads(raw)


def put_json(state: State[str, Any], key: str, value: Any) -> None:
    state.set_bytes(key, orjson.dumps(value))


def check_fields(fields: Mapping[str, Any]) -> None:
    """Refuse what is not a number from 0 to 2^63-1; fields that the registry does not have are ignored.

    Raises
    ------
    Refused
        With the reason and the field.
    """
    values = fields.values()
    if _NUMBERS.issuperset(map(type, values)) and (not values or 0 <= min(values) <= max(values) < 2**63):
        return
    known = measurements()["rnic_offload"].fields
    for name, value in fields.items():
        problem = problem_of(known[name], value) if name in known else None
        if problem is not None:
            raise Refused(*problem)


class Classifier:
    """The function that Quix calls for each message; `future_ns` is how far ahead of this clock a sample may be."""

    def __init__(self, future_ns: int) -> None:
        self._future_ns = future_ns
        self._models: dict[tuple[str, str], str] = {}
        """A copy of what the state has, to ask it once: the model at a PCI address does not change while a process runs."""
        self._take: dict[str, Callable[[State[str, Any], Decoded], list[dict[str, Any]]]] = {
            "wallwatch.rnic_offload": self._take_offload,
            "wallwatch.rnic": self._take_rnic,
            "wallwatch.ovs_datapath": self._take_datapath,
        }

    def __call__(self, value: bytes | None, state: State[str, Any]) -> list[dict[str, Any]]:
        topic = message_context().topic
        name = topic.removeprefix("wallwatch.")
        _read[name].inc()
        try:
            return self._take[topic](state, decode(value, measurements()[name], time.time_ns() + self._future_ns))
        except Refused as refusal:
            DEAD_LETTERS.labels("classify", topic, refusal.reason).inc()
            return []

    def _take_offload(self, state: State[str, Any], message: Decoded) -> list[dict[str, Any]]:
        """One sample of an RNIC's offload state: the symptom stage."""
        check_fields(message.fields)
        tags, at_ms = message.tags, message.at_ns // 1_000_000
        name, pci = tags["host"], tags["pci"]
        model = self._models.get((name, pci))
        if model is None:
            kept = state.get(f"model {pci}")
            if isinstance(kept, str):
                model = self._models[name, pci] = kept
        misses = host.misses_per_s(get_json(state, "datapaths"), at_ms)
        before = get_json(state, f"rnic {pci}")
        late_before = 0 if before is None else before["late"]
        after, findings = step(before, OffloadSample(name, pci, tags.get("rack", ""), at_ms, message.fields, model, misses))
        if after["late"] != late_before:
            LATE_SAMPLES.inc()
        put_json(state, f"rnic {pci}", after)
        for finding in findings:
            FINDINGS.labels(finding["symptom"], finding["state"]).inc()
        return findings

    def _take_rnic(self, state: State[str, Any], message: Decoded) -> list[dict[str, Any]]:
        """One sysfs sample: only the model is of interest, and it hardly ever changes."""
        tags = message.tags
        model = model_of(tags.get("pci_id"), tags.get("hca_type"))
        if model is not None and self._models.get((tags["host"], tags["pci"])) != model:
            self._models[tags["host"], tags["pci"]] = model
            state.set(f"model {tags['pci']}", model)
        return []

    def _take_datapath(self, state: State[str, Any], message: Decoded) -> list[dict[str, Any]]:
        """One datapath sample: the host's rate of misses."""
        known = get_json(state, "datapaths")
        put_json(state, "datapaths", host.take_datapath(known, message.tags["datapath"], message.at_ns // 1_000_000, message.fields))
        return []


def application(settings: Settings) -> Application:
    """The job as a Quix application, not yet running."""
    app = Application(
        broker_address=settings.kafka_bootstrap,
        consumer_group=settings.classify_group,
        auto_offset_reset="earliest",
        auto_create_topics=True,  # the changelog topics; the others are declared and exist
        state_dir=settings.state_dir / "classify",
        commit_interval=settings.classify_commit_s,
        consumer_poll_timeout=0.1,
        consumer_extra_config={"fetch.wait.max.ms": 100, "session.timeout.ms": 10_000},  # a killed process keeps its partitions for so long
        producer_extra_config={"linger.ms": 5, "compression.type": "lz4"},
        loglevel=None,
    )
    topics = [app.topic(f"wallwatch.{name}", key_deserializer="bytes", value_deserializer="bytes") for name in INPUTS]
    stream = app.dataframe(topics[0])
    for topic in topics[1:]:
        stream = stream.concat(app.dataframe(topic))
    findings = stream.apply(Classifier(settings.future_tolerance_s * 1_000_000_000), stateful=True, expand=True)
    findings.to_topic(app.topic(OUTPUT, key_serializer="str", value_serializer="json"), key=lambda finding: finding["host"])
    return app


def run(settings: Settings) -> None:
    """Work until SIGINT or SIGTERM."""
    serve(settings.metrics_port)
    settings.state_dir.mkdir(parents=True, exist_ok=True)
    application(settings).run()
