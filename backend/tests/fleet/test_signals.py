"""The signals of a symptom, derived once more from rows as `ingest` writes them."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from wallwatch.domain.symptoms.host_stage import Message
from wallwatch_testing.stories import CX6, PCI, RACK, START_MS, at_ns, churn, detect, event, second_of

HOST = "host01"
START = datetime.fromtimestamp(START_MS / 1000, UTC)


def discarding(message: Message) -> Message:
    """The port discards something at the end; a counter is not stored while it is zero."""
    if message.measurement != "rnic":
        return message
    return message._replace(fields={**message.fields, "tx_discards_phy": 5000 if message.at_ns > at_ns(202) else 0})


TOLD = [*map(discarding, churn(162 + 110 * 2.0)), event(205, "pcie_link_down")]


def store(connection: Any, messages: Iterable[Message]) -> None:
    """Write messages with the encoders of `ingest`."""
    from wallwatch.domain.telemetry.registry import measurements
    from wallwatch.store import copy
    from wallwatch.store.encode import Sample, TableEncoder

    (rnic_id,) = connection.execute(
        "INSERT INTO rnic (host, pci, rack, pci_id, driver, fw_ver) VALUES (%s, %s, %s, %s, %s, %s) RETURNING rnic_id",
        [HOST, PCI, RACK, CX6["pci_id"], CX6["driver"], CX6["fw_ver"]],
    ).fetchone()
    (host_id,) = connection.execute("INSERT INTO host (host) VALUES (%s) RETURNING host_id", [HOST]).fetchone()
    rows: dict[str, list[Sample]] = {}
    for each in messages:
        measurement = measurements()[each.measurement]
        keys = tuple(each.tags[name] for name in measurement.text_columns)
        identity = rnic_id if measurement.of == "rnic" else host_id
        rows.setdefault(each.measurement, []).append(Sample(identity, each.at_ns, keys, dict(each.fields)))
    for name, samples in rows.items():
        measurement = measurements()[name]
        encoder = TableEncoder(measurement, f"{measurement.of}_id", measurement.text_columns, measurement.number_columns)
        encoded = encoder.encode(samples)
        assert not encoded.refused
        assert copy.write(connection, encoded) == len(samples)


@pytest.fixture(scope="module", autouse=True)
def rows(backend: Any) -> None:
    with backend.connect() as connection:
        store(connection, TOLD)


def signals(client: httpx.Client, symptom: str, **params: Any) -> dict[str, Any]:
    whole = {"from": START.isoformat(), "to": (START + timedelta(minutes=5)).isoformat()}
    answer = client.get(f"/api/v1/rnics/{HOST}/{PCI}/signals", params={"symptom": symptom, **whole, **params})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_stored_samples_give_the_values_that_the_finding_had(viewer: httpx.Client) -> None:
    finding = next(each for each in detect(TOLD) if each["symptom"] == "S4")
    found = signals(viewer, "S4")
    at = found["times"].index((START + timedelta(seconds=second_of(finding))).isoformat().replace("+00:00", "Z"))
    shown = {each["signal"]: each["value"] for each in finding["evidence"]}
    assert {signal: found["values"][signal][at] for signal in shown} == pytest.approx(shown, rel=1e-5)
    assert [name for name, values in found["values"].items() if len(values) != len(found["times"])] == []


def test_each_signal_says_over_which_time_it_is(viewer: httpx.Client) -> None:
    load = next(field for field in signals(viewer, "S4")["fields"] if field["name"] == "deletion_load")
    assert (load["label"], load["unit"], load["statistic"]) == ("Share of time spent on deletions", "ratio", "mean")
    assert load["window_s"] > 0


def test_a_counter_that_begins_to_move_is_seen_from_its_first_step(viewer: httpx.Client) -> None:
    errors = signals(viewer, "unexplained")["values"]["trouble_per_s"]
    assert max(value or 0 for value in errors) > 0


def test_events_count(viewer: httpx.Client) -> None:
    assert max(value or 0 for value in signals(viewer, "S7")["values"]["pcie_losses"]) == 1


def test_a_long_interval_is_cut_and_says_so(viewer: httpx.Client) -> None:
    found = signals(viewer, "S4", to=(START + timedelta(days=2)).isoformat())
    assert datetime.fromisoformat(found["to"]) - datetime.fromisoformat(found["from"]) == timedelta(hours=3)


def test_too_many_samples_are_cut_and_the_answer_says_so(viewer: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wallwatch_backend.fleet.rnics.signals.MOST_MESSAGES", 20)
    found = signals(viewer, "S4")
    assert START + timedelta(seconds=100) < datetime.fromisoformat(found["to"]) < START + timedelta(seconds=230)
    assert all(value is not None for value in found["values"]["flows_wall_share"][-20::10])


def test_nothing_is_invented_where_nothing_is_stored(viewer: httpx.Client) -> None:
    found = signals(viewer, "S4", **{"from": (START - timedelta(days=2)).isoformat(), "to": (START - timedelta(days=1)).isoformat()})
    assert {value for values in found["values"].values() for value in values} == {None}


@pytest.mark.parametrize("params", [{"symptom": "S9"}, {}, {"symptom": "S4", "from": "2100-01-01T00:00:00Z"}])
def test_a_wrong_question_is_refused(viewer: httpx.Client, params: dict[str, str]) -> None:
    assert viewer.get(f"/api/v1/rnics/{HOST}/{PCI}/signals", params=params).status_code == 422


def test_an_unknown_rnic_is_not_found(viewer: httpx.Client) -> None:
    assert viewer.get("/api/v1/rnics/host09/0000:3b:00.0/signals", params={"symptom": "S4"}).status_code == 404
