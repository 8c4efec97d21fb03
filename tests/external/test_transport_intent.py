"""The description that comes with Lumina's published program is understood."""

from pathlib import Path

import yaml

from wallwatch.domain.transport.entries import entries, parse_connections
from wallwatch.domain.transport.intents import parse_intent


def test_the_published_description_is_valid_and_counts_from_0(external_data: Path) -> None:
    intent = parse_intent(yaml.safe_load((external_data / "transport" / "example-intent.yml").read_text()))
    assert (intent.traffic.connections, intent.traffic.base, intent.traffic.packets) == (4, 0, 1000)
    ends = [
        {"requester": {"ip": f"10.0.0.{n}1", "qpn": n, "psn": 100 * n}, "responder": {"ip": f"10.0.0.{n}2", "qpn": 16 + n, "psn": 0}}
        for n in range(1, 5)
    ]
    found = entries(intent, parse_connections(ends))
    assert [(entry.qpn, entry.psn, entry.action) for entry in found] == [
        (17, 104, "ecn"),
        (18, 204, "ecn"),
        (19, 303, "drop"),
        (20, 405, "drop"),
    ]
