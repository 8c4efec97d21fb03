"""kill -9 of each process under the real supervisor: it restarts, no row is duplicated, no incident is lost."""

import os
from collections.abc import Iterator
from functools import partial
from signal import SIGKILL
from typing import Any

import httpx
import pytest
from psycopg import sql

from wallwatch_local import hosts
from wallwatch_testing import stack
from wallwatch_testing.stack import Stack, wait_for

pytestmark = [pytest.mark.faults, pytest.mark.timeout(900)]

HOST, PCI = "host01", "0000:17:00.0"
DUPLICATES = {
    "rnic_sample": ("rnic_id", "time"),
    "offload_sample": ("rnic_id", "time"),
    "mask_sample": ("rnic_id", "time", "direction", "mask"),
    "vf_sample": ("rnic_id", "time", "vf"),
    "policy_sample": ("host_id", "time", "policy", "pci"),
    "datapath_sample": ("host_id", "time", "datapath"),
    "finding": ("finding_id", "time", "state"),
    "incident": ("finding_id",),
}


@pytest.fixture(scope="module")
def sick_stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    if not stack.is_root():
        pytest.skip("the stack opens its own mounts: run as root")
    with stack.start(tmp_path_factory.mktemp("stack"), hosts.scenario_file("s1")) as running:
        yield running


@pytest.fixture(scope="module")
def incident_id(sick_stack: Stack) -> str:
    """The incident that must survive everything below."""
    with sick_stack.api() as api:

        def opened() -> str | None:
            items = api.get("/incidents").json()["items"]
            return next((one["id"] for one in items if (one["host"], one["symptom"]) == (HOST, "S1")), None)

        found: str = wait_for("an incident S1", opened, timeout_s=180)
        return found


def latest(sick_stack: Stack, table: str) -> Any:
    with sick_stack.database() as connection:
        row = connection.execute(sql.SQL("SELECT max(time) FROM {}").format(sql.Identifier(table))).fetchone()
        return row and row[0]


def has_newer(sick_stack: Stack, table: str, then: Any) -> bool:
    return bool(latest(sick_stack, table) > then)


def ready(sick_stack: Stack) -> bool:
    try:
        return httpx.get(f"{sick_stack.layout.api_url}/-/ready", timeout=3).status_code == 200
    except httpx.HTTPError:
        return False


@pytest.mark.parametrize(
    "program",
    ["ingest", "classify", "isolation", "validate", "backend", f"telegraf-{HOST}", f"agent-{HOST}", "fleetsim", "kafka", "postgres"],
)
def test_a_killed_process_comes_back_and_the_telemetry_goes_on(sick_stack: Stack, incident_id: str, program: str) -> None:
    before = sick_stack.pid(program)
    os.kill(before, SIGKILL)
    wait_for(f"a new {program}", lambda: sick_stack.pid(program) not in (0, before), timeout_s=60)
    wait_for("the API", lambda: ready(sick_stack), timeout_s=120)
    for table in ("rnic_sample", "offload_sample"):
        then = latest(sick_stack, table)
        wait_for(f"new rows of {table}", partial(has_newer, sick_stack, table, then), timeout_s=90)


def test_the_agents_are_connected_again(sick_stack: Stack) -> None:
    with sick_stack.api() as api:
        wait_for(
            "both agents",
            lambda: {one["host"] for one in api.get("/agents").json()["items"] if one["connected"]} == {"host01", "host02"},
            timeout_s=120,
        )


def test_no_incident_is_lost_or_doubled(sick_stack: Stack, incident_id: str) -> None:
    with sick_stack.api() as api:
        # Matched by any of its findings: the leading one changes while hosts fall silent and the fleet restarts.
        same = [one["id"] for one in api.get("/incidents", params={"host": HOST, "pci": PCI, "symptom": "S1"}).json()["items"]]
    assert incident_id in same
    assert len(same) == 1


@pytest.mark.parametrize(("table", "key"), DUPLICATES.items(), ids=DUPLICATES.keys())
def test_no_row_is_there_twice(sick_stack: Stack, table: str, key: tuple[str, ...]) -> None:
    query = sql.SQL("SELECT count(*), count(*) - (SELECT count(*) FROM (SELECT DISTINCT {key} FROM {table}) AS d) FROM {table}").format(
        key=sql.SQL(", ").join(sql.Identifier(column) for column in key), table=sql.Identifier(table)
    )
    with sick_stack.database() as connection:
        rows, doubled = connection.execute(query).fetchone() or (0, 0)
    assert rows > 0
    assert doubled == 0


def test_nobody_was_killed_for_nothing(sick_stack: Stack) -> None:
    """Every process runs at the end, and none is in a restart loop."""
    states = {one.name: one.state for one in sick_stack.supervisor.states()}
    assert set(states.values()) == {"RUNNING"}, states
