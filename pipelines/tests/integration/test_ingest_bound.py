"""What one host may register: a host with a valid key that invents PCI addresses does not fill the table `rnic`."""

import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import Any

import psycopg
import pytest

from wallwatch.domain.symptoms import host_stage
from wallwatch.domain.telemetry.identities import MOST_RNICS
from wallwatch.jobs.ingest import Ingest
from wallwatch_testing.blocks import block

from .conftest import until

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


@pytest.mark.integration
def test_rnics_that_were_not_seen_for_a_week_make_room(ingest: Start, send: Send, connection: Connection, host: str) -> None:
    sent = FORMS["single messages"][2]
    with ingest():
        sent(send, host, range(MOST_RNICS))
        query = "SELECT count(*) FROM rnic_state WHERE host = %s"
        assert until(lambda: (connection.execute(query, [host]).fetchone() or (0,))[0] == MOST_RNICS)
    long_ago = "now() - interval '8 days'"
    connection.execute(f"UPDATE rnic SET first_seen = {long_ago} WHERE host = %s".encode(), [host])
    connection.execute(f"UPDATE rnic_state SET updated_at = {long_ago} WHERE host = %s AND pci < '0000:03'".encode(), [host])
    before = counted(connection, "wallwatch.rnic")
    with ingest():  # a process that knows all of them from the table
        sent(send, host, range(MOST_RNICS, MOST_RNICS + 5))
        assert until(lambda: counted(connection, "wallwatch.rnic") == before + 2)
        assert until(lambda: len(stored(connection, host)) == MOST_RNICS + 3)
