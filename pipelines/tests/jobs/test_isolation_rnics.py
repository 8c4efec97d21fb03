"""When the streams of the job `isolation` take other promises."""

from __future__ import annotations

from typing import Any, cast

import pytest

from wallwatch.domain.isolation.assignment import Book, Condition, Rule, slo_of
from wallwatch.domain.isolation.holders import Holder
from wallwatch.domain.isolation.live import RnicStream
from wallwatch.jobs.isolation import SILENT_TURNS, Rnics
from wallwatch.store.promises import SloWatcher
from wallwatch.store.vf_holders import HolderWatcher

PCI = "0000:3b:00.0"


class Slos:
    book = Book({"gold": slo_of(50, 2_000, None, None, None)}, (Rule((Condition("model", "=", "CX-6"),), "gold"),))


class Store:
    """What `HolderWatcher` would have read."""

    def __init__(self) -> None:
        self.models: dict[str, str] = {}
        self.holders: dict[str, dict[int, Holder]] = {}
        self.changed: set[str] = set()

    def take_changed(self) -> set[str]:
        taken, self.changed = self.changed, set()
        return taken

    def held(self, host: str, pci: str) -> dict[int, Holder]:
        return self.holders.get(host, {})

    def rnic(self, host: str, pci: str) -> tuple[str, str]:
        return ("", self.models.get(host, ""))


@pytest.fixture
def store() -> Store:
    return Store()


@pytest.fixture
def rnics(store: Store) -> Rnics:
    made = Rnics(cast(SloWatcher, Slos()), cast(HolderWatcher, store))
    made.follow()
    return made


def state_of_vf0(stream: RnicStream, at_s: float) -> dict[str, Any]:
    """VF 0 in the newest state, after two readings."""
    out = []
    for step in range(2):
        rows = f'[[0, "g", {1000 * step}, {step}, 0, {1000 * step}, {step}, 0]]'
        fields = {"port_rx_bytes": 0, "vfs": rows, "doubt": "load"}
        out += stream.step(at_s + step, fields)
    found: dict[str, Any] = next(one for one in reversed(out) if one["kind"] == "now")["vfs"][0]
    return found


def test_a_rule_by_model_holds_from_when_the_model_of_a_new_rnic_is_known(rnics: Rnics, store: Store) -> None:
    assert state_of_vf0(rnics.stream("h1", PCI, "r1"), 1_000.0)["slo"] is None
    store.models["h1"] = "CX-6"
    assert state_of_vf0(rnics.stream("h1", PCI, "r1"), 1_010.0)["slo"]["name"] == "gold"


def test_another_holder_names_the_pod_and_other_hosts_keep_their_promises(rnics: Rnics, store: Store) -> None:
    assert state_of_vf0(rnics.stream("h1", PCI, "r1"), 1_000.0)["pod"] == ""
    other = rnics.stream("h2", PCI, "r1").version
    store.holders["h1"] = {0: Holder(1, PCI, "a/web", "c", "net1", "")}
    store.changed.add("h1")
    rnics.follow()
    assert state_of_vf0(rnics.stream("h1", PCI, "r1"), 1_010.0)["pod"] == "a/web"
    assert rnics.stream("h2", PCI, "r1").version == other


def test_what_all_detectors_met_is_counted_also_after_a_rebalance(rnics: Rnics) -> None:
    for host in ("h1", "h2"):
        stream = rnics.stream(host, PCI, "r1")
        state_of_vf0(stream, 1_000.0)
        stream.step(1_001.0, {"port_rx_bytes": 0, "vfs": '[[0, "g", 1000, 1, 0, 1000, 1, 0]]'})  # the second reading again
    rnics.clear()
    state_of_vf0(rnics.stream("h1", PCI, "r1"), 2_000.0)
    counts = rnics.counts()
    assert (counts["duplicates"], counts["readings"], counts["resets"]) == (2, 8, 0)
    rnics.clear()
    assert rnics.counts() == counts


def test_an_rnic_that_is_silent_for_a_day_is_forgotten_and_stays_counted(rnics: Rnics) -> None:
    silent, other = rnics.stream("h1", PCI, "r1"), rnics.stream("h2", PCI, "r1")
    state_of_vf0(silent, 1_000.0)
    for _ in range(SILENT_TURNS):
        rnics.forget()
        assert rnics.stream("h2", PCI, "r1") is other
    assert len(rnics._streams) == 2
    rnics.forget()
    assert [*rnics._streams.values()] == [other]
    assert rnics.counts()["readings"] == 2
    assert rnics.stream("h1", PCI, "r1") is not silent
