"""Kafka to TimescaleDB: rows, states, dead letters, replays."""

import base64
import functools
import json
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any
from uuid import NAMESPACE_DNS, uuid5

import psycopg
import pytest
from psycopg import sql

from wallwatch import kafka_clients
from wallwatch.jobs import silence
from wallwatch.jobs.ingest import Ingest
from wallwatch.settings import Settings
from wallwatch_testing.blocks import block

from .conftest import until

pytestmark = pytest.mark.integration

Start = Callable[[], AbstractContextManager[Ingest]]
Send = Callable[..., None]
Connection = psycopg.Connection[Any]
PCI = "0000:3b:00.0"
FASTER = 15
"""Seconds of the fleet per second of the test: a silence is reported after a minute of the others' time."""


@functools.cache
def began_ns(_host: str) -> int:
    """Second 0 of a test's host: ten minutes ago, and the same for all its messages, whenever they are made."""
    return time.time_ns() // 10**9 * 10**9 - 600 * 10**9


def message(host: str, name: str, second: float, fields: dict[str, Any], **tags: str) -> dict[str, Any]:
    at_ns = began_ns(host) + int(second * 1e9)
    return {"name": name, "timestamp": at_ns, "tags": {"host": host, "rack": "r1", **tags}, "fields": fields}


def rnic(host: str, second: float, **fields: Any) -> dict[str, Any]:
    return message(host, "rnic", second, {"port_xmit_data": int(second), "tx_gbps": 5, **fields}, pci=PCI, pci_id="15b3:101d", fw_ver="1.2")


def offload(host: str, second: float, **fields: Any) -> dict[str, Any]:
    return message(host, "rnic_offload", second, {"flows_offloaded": 6300, "encap_contexts": 0, **fields}, pci=PCI)


def finding(host: str, second: int, state: str) -> dict[str, Any]:
    return {
        "finding_id": str(uuid5(NAMESPACE_DNS, host)), "host": host, "pci": PCI, "rack": "r1", "symptom": "S1", "state": state,
        "started_at": "2026-09-21T14:13:20Z", "at": f"2026-09-21T14:14:{second:02}Z", "severity": "warning", "blast_radius": "flows",
        "rule": "S1/1", "title": "t", "summary": "s", "evidence": [{"signal": "x"}], "hypotheses": [], "remedies": [],
    }  # fmt: skip


def count(connection: Connection, table: str, host: str) -> int:
    owner = "host" if table in ("datapath_sample", "event", "policy_sample") else "rnic"
    query = sql.SQL("SELECT count(*) FROM {table} WHERE {id} IN (SELECT {id} FROM {owner} WHERE host = %s)").format(
        table=sql.Identifier(table), id=sql.Identifier(f"{owner}_id"), owner=sql.Identifier(owner)
    )
    row = connection.execute(query, [host]).fetchone()
    assert row is not None
    return int(row[0])


def state(connection: Connection, host: str) -> dict[str, Any]:
    cursor = connection.cursor(row_factory=psycopg.rows.dict_row)
    return cursor.execute("SELECT * FROM rnic_state WHERE host = %s", [host]).fetchone() or {}


def test_each_measurement_arrives_in_its_table(ingest: Start, send: Send, connection: Connection, host: str) -> None:
    send("wallwatch.rnic", rnic(host, 1), rnic(host, 2), key=host)
    send("wallwatch.rnic_offload", offload(host, 1), key=host)
    mask = {"position": 0, "flows": 4, "match": "eth(src),ip"}
    send("wallwatch.rnic_mask", message(host, "rnic_mask", 1, mask, pci=PCI, direction="egress", mask="0123456789ab"), key=host)
    for vf in ("0", "10"):
        send(
            "wallwatch.rnic_vf",
            message(host, "rnic_vf", 1, {"state": "host", "tx_bytes": 4}, pci=PCI, vf=vf, vf_pci="0000:3b:00.2"),
            key=host,
        )
    for container in ("a1", "b2"):  # two instances of one function
        fields = {"instructions_per_s": 3e9, "throughput_kpps": 700.5, "flows": 16_000, "cache_level": "l2"}
        send(
            "wallwatch.network_function",
            message(host, "network_function", 1, fields, pci=PCI, function="acl", container=container),
            key=host,
        )
    send("wallwatch.ovs_datapath", message(host, "ovs_datapath", 1, {"lookups_missed": 7}, datapath="system@ovs-system"), key=host)
    send("wallwatch.event", message(host, "event", 1, {"detail": "gone"}, pci=PCI, kind="device_vanished"), key=host)
    for policy in ("flow-offloaded-once", "flow-no-software-hit"):
        fields = {"subjects": 4, "unknown": 1, "coverage": 0.75, "violations": 0, "period_s": 60.0}
        send("wallwatch.policy_state", message(host, "policy_state", 1, fields, pci=PCI, policy=policy, revision="a1"), key=host)
    with ingest():
        tables = {"rnic_sample": 2, "offload_sample": 1, "mask_sample": 1, "vf_sample": 2, "policy_sample": 2}
        tables |= {"datapath_sample": 1, "event": 1, "function_sample": 2}
        assert until(lambda: all(count(connection, t, host) == n for t, n in tables.items())), {
            t: count(connection, t, host) for t in tables
        }
    query = "SELECT container, pod, throughput_kpps, flows, other FROM function_sample JOIN rnic USING (rnic_id) WHERE host = %s ORDER BY 1"
    assert connection.execute(query, [host]).fetchall() == [(name, "", 700.5, 16_000, {"cache_level": "l2"}) for name in ("a1", "b2")]
    assert connection.execute("SELECT model, fw_ver FROM rnic WHERE host = %s", [host]).fetchone() == ("CX-6", "1.2")
    assert connection.execute("SELECT kind, detail, pci FROM event JOIN host USING (host_id) WHERE host = %s", [host]).fetchall() == [
        ("device_vanished", "gone", PCI)
    ]


def test_blocks_and_single_messages_of_a_host_arrive_in_the_same_tables(
    ingest: Start, send: Send, connection: Connection, host: str
) -> None:
    bad = {**rnic(host, 7), "fields": dict.fromkeys(rnic(host, 7)["fields"], -1)}
    send("wallwatch.rnic", rnic(host, 1), key=host)
    send("wallwatch.blocks", block([rnic(host, 1), rnic(host, 2), rnic(host, 3)]), block([offload(host, 3)]), b'{"name":"rnic"', key=host)
    send("wallwatch.blocks", block([bad, rnic(host, 4)]), key=host)
    with ingest():
        assert until(lambda: (count(connection, "rnic_sample", host), count(connection, "offload_sample", host)) == (4, 1)), count(
            connection, "rnic_sample", host
        )
        assert until(lambda: state(connection, host).get("headroom") == pytest.approx(0.1))
        query = "SELECT topic, reason FROM dead_letter_count WHERE topic IN ('wallwatch.blocks', 'wallwatch.rnic')"
        wanted = {("wallwatch.blocks", "not_json"), ("wallwatch.rnic", "out_of_range")}
        assert until(lambda: wanted <= set(connection.execute(query).fetchall()))


def test_the_state_has_the_nearest_wall_and_the_rates(ingest: Start, send: Send, connection: Connection, host: str) -> None:
    send("wallwatch.rnic", rnic(host, 1), key=host)
    send("wallwatch.rnic_offload", offload(host, 1), key=host)
    with ingest():
        found = until(lambda: (s := state(connection, host)).get("headroom") is not None and s["tx_gbps"] is not None and s)
    assert found["nearest_wall"] == "offloaded_flows"
    assert found["headroom"] == pytest.approx(0.1)
    assert found["tx_gbps"] == 5
    assert set(found["walls"]) == {"offloaded_flows", "encap_contexts"}
    assert found["walls"]["offloaded_flows"] == {"value": 6300, "limit": 7000, "headroom": 0.1, "basis": "paper"}


def test_a_change_is_notified(ingest: Start, send: Send, connection: Connection, host: str) -> None:
    connection.execute("LISTEN wallwatch_rnic_state")
    with ingest():
        send("wallwatch.rnic", rnic(host, 1), key=host)
        send("wallwatch.rnic_offload", offload(host, 1), key=host)
        assert next(connection.notifies(timeout=90), None) is not None
        # The first notification may be about a host of an earlier test, whose messages are in the topic, too.
        assert until(lambda: state(connection, host).get("headroom") == pytest.approx(0.1))
        before = state(connection, host)["change_seq"]
        send("wallwatch.rnic_offload", offload(host, 2, flows_offloaded=10), key=host)
        assert until(lambda: state(connection, host)["change_seq"] > before)


def test_messages_that_come_again_add_nothing(ingest: Start, send: Send, connection: Connection, host: str) -> None:
    old, new = [rnic(host, s) for s in range(50)], [rnic(host, s) for s in range(50, 60)]
    send("wallwatch.rnic", *old, key=host)
    with ingest():
        assert until(lambda: count(connection, "rnic_sample", host) == 50)
        send("wallwatch.rnic", *old, *new, *new, key=host)
        assert until(lambda: count(connection, "rnic_sample", host) == 60)
    with ingest():
        pass
    assert count(connection, "rnic_sample", host) == 60


def test_a_new_process_goes_on_where_the_former_one_stopped(ingest: Start, send: Send, connection: Connection, host: str) -> None:
    with ingest():
        send("wallwatch.rnic", rnic(host, 1), key=host)
        assert until(lambda: count(connection, "rnic_sample", host) == 1)
    send("wallwatch.rnic", rnic(host, 2), key=host)
    with ingest():
        assert until(lambda: count(connection, "rnic_sample", host) == 2)


def test_bad_messages_go_to_the_dead_letter_topic_with_a_reason_and_the_good_ones_on(
    ingest: Start, send: Send, connection: Connection, settings: Settings, host: str
) -> None:
    bad: dict[str, bytes] = {
        "not_json": b'{"name": "rn',
        "not_an_object": b"7",
        "out_of_range": json.dumps(rnic(host, 1, port_rcv_data=-4)).encode(),
        "wrong_type": json.dumps(rnic(host, 1, port_rcv_data="many")).encode(),
        "bad_timestamp": json.dumps({**rnic(host, 1), "timestamp": 12}).encode(),
        "missing_tag": json.dumps({**rnic(host, 1), "tags": {"host": host}}).encode(),
        "wrong_measurement": json.dumps({**rnic(host, 1), "name": "rnix"}).encode(),
        "no_fields": json.dumps({**rnic(host, 1), "fields": {}}).encode(),
    }
    send("wallwatch.rnic", *bad.values(), rnic(host, 5), key=host)
    consumer = kafka_clients.consumer(settings, {"group.id": host, "auto.offset.reset": "earliest"})
    consumer.subscribe(["wallwatch.dead_letter"])
    letters: dict[str, dict[str, Any]] = {}
    try:
        with ingest():
            assert until(lambda: count(connection, "rnic_sample", host) == 1)
            deadline = time.monotonic() + 90
            while len(letters) < len(bad) and time.monotonic() < deadline:
                found = consumer.poll(0.5)
                if found is not None and found.error() is None and found.key() == host.encode():
                    letter = json.loads(found.value() or b"")
                    letters[letter["reason"]] = letter
    finally:
        consumer.close()
    assert {reason: base64.b64decode(letter["value_base64"]) for reason, letter in letters.items()} == bad
    assert all(letter["topic"] == "wallwatch.rnic" and letter["key"] == host and letter["detail"] for letter in letters.values())
    assert {r for (r,) in connection.execute("SELECT reason FROM dead_letter_count WHERE topic = 'wallwatch.rnic'")} >= set(bad)


def until_of(connection: Connection, host: str, symptom: str = "S1") -> Any:
    """The end of a symptom in its RNIC's row; "none" while the row does not show it."""
    return (state(connection, host).get("symptoms") or {}).get(symptom, {"until": "none"})["until"]


def test_findings_are_kept_and_show_as_symptoms_that_last_or_are_over(ingest: Start, send: Send, connection: Connection, host: str) -> None:
    with ingest():
        send("wallwatch.findings", finding(host, 10, "active"), key=host)
        found = until(lambda: state(connection, host).get("symptoms"))
        shown = {"since": "2026-09-21T14:13:20Z", "finding_id": str(uuid5(NAMESPACE_DNS, host)), "severity": "warning"}
        assert found == {"S1": {**shown, "until": None}}
        send("wallwatch.findings", finding(host, 40, "cleared"), key=host)
        assert until(lambda: state(connection, host)["symptoms"] == {"S1": {**shown, "until": "2026-09-21T14:14:40Z"}})
        again = {**finding(host, 55, "active"), "started_at": "2026-09-21T14:14:50Z"}
        send("wallwatch.findings", finding(host, 10, "active"), again, key=host)
        assert until(lambda: until_of(connection, host) is None)
    assert count(connection, "finding", host) == 3


def test_a_finding_from_the_past_does_not_bring_a_symptom_back(ingest: Start, send: Send, connection: Connection, host: str) -> None:
    with ingest():
        send("wallwatch.findings", finding(host, 40, "cleared"), finding(host, 10, "active"), key=host)
        assert until(lambda: count(connection, "finding", host) == 2)
    assert until_of(connection, host) == "2026-09-21T14:14:40Z"


def test_what_ended_half_an_hour_ago_is_shown_no_more(ingest: Start, send: Send, connection: Connection, host: str) -> None:
    later = {**finding(host, 1, "active"), "symptom": "S6", "started_at": "2026-09-21T14:44:59Z", "at": "2026-09-21T14:45:00Z"}
    with ingest():
        send("wallwatch.findings", finding(host, 40, "cleared"), later, key=host)
        assert until(lambda: set(state(connection, host).get("symptoms") or {}) == {"S6"})


def test_a_finding_of_a_host_shows_on_all_its_rnics_and_belongs_to_none(
    ingest: Start, send: Send, connection: Connection, host: str
) -> None:
    other = rnic(host, 1)
    other["tags"] |= {"pci": "0000:86:00.0"}
    crash = {**finding(host, 10, "active"), "pci": "", "symptom": "S3", "blast_radius": "host", "explanation": "It crashed.", "model": ""}
    with ingest():
        send("wallwatch.rnic", rnic(host, 1), other, key=host)
        assert until(lambda: count(connection, "rnic_sample", host) == 2)
        send("wallwatch.findings", crash, key=host)
        query = "SELECT pci FROM rnic_state WHERE host = %s AND symptoms ? 'S3' ORDER BY pci"
        shown = until(lambda: len(found := connection.execute(query, [host]).fetchall()) == 2 and found)
    assert shown == [(PCI,), ("0000:86:00.0",)]
    kept = "SELECT f.rnic_id, f.explanation FROM finding f JOIN host h ON h.host_id = f.host_id WHERE h.host = %s"
    assert connection.execute(kept, [host]).fetchall() == [(None, "It crashed.")]


def test_a_database_connection_that_is_cut_costs_nothing(ingest: Start, send: Send, connection: Connection, host: str) -> None:
    with ingest():
        for second in range(40):
            send("wallwatch.rnic", rnic(host, second), key=host)
            if second % 10 == 5:
                connection.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE application_name = 'wallwatch-ingest' AND datname = current_database()"
                )
        assert until(lambda: count(connection, "rnic_sample", host) == 40)


def test_an_attribute_that_changes_is_updated_and_the_identity_stays(ingest: Start, send: Send, connection: Connection, host: str) -> None:
    later = rnic(host, 2)
    later["tags"] |= {"fw_ver": "9.9", "ibdev": "mlx5_7"}
    with ingest():
        send("wallwatch.rnic", rnic(host, 1), key=host)
        assert until(lambda: count(connection, "rnic_sample", host) == 1)
        send("wallwatch.rnic", later, key=host)
        assert until(lambda: count(connection, "rnic_sample", host) == 2)
    assert connection.execute("SELECT fw_ver, ibdev, pci_id FROM rnic WHERE host = %s", [host]).fetchall() == [
        ("9.9", "mlx5_7", "15b3:101d")
    ]


def test_a_host_that_stops_reporting_shows_on_its_rnics_until_it_reports_again(
    ingest: Start, send: Send, connection: Connection, host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(silence, "CHECK_EVERY_S", 0.25)
    others = [f"{host}-{n}" for n in range(3)]

    def severity() -> Any:
        return (state(connection, host).get("symptoms") or {}).get("silent", {}).get("severity")

    with ingest():
        send("wallwatch.rnic", rnic(host, 0), key=host)
        for name in others:
            send("wallwatch.rnic", rnic(name, 0), key=name)
        assert until(lambda: state(connection, host))
        begin = time.monotonic()

        def others_go_on() -> Any:
            # Faster than real time, but not so fast that the watch, from one look to the next, takes it for a leap after an outage.
            for name in others:
                send("wallwatch.rnic", rnic(name, (time.monotonic() - begin) * FASTER), key=name)
            return severity()

        assert until(others_go_on, 120) == "critical"
        send("wallwatch.rnic", rnic(host, (time.monotonic() - begin) * FASTER), key=host)
        assert until(lambda: until_of(connection, host, "silent") not in (None, "none"))
    assert count(connection, "finding", host) == 0, "it belongs to the host and to no RNIC"
