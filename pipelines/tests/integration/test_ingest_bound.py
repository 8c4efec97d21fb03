"""What one host may register: a host with a valid key that invents PCI addresses does not fill the table `rnic`."""

import re
import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from wallwatch.domain.symptoms import host_stage
from wallwatch.domain.telemetry.identities import MOST_RNICS
from wallwatch.jobs.ingest import Ingest
from wallwatch.settings import Settings
from wallwatch.store.admission import COUNTED_S, Admission
from wallwatch.store.identities import Identities
from wallwatch_testing.blocks import block
from wallwatch_testing.kafka_lag import begin_at_ends

from .conftest import REPOSITORY, running_job, until

Start = Callable[[], AbstractContextManager[Ingest]]
Send = Callable[..., None]
Connection = psycopg.Connection[Any]
Message = dict[str, Any]
REASON = "too_many_rnics"
MORE = 6


def rnic(host: str, number: int) -> Message:
    tags = {"host": host, "rack": "r1", "pci": f"0000:{number:02x}:00.0"}
    return {"name": "rnic", "timestamp": time.time_ns(), "tags": tags, "fields": {"port_xmit_data": 5, "tx_gbps": 0.5}}


def mask(host: str, number: int) -> Message:
    sample = rnic(host, number)
    return sample | {"name": "rnic_mask", "tags": sample["tags"] | {"direction": "egress", "mask": "0a"}, "fields": {"position": 0}}


def counted(connection: Connection, topic: str) -> int:
    found = connection.execute("SELECT coalesce(sum(count), 0) FROM dead_letter_count WHERE reason = %s AND topic = %s", [REASON, topic])
    return int((found.fetchone() or (0,))[0])


def stored(connection: Connection, host: str, table: str = "rnic") -> set[str]:
    query = (
        "SELECT pci FROM rnic WHERE host = %s" if table == "rnic" else f"SELECT pci FROM {table} JOIN rnic USING (rnic_id) WHERE host = %s"
    )
    return {pci for (pci,) in connection.execute(query.encode(), [host])}


def singly(topic: str, sample: Callable[[str, int], Message]) -> Callable[[Send, str, Iterable[int]], None]:
    return lambda send, host, numbers: send(topic, *(sample(host, number) for number in numbers), key=host)


def in_blocks(sample: Callable[[str, int], Message]) -> Callable[[Send, str, Iterable[int]], None]:
    return lambda send, host, numbers: send("wallwatch.blocks", block([sample(host, number) for number in numbers]), key=host)


FORMS = {
    "single messages": ("wallwatch.rnic", "rnic_sample", singly("wallwatch.rnic", rnic)),
    "single messages of parts": ("wallwatch.rnic_mask", "mask_sample", singly("wallwatch.rnic_mask", mask)),
    "blocks": ("wallwatch.rnic", "rnic_sample", in_blocks(rnic)),
    "blocks of parts": ("wallwatch.rnic_mask", "mask_sample", in_blocks(mask)),
}


@pytest.fixture
def ingest(settings: Settings, kafka_bootstrap: str) -> Start:
    """In a group that reads what is sent from now on: what former tests sent would be refused, and counted, again."""
    for topic in ("wallwatch.rnic", "wallwatch.rnic_mask", "wallwatch.blocks", "wallwatch.findings"):
        begin_at_ends(kafka_bootstrap, settings.ingest_group, topic)
    return lambda: running_job(Ingest(settings))


def test_classify_follows_as_many_rnics_of_a_host_as_are_stored() -> None:
    assert host_stage.MOST_RNICS == MOST_RNICS


@pytest.mark.integration
@pytest.mark.parametrize("form", FORMS)
def test_a_host_registers_no_more_rnics_than_it_may_and_the_others_are_dead_letters(
    form: str, ingest: Start, send: Send, connection: Connection, host: str
) -> None:
    topic, table, sent = FORMS[form]
    before = counted(connection, topic)
    with ingest():
        sent(send, host, range(MOST_RNICS - 2))
        assert until(lambda: len(stored(connection, host)) == MOST_RNICS - 2)
        # Two of these are registered; the host's own ones, in the same message, are stored as ever.
        sent(send, host, [0, *range(MOST_RNICS - 2, MOST_RNICS + MORE), 1])
        assert until(lambda: counted(connection, topic) == before + MORE), counted(connection, topic) - before
        sent(send, f"{host}-2", range(200, 203))
        assert until(lambda: len(stored(connection, f"{host}-2", table)) == 3)
    assert len(stored(connection, host)) == MOST_RNICS
    assert stored(connection, host, table) == stored(connection, host)


def finding(host: str, number: int) -> Message:
    """A symptom of the whole host, which the rows of all its RNICs show."""
    return {
        "finding_id": str(uuid4()), "host": host, "pci": f"0000:{number:02x}:00.0", "rack": "r1", "symptom": "S5", "state": "active",
        "started_at": "2026-09-21T14:13:20Z", "at": "2026-09-21T14:14:00Z", "severity": "warning", "blast_radius": "host",
        "rule": "S5/1", "title": "t", "summary": "s", "evidence": [{"signal": "x"}], "hypotheses": [], "remedies": [],
    }  # fmt: skip


def age(connection: Connection, host: str, below: str) -> None:
    """RNICs below a PCI address gave their last sample 8 days ago."""
    ago = "now() - interval '8 days'"
    connection.execute(f"UPDATE rnic SET first_seen = {ago} WHERE host = %s AND pci < %s".encode(), [host, below])
    connection.execute(f"UPDATE rnic_state SET updated_at = {ago} WHERE host = %s AND pci < %s".encode(), [host, below])


@pytest.mark.integration
def test_rnics_without_samples_for_a_week_make_room_and_symptoms_of_their_host_do_not_count(
    ingest: Start, send: Send, connection: Connection, host: str
) -> None:
    sent = FORMS["single messages"][2]
    with ingest():
        sent(send, host, range(MOST_RNICS))
        query = "SELECT count(*) FROM rnic_state WHERE host = %s"
        assert until(lambda: (connection.execute(query, [host]).fetchone() or (0,))[0] == MOST_RNICS)
    connection.execute("UPDATE rnic SET first_seen = now() - interval '8 days' WHERE host = %s", [host])
    age(connection, host, "0000:03")
    # This one never gave a sample of those that the row is made of: the finding makes its row.
    connection.execute("DELETE FROM rnic_state WHERE host = %s AND pci = '0000:02:00.0'", [host])
    before = counted(connection, "wallwatch.rnic")
    with ingest():  # a process that knows all of them from the table
        send("wallwatch.findings", finding(host, 9), key=host)
        shown = "SELECT count(*) FROM rnic_state WHERE host = %s AND symptoms ? 'S5'"
        assert until(lambda: (connection.execute(shown, [host]).fetchone() or (0,))[0] == MOST_RNICS)
        sent(send, host, range(MOST_RNICS, MOST_RNICS + 5))
        assert until(lambda: counted(connection, "wallwatch.rnic") == before + 2), counted(connection, "wallwatch.rnic") - before
        assert until(lambda: len(stored(connection, host)) == MOST_RNICS + 3)


class Process:
    """What a process of `ingest` knows of RNICs, as read at its start, and how it registers others."""

    def __init__(self, connection: Connection) -> None:
        self.now_s = 0.0
        self.reads = 0
        self.identities = Identities()
        self.identities.load(connection)
        self._connection = connection
        self._admission = Admission(self.identities, self._run, lambda: self.now_s)

    def _run(self, work: Callable[[Connection], None]) -> None:
        self.reads += 1
        work(self._connection)

    def register(self, host: str, numbers: Iterable[int]) -> set[int]:
        """Register these RNICs as a batch does; returns those that are refused."""
        keys = {(host, f"0000:{number:02x}:00.0"): number for number in numbers}
        refused = self._admission.refused([key for key in keys if key not in self.identities.rnics])
        admitted: dict[tuple[str, str], dict[str, str]] = {key: {} for key in keys if key not in refused}
        if admitted:
            self.identities.upsert_rnics(self._connection, admitted, full=False)
        return {keys[key] for key in refused}


@pytest.mark.integration
@pytest.mark.parametrize("age_of_old_ones", ["this week", "a week ago"])
def test_rnics_that_another_process_has_registered_are_known_and_not_new(connection: Connection, host: str, age_of_old_ones: str) -> None:
    Process(connection).register(host, range(48))
    first, second = Process(connection), Process(connection)
    if age_of_old_ones == "a week ago":
        age(connection, host, "0000:30")
    renumbered = range(100, 124)
    room = 16 if age_of_old_ones == "this week" else 24
    assert second.register(host, renumbered) == set(renumbered[room:])
    # After a rebalance, the messages of the host come to the first process.
    assert first.register(host, renumbered) == set(renumbered[room:])
    for pci in stored(connection, host):
        assert first.identities.rnics[host, pci].rnic_id == second.identities.rnics[host, pci].rnic_id
    assert len(first.identities.of_host[host]) == 48 + room
    assert len(stored(connection, host)) == 48 + room


@pytest.mark.integration
def test_all_rnics_of_a_full_host_with_older_rows_are_taken_over_and_others_refused(connection: Connection, host: str) -> None:
    Process(connection).register(host, range(10))
    age(connection, host, "0000:0a")
    first, second = Process(connection), Process(connection)
    live = range(100, 100 + MOST_RNICS)
    assert second.register(host, live) == set()
    assert first.register(host, [200, *live, 201]) == {200, 201}
    assert len(stored(connection, host)) == 10 + MOST_RNICS


@pytest.mark.integration
def test_the_rows_of_a_host_that_invents_names_are_read_now_and_then(connection: Connection, host: str) -> None:
    first, second = Process(connection), Process(connection)
    first.register(host, range(MOST_RNICS - 1))
    assert first.register(host, [100, 101]) == {101}
    reads = first.reads
    for number in range(102, 120):
        assert first.register(host, [number]) == {number}
    assert first.reads == reads, "of the flood, none is asked for"
    age(connection, host, "0000:03")
    assert second.register(host, [102, 103]) == set()
    assert first.register(host, [102]) == {102}, "not read yet"
    first.now_s += COUNTED_S
    assert first.register(host, [102, 103, 104, 105]) == {105}
    assert first.reads == reads + 1


@pytest.mark.integration
def test_an_operator_lets_the_former_addresses_of_a_host_go(connection: Connection, host: str) -> None:
    process, others = Process(connection), f"{host}-2"
    process.register(host, range(40))
    process.register(others, range(40))
    rows = (
        "INSERT INTO rnic_state (rnic_id, host, pci, change_seq) SELECT rnic_id, host, pci, 0 FROM rnic WHERE host = ANY(%s) AND pci > %s"
    )
    connection.execute(rows, [[host, others], "0000:05"])
    for table, column in (("rnic", "first_seen"), ("rnic_state", "updated_at")):  # all but five have been silent for two hours
        silent = f"UPDATE {table} SET {column} = now() - interval '2 hours' WHERE host = ANY(%s) AND pci < '0000:23'"
        connection.execute(silent.encode(), [[host, others]])
    (documented,) = re.findall(r"^```sql\n(WITH silent.*?)^```$", (REPOSITORY / "docs/operating.md").read_text(), re.MULTILINE | re.DOTALL)
    assert process.register(host, range(100, 140)) == set(range(124, 140))
    connection.execute(documented.replace("'HOST'", f"'{host}'").encode())
    process.now_s += COUNTED_S
    assert process.register(host, range(100, 140)) == set()
    assert process.register(others, range(100, 140)) == set(range(124, 140)), "another host's stay"
