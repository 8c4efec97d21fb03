"""Names from outside: what a host, an RNIC, a pod or a policy may be called."""

import json
from typing import Any

import pytest

from wallwatch.domain.isolation import messages as isolation
from wallwatch.domain.symptoms.decode_finding import decode_finding
from wallwatch.domain.telemetry.decode import Refused, decode
from wallwatch.domain.telemetry.identities import DEVICE, FIELDS, FORMS, HOST, LABEL, NAME, RACK, Checked
from wallwatch.domain.telemetry.registry import measurements
from wallwatch.jobs.ingest_forecasts import decode_forecast

NOW_NS = 1_790_000_000_000_000_000
HOSTILE = [
    "sec<img src=x onerror=alert(1)>",
    "<script>",
    'host"onmouseover="x',
    "host'--",
    "a&b",
    "a b",
    " host01",
    "host01\n",
    "host\r\n01",
    "ho\tst",
    "\x1b[31mhost",
    "host\x7f",
    "../../etc/passwd",
    "h\u200bost01",  # zero width space
    "h\u043est01",  # a Cyrillic letter that looks like an o
    "ｈｏｓｔ",
    "host\u202e10",
    "٣",
    "=HYPERLINK(1)",
    "-host",
    "host-",
    ".host",
    "host.",
    "ho..st",
    "a" * 64,
    ".".join(["a" * 63] * 4) + ".a",
    "h" * 10_240,
]


@pytest.mark.parametrize(
    "name", ["host01", "Host01", "h", "7", "node-7.rack1.example.net", "under_score", ".".join(["a" * 63] * 3 + ["a" * 61])]
)
def test_a_host_has_the_name_of_a_host(name: str) -> None:
    assert HOST.matches(name)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_no_host(name: str) -> None:
    assert not HOST.matches(name)


@pytest.mark.parametrize("pci", ["0000:3b:00.0", "10000:e1:1f.7", "mlx5_0", "rxe0"])
def test_an_rnic_has_a_pci_address_or_the_name_of_its_infiniband_device(pci: str) -> None:
    assert DEVICE.matches(pci)


@pytest.mark.parametrize(
    "pci",
    [
        "0000:3B:00.0",
        "0000:3b:00.8",
        "0000:3b:20.0",
        "3b:00.0",
        "0000:3b:00",
        "0000:3b:00.0\n",
        "zz:zz",
        "0000:3g:00.0",
        "0" * 5000,
        "<b>",
        "٠:٠",
    ],
)
def test_pci_garbage_is_no_rnic(pci: str) -> None:
    assert not DEVICE.matches(pci)


@pytest.mark.parametrize("form", [RACK, LABEL, NAME])
@pytest.mark.parametrize("text", ["<b>", 'a"b', "a'b", "a&b", "a\nb", "a\x00b", "ä", " a", "a ", "a\\b", "x" * 600])
def test_no_label_carries_markup_or_control_characters(form: Any, text: str) -> None:
    assert not form.matches(text)


def test_labels_of_the_trade_are_accepted() -> None:
    for text in ("20.35.1012 (MT_0000000359)", "MT4125", "InfiniBand", "4.14 0x8001abcd 1.3310.0", "r1", "Row 7 / rack 12", "B-3#2"):
        assert LABEL.matches(text), text
    for text in ("default/web-0", "a1b2c3", "system@ovs-system", "registry.example.net:5000/a"):
        assert NAME.matches(text), text


def test_each_tag_and_named_field_of_the_registry_has_a_form() -> None:
    for measurement in measurements().values():
        assert set(measurement.tags) <= set(FORMS)
    for name, forms in FIELDS.items():
        assert set(forms) <= set(measurements()[name].fields)


def test_what_was_right_is_remembered_and_the_memory_is_bounded() -> None:
    checked = Checked(FORMS, most=10)
    for number in range(100):
        assert checked.wrong({"host": f"host{number}"}) is None
    assert checked.wrong({"host": "<b>"}) is not None
    assert checked.wrong({"host": "<b>"}) is not None, "a wrong name is never remembered as right"
    assert len(checked._right["host"]) <= 11


def offload(**tags: Any) -> bytes:
    good = {"host": "h1", "pci": "0000:3b:00.0"}
    return json.dumps({"name": "rnic_offload", "timestamp": NOW_NS, "tags": {**good, **tags}, "fields": {}}).encode()


@pytest.mark.parametrize("tags", [{"host": name} for name in HOSTILE] + [{"pci": "0000:zz:00.0"}, {"rack": "r<1>"}, {"netdev": "e th0"}])
def test_a_message_with_a_hostile_name_is_refused_and_its_refusal_is_short(tags: dict[str, str]) -> None:
    with pytest.raises(Refused) as refusal:
        decode(offload(**tags), measurements()["rnic_offload"], NOW_NS)
    assert refusal.value.reason == "bad_identity"
    text = str(refusal.value)
    assert len(text) < 300
    assert text.isprintable()
    assert text.isascii()


def test_names_that_a_source_does_not_have_may_be_empty() -> None:
    decode(offload(rack="", netdev=""), measurements()["rnic_offload"], NOW_NS)


@pytest.mark.parametrize("field", ["device", "container", "pod", "interface", "policy"])
def test_an_event_names_pods_and_devices_in_their_form(field: str) -> None:
    def event(name: object) -> bytes:
        tags = {"host": "h1", "kind": "cni_add"}
        return json.dumps({"name": "event", "timestamp": NOW_NS, "tags": tags, "fields": {field: name}}).encode()

    decode(event("eth0"), measurements()["event"], NOW_NS)
    decode(event(""), measurements()["event"], NOW_NS)
    for bad in ("<img src=x>", "a\u0001b", 7, ["x"]):
        with pytest.raises(Refused) as refusal:
            decode(event(bad), measurements()["event"], NOW_NS)
        assert refusal.value.reason == "bad_identity"


@pytest.mark.parametrize("change", [{"host": "sec<img src=x>"}, {"pci": "<b>"}, {"rack": "r\u202e1"}])
def test_findings_forecasts_and_isolation_name_real_hosts_too(change: dict[str, str]) -> None:
    at = "2026-09-21T14:13:20Z"
    finding = {
        "finding_id": "6a2f1a49-4ac2-5c4e-8a60-4b7a3a9c2e5d", "host": "h1", "pci": "0000:3b:00.0", "rack": "r1", "symptom": "S1",
        "state": "active", "started_at": at, "at": at, "severity": "warning", "blast_radius": "flows", "rule": "S1/1", "title": "t",
        "summary": "s", "evidence": [], "hypotheses": [], "remedies": [],
    }  # fmt: skip
    forecast = {"host": "h1", "pci": "0000:3b:00.0", "at": at, "cold_start": False, "policy_violated": False, "walls": {}}
    minute = {"kind": "minute", "host": "h1", "pci": "0000:3b:00.0", "rack": "r1", "at": at, "vfs": []}
    latest = isolation._EARLIEST.replace(year=2030)
    for read, body in (
        (decode_finding, finding),
        (decode_forecast, forecast),
        (lambda value: isolation.decode(value, latest), minute),
    ):
        read(json.dumps(body).encode())
        with pytest.raises(Refused) as refusal:
            read(json.dumps({**body, **change}).encode())
        assert refusal.value.reason == "bad_identity"


@pytest.mark.parametrize("confidence", [[], {}, 7, "total"])
def test_a_forecast_whose_confidence_is_none_of_ours_is_refused(confidence: object) -> None:
    body = {"host": "h1", "pci": "0000:3b:00.0", "at": "2026-09-21T14:13:20Z", "cold_start": False, "policy_violated": False, "walls": {}}
    decode_forecast(json.dumps(body | {"confidence": "low"}).encode())
    with pytest.raises(Refused, match="confidence is none of"):
        decode_forecast(json.dumps(body | {"confidence": confidence}).encode())
