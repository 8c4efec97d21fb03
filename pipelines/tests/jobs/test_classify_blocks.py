"""`classify` finds in blocks what it finds in single messages, and reads both at the same time."""

import json
from functools import cache
from typing import Any

import pytest
from confluent_kafka import TopicPartition

from wallwatch.domain.telemetry import blocks
from wallwatch.domain.telemetry.decode import Sender
from wallwatch.domain.telemetry.keys import TAG, Keys, key_of
from wallwatch.jobs import classify
from wallwatch.jobs.classify import TOPICS, Classifier, hears_all
from wallwatch.jobs.host_samples import judge
from wallwatch.jobs.host_state import HostStates
from wallwatch.jobs.metrics import IGNORED_SAMPLES
from wallwatch_testing.blocks import in_blocks
from wallwatch_testing.ingest_batches import Record

SECRET = bytes(range(32))
START_NS = 1_790_000_000_000_000_000
S1 = {
    "flows_offloaded": 7300, "flow_insertions_per_s": 40.0, "reoffloads_per_s": 36.0, "reoffload_ratio": 0.9,
    "stale_reoffload_share": 0.9, "counter_gap_p95_s": 11.0, "counter_gap_max_s": 12.0, "max_idle_ms": 10_000,
    "packets_per_s": 1e5, "q_egress": 1.0, "q_ingress": 1.0, "software_packets_per_s": 10.0,
}  # fmt: skip
HEALTHY = {**S1, "reoffloads_per_s": 0.0, "reoffload_ratio": 0.0, "max_idle_ms": 60_000}


def record(host: str, name: str, second: int, tags: dict[str, str], fields: dict[str, Any]) -> Record:
    of_all = {"host": host, "rack": "r1", TAG: key_of(SECRET, host)}
    message = {"name": name, "timestamp": START_NS + second * 10**9, "tags": of_all | tags, "fields": dict(sorted(fields.items()))}
    return Record(name, json.dumps(message).encode(), host.encode())


@cache
def story() -> list[Record]:
    """Two hosts with two RNICs each, one of which has S1 for a while; and an event in between."""
    found = []
    for second in range(0, 240):
        for host in ("h1", "h2"):
            for pci in ("0000:3b:00.0", "0000:5e:00.0"):
                ill = host == "h1" and pci == "0000:3b:00.0" and second < 120
                counters = {"tx_gbps": 1.0, "port_xmit_data": 1000 * second, "link_downed": 0}
                tags = {"pci": pci, "pci_id": "15b3:101d", "driver": "mlx5_core"}
                found.append(record(host, "rnic", second, tags, counters))
                found.append(record(host, "rnic_offload", second, {"pci": pci}, S1 if ill else HEALTHY))
                mask = {"direction": "egress", "mask": "ff", "pci": pci}
                found.append(record(host, "rnic_mask", second, mask, {"packets_per_s": 1.0}))
            datapath = {"flows": 10, "flow_limit": 200_000}
            found.append(record(host, "ovs_datapath", second, {"datapath": "system@ovs-system"}, datapath))
            if second == 60:
                event = {"kind": "link_down", "pci": "0000:5e:00.0"}
                found.append(record(host, "event", second, event, {"detail": "mlx5_core: link down"}))
    return found


def of_classify(records: list[Record]) -> list[Record]:
    return [one for one in records if one.measurement != "rnic_mask"]


def classifier() -> Classifier:
    proves = Keys([SECRET]).proves
    return Classifier(HostStates(), 1 << 61, lambda record_key: Sender(record_key, proves))


def findings(records: list[Record]) -> list[dict[str, Any]]:
    one = classifier()
    return [finding for i in range(0, len(records), 400) for finding in one.take(records[i : i + 400])]


def test_blocks_give_the_findings_of_single_messages() -> None:
    singles = story()
    found = findings(of_classify(singles))
    sent = in_blocks(singles)
    assert sum(one.measurement == "blocks" for one in sent) == len(sent) - 2  # all but the two events
    assert len(sent) < len(singles) * 0.6

    def by_host(some: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
        return {host: [one for one in some if one["host"] == host] for host in ("h1", "h2")}

    assert by_host(findings(sent)) == by_host(found)
    assert {one["state"] for one in found if one["symptom"] == "S1"} == {"active", "cleared"}


def test_a_host_that_changes_to_blocks_goes_on_in_its_state() -> None:
    singles = story()
    middle = next(i for i, one in enumerate(singles) if json.loads(one.content or b"")["timestamp"] == START_NS + 100 * 10**9)
    changed = [*of_classify(singles[:middle]), *in_blocks(singles[middle:])]
    back = [*in_blocks(singles[:middle]), *of_classify(singles[middle:])]
    of_h1 = [one for one in findings(of_classify(singles)) if one["host"] == "h1"]
    for some in (changed, back):
        assert [one for one in findings(some) if one["host"] == "h1"] == of_h1


def test_a_block_of_a_host_that_does_not_prove_its_name_is_left_out() -> None:
    singles = story()
    stolen = [one._replace(record_key=b"h2") for one in in_blocks(singles) if one.record_key == b"h1"]
    assert findings(stolen) == []


def test_blocks_that_cannot_be_read_change_nothing() -> None:
    nested = b"[" * 300 + b"]" * 300
    deep = b'{"name":"rnic","tags":{"host":"h1"},"x":%b,"fields":"0","rows":[]}' % nested
    bad = [deep, None, b"", b"{", b"[]", b'{"name":"rnic","rows":[[1,[],[]]]}', b'{"name":"rnic_mask","rows":7}']
    sent = in_blocks(story()[:1000])
    spoilt = [record for i, one in enumerate(sent) for record in (one, Record("blocks", bad[i % len(bad)], b"h1"))]
    found = findings(sent)
    assert found
    assert findings(spoilt) == found


def test_messages_of_a_host_that_are_nested_too_deeply_change_nothing() -> None:
    message = json.loads(story()[0].content or b"")
    message["fields"]["ets_bandwidth"] = "DEEP"
    good = Record("rnic", json.dumps(message).encode(), b"h1")
    one = classifier()
    for right in (good, *in_blocks([good])):
        deep = (right.content or b"").replace(b'"DEEP"', b"[" * 300 + b"]" * 300)
        assert deep != right.content
        assert one.take([right._replace(content=deep)]) == []
    assert list(one._states.take_unsaved(0)) == []
    one.take([good])
    assert list(one._states.take_unsaved(0)) != []


@pytest.mark.parametrize("partitions", [3, 12, 24])
def test_peers_are_judged_only_by_a_process_that_has_all_partitions_of_every_topic(partitions: int) -> None:
    names = (*TOPICS, blocks.TOPIC)
    everything = [TopicPartition(name, number) for name in names for number in range(partitions)]
    assert hears_all(everything, partitions)
    assert not hears_all([], partitions)
    assert not hears_all(everything, 2 * partitions)
    assert not hears_all(everything, partitions - 1), "the number is that of a time before there were more"
    for name in names:
        # While a release without blocks still runs, `range` gives all blocks to the others and divides the single messages.
        assert not hears_all([one for one in everything if (one.topic, one.partition) != (name, 2)], partitions)
    assert not hears_all([one for one in everything if one.topic == blocks.TOPIC or one.partition < 2], partitions)


def test_a_host_that_the_stage_fails_on_does_not_stop_it_for_others(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def failing(state: Any, samples: list[Any], *more: Any) -> Any:
        if samples[0].tags["host"] == "h2":
            raise OverflowError("a defect")
        return judge(state, samples, *more)

    expected = [one for one in findings(of_classify(story())) if one["host"] == "h1"]
    before = IGNORED_SAMPLES.labels("failed")._value.get()
    monkeypatch.setattr(classify, "judge", failing)
    assert findings(of_classify(story())) == expected
    assert IGNORED_SAMPLES.labels("failed")._value.get() - before == sum(one.key() == b"h2" for one in of_classify(story()))
    assert "samples of the host h2 cannot be judged" in caplog.text
