"""Messages of events as input of policies."""

from typing import Any

import pytest

from wallwatch.domain.policies.event import event_of
from wallwatch.domain.policies.watch import Event

GOOD: dict[str, Any] = {
    "name": "event", "timestamp": 1_999, "tags": {"host": "h", "pci": "p", "kind": "cni_del"}, "fields": {"device": "d"},
}  # fmt: skip


def test_an_event_has_its_time_in_microseconds_its_host_its_rnic_and_its_fields() -> None:
    assert event_of(GOOD) == Event("cni_del", 1, "h", "p", {"device": "d"})
    assert event_of(GOOD | {"tags": {"host": "h", "kind": "cni_del"}}) == Event("cni_del", 1, "h", "", {"device": "d"})


@pytest.mark.parametrize(
    "change",
    [
        {"name": "rnic"},
        {"name": None},
        {"timestamp": None},
        {"timestamp": "1999"},
        {"timestamp": 1.5},
        {"tags": None},
        {"tags": ["host"]},
        {"fields": None},
        {"fields": []},
        {"tags": {"host": "h"}},
        {"tags": {"kind": "cni_del"}},
        {"tags": {"host": "", "kind": "cni_del"}},
        {"tags": {"host": "h", "kind": ""}},
    ],
)
def test_what_lacks_a_part_of_an_event_is_none(change: dict[str, Any]) -> None:
    assert event_of(GOOD | change) is None
