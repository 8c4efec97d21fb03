"""A behaviour of a transport engine as an incident: the stage's own finding, up to what the incident's page gets."""

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import httpx

from wallwatch.domain.symptoms.host_stage import Message, step
from wallwatch.domain.symptoms.peers import Peers
from wallwatch_testing.incidents import API
from wallwatch_testing.stories import PCI, at_ns, port

E810 = {"pci_id": "8086:1592", "driver": "ice", "fw_ver": "1.71"}
CX6_DX = {"pci_id": "15b3:101d", "driver": "mlx5_core", "fw_ver": "22.35.1012"}


def samples(receiver: str, sender: str) -> Iterator[Message]:
    """Marks arrive at an E810 whose counter of sent notifications stands still, and its sender handles notifications."""

    def flows(second: int, own: str, peer: str) -> Message:
        fields = {"tunnel_addresses": own, "tunnel_sources": f"{peer}=1/0.5"}
        return Message("rnic_offload", {"pci": PCI}, at_ns(second) + 1, fields)

    for second in range(0, 100, 10):
        marks = {"RxECNMrkd": second * 200, "cnpSent": 0}
        handled = {"rp_cnp_handled": second * 80, "np_cnp_sent": 0}
        ends = (sender, CX6_DX, handled, "10.0.2.1", "10.0.1.1"), (receiver, E810, marks, "10.0.1.1", "10.0.2.1")
        for host, card, counters, own, peer in ends:
            for message in (port(second, counters, tags=card), flows(second, own, peer)):
                yield message._replace(tags={**message.tags, "host": host, "rack": f"rack of {host}"})


def found_by_the_stage(receiver: str, sender: str) -> list[dict[str, Any]]:
    states: dict[str, Any] = {}
    peers, found = Peers(), []
    for message in samples(receiver, sender):
        host = message.tags["host"]
        states[host], findings = step(states.get(host), message, peers)
        found += findings
    return found


def test_an_incident_of_a_behaviour_shows_what_the_peers_counted_and_no_cause(operator: httpx.Client, apply_findings: Any) -> None:
    tag = uuid4().hex[:8]
    receiver, sender = f"{tag}-receiver", f"{tag}-sender"
    found = found_by_the_stage(receiver, sender)
    assert {(one["symptom"], one["host"]) for one in found} == {("B4", receiver)}
    apply_findings(*found)

    (listed,) = operator.get(API, params={"q": tag, "limit": 50}).json()["items"]
    assert (listed["symptom"], listed["host"], listed["pci"]) == ("B4", receiver, PCI)
    incident = operator.get(f"{API}/{listed['id']}").json()
    (finding,) = incident["findings"]
    evidence = {one["signal"]: one for one in finding["evidence"]}
    assert evidence["peers_cnps_handled_per_s"]["value"] >= 1.0
    assert evidence["unanswered_marks"]["value"] >= 1000.0
    assert "A known limitation of E810" in incident["explanation"]
    assert (incident["hypotheses"], incident["remedies"]) == ([], [])
