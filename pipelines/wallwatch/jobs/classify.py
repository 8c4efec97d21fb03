"""The job `classify`: offload samples in, findings out. A thin shell of Quix Streams around `domain/symptoms`.

State is per host (the key of the topics) in RocksDB, with changelog topics: one entry an RNIC, one for its model, one for the host's
datapaths. Refused messages are counted here; ingest reads the same topics and sends each of them to the dead-letter topic, once.
"""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Callable
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

_read = {name: MESSAGES.labels("classify", f"wallwatch.{name}") for name in INPUTS}


def get_json(state: State[str, Any], key: str) -> Any:
    raw = state.get_bytes(key)
    return None if raw is None else orjson.loads(raw)


def put_json(state: State[str, Any], key: str, value: Any) -> None:
    state.set_bytes(key, orjson.dumps(value))


def take_offload(state: State[str, Any], message: Decoded) -> list[dict[str, Any]]:
    """One sample of an RNIC's offload state: the symptom stage."""
    fields = measurements()["rnic_offload"].fields
    for name, value in message.fields.items():
        problem = problem_of(fields[name], value) if name in fields else None
        if problem is not None:
            raise Refused(*problem)
    tags, at_ms = message.tags, message.at_ns // 1_000_000
    pci = tags["pci"]
    sample = OffloadSample(
        host=tags["host"],
        pci=pci,
        rack=tags.get("rack", ""),
        at_ms=at_ms,
        fields=message.fields,
        model=state.get(f"model {pci}"),
        misses_per_s=host.misses_per_s(get_json(state, "datapaths"), at_ms),
    )
    before = get_json(state, f"rnic {pci}")
    late_before = 0 if before is None else before["late"]
    after, findings = step(before, sample)
    if after["late"] != late_before:
        LATE_SAMPLES.inc()
    put_json(state, f"rnic {pci}", after)
    for finding in findings:
        FINDINGS.labels(finding["symptom"], finding["state"]).inc()
    return findings


def take_rnic(state: State[str, Any], message: Decoded) -> list[dict[str, Any]]:
    """One sysfs sample: only the model is of interest, and it hardly ever changes."""
    model = model_of(message.tags.get("pci_id"), message.tags.get("hca_type"))
    key = f"model {message.tags['pci']}"
    if model is not None and state.get(key) != model:
        state.set(key, model)
    return []


def take_datapath(state: State[str, Any], message: Decoded) -> list[dict[str, Any]]:
    """One datapath sample: the host's rate of misses."""
    known = get_json(state, "datapaths")
    put_json(state, "datapaths", host.take_datapath(known, message.tags["datapath"], message.at_ns // 1_000_000, message.fields))
    return []


_TAKE: dict[str, Callable[[State[str, Any], Decoded], list[dict[str, Any]]]] = {
    "wallwatch.rnic_offload": take_offload,
    "wallwatch.rnic": take_rnic,
    "wallwatch.ovs_datapath": take_datapath,
}


class Classifier:
    """The function that Quix calls for each message; `future_ns` is how far ahead of this clock a sample may be."""

    def __init__(self, future_ns: int) -> None:
        self._future_ns = future_ns

    def __call__(self, value: bytes | None, state: State[str, Any]) -> list[dict[str, Any]]:
        topic = message_context().topic
        name = topic.removeprefix("wallwatch.")
        _read[name].inc()
        try:
            return _TAKE[topic](state, decode(value, measurements()[name], time.time_ns() + self._future_ns))
        except Refused as refusal:
            DEAD_LETTERS.labels("classify", topic, refusal.reason).inc()
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
        consumer_extra_config={"fetch.wait.max.ms": 100},
        producer_extra_config={"linger.ms": 5, "compression.type": "lz4"},
        loglevel=None,
    )
    topics = [app.topic(f"wallwatch.{name}", key_deserializer="str", value_deserializer="bytes") for name in INPUTS]
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
