"""A profile that is promoted while a job runs: the jobs follow the table, and the stage judges by it from the next sample on."""

import threading
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from wallwatch.domain.catalogue import promoted
from wallwatch.domain.catalogue.load import profiles
from wallwatch.domain.symptoms.host_stage import Message, step
from wallwatch.settings import Settings
from wallwatch.store.promoted import ProfileWatcher
from wallwatch_testing.stories import CX6, OFFLOAD, at_ns

from .conftest import until

DEEP = {**OFFLOAD, "q_egress": 35.0, "q_ingress": 2.0}
FIRMWARE, OTHER = "20.35.1012", "20.41.1000"


@pytest.fixture
def follower(settings: Settings) -> Iterator[None]:
    """As `classify` starts it, with a shorter interval."""
    stop = threading.Event()
    thread = ProfileWatcher(settings.libpq_url, stop, every_s=0.05).start()
    yield
    stop.set()
    thread.join()
    promoted.use([])


class Card:
    """The stage's state of one RNIC with some firmware."""

    def __init__(self, pci: str, firmware: str) -> None:
        self._tags, self._state, self._second = {"host": "host01", "pci": pci, "rack": "r1"}, None, 0
        self._step("rnic", {**self._tags, **CX6, "driver": "mlx5_core", "fw_ver": firmware}, {"tx_gbps": 1.0, "rx_gbps": 1.0})

    def _step(self, measurement: str, tags: dict[str, str], fields: dict[str, Any]) -> list[dict[str, Any]]:
        self._state, found = step(self._state, Message(measurement, tags, at_ns(self._second), fields))
        return found

    def play(self, seconds: int) -> str:
        """The last state of S6 after that many more seconds of deep masks."""
        found: list[dict[str, Any]] = []
        for _ in range(seconds):
            self._second += 1
            found += self._step("rnic_offload", self._tags, DEEP)
        return next((f["state"] for f in reversed(found) if f["symptom"] == "S6"), "none")


def test_a_promotion_changes_what_is_judged_without_a_restart_for_its_firmware_alone(
    follower: None, connection: psycopg.Connection[Any]
) -> None:
    promoted_for, other = Card("0000:3b:00.0", FIRMWARE), Card("0000:5e:00.0", OTHER)
    assert (promoted_for.play(40), other.play(40)) == ("active", "active")

    # A card of this firmware hardly minds masks: a far wider surface, and latency that does not grow.
    surface = {
        **profiles()["CX-6"].performance.model_dump(exclude_none=True),
        "v": 800.0,
        "m": -1.0,
        "n": -1.0,
        "a": 0.001,
        "b": 0.001,
    }
    limits = {"offloaded_flows": 6100, "egress_masks": 900, "ingress_masks": 900}
    connection.execute(
        "INSERT INTO rnic_profile_version (id, model, number, fw_ver, state, source, performance, limits, calibration, note, created_by) "
        "VALUES (gen_random_uuid(), 'CX-6', 901, %s, 'active', 'perftest', %s, %s, '{}', '', 'test')",
        [FIRMWARE, psycopg.types.json.Jsonb(surface), psycopg.types.json.Jsonb(limits)],
    )
    try:
        until(lambda: promoted.profile_of("CX-6", "mlx5_core", FIRMWARE) is not profiles()["CX-6"])
        assert (promoted_for.play(90), other.play(90)) == ("cleared", "active")
    finally:
        connection.execute("DELETE FROM rnic_profile_version WHERE number = 901")
    until(lambda: promoted.profile_of("CX-6", "mlx5_core", FIRMWARE) is profiles()["CX-6"])
    assert promoted_for.play(40) == "active"
