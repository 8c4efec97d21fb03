"""Packets through a real ovs-vswitchd, followed through collector, Kafka and ingest into the hypertables."""

import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from signal import SIGTERM
from typing import Any

import psycopg
import pytest

from wallwatch_local.processes import die_with_parent, running
from wallwatch_testing import collector, ovs
from wallwatch_testing.stack import random_name, wait_for
from wallwatch_testing.sysfs import write_rnic

pytestmark = pytest.mark.integration

PCI = "0000:3b:00.0"
REPRESENTORS = ("pf0vf0", "pf0vf1")


@dataclass(frozen=True)
class Followed:
    """A host with a real switch whose telemetry ends in a database."""

    host: str
    switch: ovs.OpenVSwitch
    folder: Path
    database: psycopg.Connection[Any]

    def latest(self, table: str, columns: str) -> dict[str, Any] | None:
        query = f"SELECT {columns} FROM {table} WHERE host_id = (SELECT host_id FROM host WHERE host = %s) ORDER BY time DESC LIMIT 1"
        with self.database.cursor(row_factory=psycopg.rows.dict_row) as cursor:
            return cursor.execute(query, [self.host]).fetchone()  # type: ignore[arg-type]  # made of constants of this module


@pytest.fixture(scope="module")
def followed(postgres_url: str, kafka_bootstrap: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Followed]:
    assert not ovs.missing(), f"Open vSwitch is not installed ({', '.join(ovs.missing())}): run 'make setup'"
    folder = tmp_path_factory.mktemp("h")
    host = random_name("ovs-real")
    write_rnic(folder / "sys", PCI, "mlx5_0", "uplink0", REPRESENTORS)
    environment = {"WALLWATCH_DATABASE_URL": postgres_url, "WALLWATCH_KAFKA_BOOTSTRAP": kafka_bootstrap, "PATH": "/usr/bin:/bin"}
    wallwatch = str(Path(sys.executable).with_name("wallwatch"))
    subprocess.run([wallwatch, "db", "upgrade"], env=environment, check=True, capture_output=True)
    job = die_with_parent(["env", *[f"{k}={v}" for k, v in environment.items()], wallwatch, "job", "ingest"], SIGTERM)
    outputs = collector.KAFKA_OUTPUT.format(bootstrap=kafka_bootstrap)
    with ovs.start(folder / "ovs") as switch, running("ingest", job, folder / "ingest.log", lambda: True, SIGTERM):
        switch.add_dummy_bridge("br0", REPRESENTORS)
        switch.add_flow("br0", "in_port=pf0vf0,ip,nw_dst=10.0.0.0/24,actions=output:pf0vf1")
        switch.add_flow("br0", "in_port=pf0vf0,ip,nw_dst=10.1.0.0/16,actions=output:pf0vf1")
        with (
            collector.collecting(folder, host, collector.INPUTS, outputs),
            psycopg.connect(postgres_url.replace("+psycopg", ""), autocommit=True) as connection,
        ):
            yield Followed(host, switch, folder, connection)


def test_flows_and_lookups_of_the_real_switch_reach_the_hypertable(followed: Followed) -> None:
    wait_for("a first sample of the datapath", lambda: followed.latest("datapath_sample", "time"), timeout_s=60)
    for destination in ("10.0.0.1", "10.0.0.2", "10.0.0.3", "10.1.0.1", "10.1.2.3"):
        followed.switch.receive("pf0vf0", "10.9.0.1", destination)

    def counted() -> dict[str, Any] | None:
        row = followed.latest("datapath_sample", "flows, lookups_hit, lookups_missed, lookups_lost, max_idle_ms, flows_unparsed")
        return row if row and (row["lookups_hit"] or 0) + (row["lookups_missed"] or 0) >= 5 else None

    row = wait_for("five lookups", counted, timeout_s=30)
    # The first packet to each of the two networks is a miss that makes a megaflow; the other three hit it.
    assert row["lookups_missed"] == 2
    assert row["lookups_hit"] == 3
    assert row["lookups_lost"] == 0
    assert row["flows_unparsed"] == 0
    assert row["max_idle_ms"] == 10_000


def test_the_flows_belong_to_the_rnic_of_their_representor(followed: Followed) -> None:
    deadline = time.monotonic() + 120
    query = (
        """SELECT max(flows_software), max(flows_offloaded) FROM offload_sample JOIN rnic USING (rnic_id) WHERE host = %s AND pci = %s"""
    )
    found: Any = None
    while time.monotonic() < deadline:
        followed.switch.receive("pf0vf0", "10.9.0.1", "10.0.0.9")
        followed.switch.receive("pf0vf0", "10.9.0.1", "10.1.0.9")
        found = followed.database.execute(query, [followed.host, PCI]).fetchone()
        if found and found[0] == 2:
            break
        time.sleep(0.5)
    # The dummy datapath offloads nothing, so both flows are software flows of the RNIC that owns the representor.
    assert found == (2, 0)


def test_the_rnic_itself_is_known_with_its_model(followed: Followed) -> None:
    query = "SELECT model, driver, ibdev, netdev, fw_ver FROM rnic WHERE host = %s AND pci = %s"
    row = wait_for("the RNIC", lambda: followed.database.execute(query, [followed.host, PCI]).fetchone(), timeout_s=30)
    assert row == ("CX-6", "mlx5_core", "mlx5_0", "uplink0", "20.43.1014")


def test_a_changed_max_idle_of_the_real_ovsdb_is_seen(followed: Followed) -> None:
    followed.switch.vsctl("set", "Open_vSwitch", ".", "other_config:max-idle=30000")
    wait_for(
        "max-idle of 30 s",
        lambda: (followed.latest("datapath_sample", "max_idle_ms") or {}).get("max_idle_ms") == 30_000,
        timeout_s=30,
    )


def test_a_switch_that_stops_is_reported_and_the_rnic_samples_go_on(followed: Followed) -> None:
    (followed.folder / "ovs" / "vswitchd.ctl").rename(followed.folder / "ovs" / "vswitchd.away")
    try:
        query = "SELECT kind FROM event JOIN host USING (host_id) WHERE host = %s ORDER BY time DESC LIMIT 1"
        wait_for(
            "the event ovs_unreachable",
            lambda: followed.database.execute(query, [followed.host]).fetchone() == ("ovs_unreachable",),
            timeout_s=30,
        )
        samples = "SELECT count(*) FROM rnic_sample JOIN rnic USING (rnic_id) WHERE host = %s"
        before = followed.database.execute(samples, [followed.host]).fetchone()
        wait_for("more samples", lambda: followed.database.execute(samples, [followed.host]).fetchone() > before, timeout_s=90)
    finally:
        (followed.folder / "ovs" / "vswitchd.away").rename(followed.folder / "ovs" / "vswitchd.ctl")
    wait_for(
        "the event ovs_reachable",
        lambda: followed.database.execute(query, [followed.host]).fetchone() == ("ovs_reachable",),
        timeout_s=30,
    )
