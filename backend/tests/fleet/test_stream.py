"""The stream of changes."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from queue import Empty, Queue
from typing import Any
from uuid import uuid4

import httpx
import pytest

COALESCE_S = 0.2
"""Long enough for five rows on most machines, and short for tests that wait for it."""


class Reader:
    """Reads a stream in a thread, as a browser's EventSource does."""

    def __init__(self, client: Any, **options: Any) -> None:
        self.events: Queue[tuple[str, Any, str | None]] = Queue()
        self.opened = threading.Event()
        self.ended = threading.Event()
        self.status = 0
        self._stopping = False
        self._thread = threading.Thread(target=self._read, args=(client, options), daemon=True)
        self._thread.start()
        assert self.opened.wait(60)

    def _read(self, client: Any, options: dict[str, Any]) -> None:
        try:
            with client.stream("GET", "/api/v1/stream", timeout=60, **options) as response:
                self.status = response.status_code
                kind, id = "", None
                for line in response.iter_lines():
                    if self._stopping:
                        return
                    if line.startswith("event: "):
                        kind = line[7:]
                    elif line.startswith("id: "):
                        id = line[4:]
                    elif line.startswith("data: "):
                        self.events.put((kind, json.loads(line[6:]), id))
                        self.opened.set()
                        id = None
        finally:
            self.opened.set()
            self.ended.set()

    def stop(self) -> None:
        """Leave at the next line, which is a heartbeat at the latest."""
        self._stopping = True
        self._thread.join(60)
        assert not self._thread.is_alive()

    def next(self, kind: str, timeout_s: float = 60) -> Any:
        deadline = time.monotonic() + timeout_s
        while True:
            try:
                found = self.events.get(timeout=max(deadline - time.monotonic(), 0.01))
            except Empty:
                pytest.fail(f"no event {kind} within {timeout_s} s")
            if found[0] == kind:
                return found


@pytest.fixture(scope="module")
def backend_settings() -> dict[str, object]:
    return {"stream_heartbeat_s": 0.5, "stream_max_clients": 3, "stream_coalesce_s": COALESCE_S}


@pytest.fixture
def reader(backend: Any) -> Iterator[Reader]:
    with closing(backend.signed_in("viewer")) as client:
        reader = Reader(client)
        yield reader
        reader.stop()


def write_state(backend: Any, pci: str, *headrooms: float) -> int:
    """Change a row as `ingest` does, in a transaction for each value, with its notification; return the last `change_seq`."""
    with backend.connect() as connection:
        for headroom in headrooms:
            with connection.transaction():
                (seq,) = connection.execute(
                    """
                    INSERT INTO rnic_state (rnic_id, host, pci, headroom, seen_at, change_seq)
                    VALUES (hashtext(%(pci)s) & 65535, 'host01', %(pci)s, %(headroom)s, now(), nextval('rnic_state_change_seq_values'))
                    ON CONFLICT (rnic_id) DO UPDATE SET headroom = excluded.headroom, change_seq = excluded.change_seq RETURNING change_seq
                    """,
                    {"pci": pci, "headroom": headroom},
                ).fetchone()
                connection.execute("NOTIFY wallwatch_rnic_state")
    return int(seq)


def test_changed_rows_come_soon_and_together(backend: Any, reader: Reader) -> None:
    """Those of one interval: a machine that takes longer to write them than the stream waits has to write others."""
    for number in range(1, 100):
        pci, began = f"0000:01:00.{number}", time.monotonic()
        write_state(backend, pci, 0.0, 0.1, 0.2, 0.3, 0.4)  # over one connection: to open five takes longer than the stream waits
        in_one_interval = time.monotonic() - began < COALESCE_S
        _, columns, id = reader.next("rnic_state", 15)  # a second is the promise; a crowded machine gets more
        assert columns["pci"] == [pci]
        if in_one_interval:
            break
        while columns["headroom"] != [0.4]:
            _, columns, id = reader.next("rnic_state")
    assert in_one_interval
    assert columns["headroom"] == [0.4]
    assert columns["symptoms"] == [[]]
    assert columns["tx_gbps"] == [None]
    assert int(id) > 0


def test_a_row_that_did_not_change_is_not_sent(backend: Any, reader: Reader) -> None:
    write_state(backend, "0000:02:00.0", 0.5)
    assert reader.next("rnic_state")[1]["pci"] == ["0000:02:00.0"]


def test_nothing_is_missed_between_the_fleet_and_the_stream(backend: Any) -> None:
    with closing(backend.signed_in("viewer")) as client:
        seq = client.get("/api/v1/fleet").json()["seq"]
        write_state(backend, "0000:03:00.0", 0.25)
        time.sleep(0.5)
        reader = Reader(client, params={"after": seq})
        assert reader.next("rnic_state")[1]["pci"] == ["0000:03:00.0"]
        reader.stop()


def test_a_reconnecting_browser_gets_what_it_missed(backend: Any) -> None:
    with closing(backend.signed_in("viewer")) as client:
        before = write_state(backend, "0000:04:00.0", 0.5)
        write_state(backend, "0000:05:00.0", 0.5)
        reader = Reader(client, headers={"Last-Event-ID": str(before)})
        assert reader.next("rnic_state")[1]["pci"] == ["0000:05:00.0"]
        reader.stop()


def test_an_incident_is_announced(reader: Reader, findings: Any) -> None:
    findings.send(findings.finding(host="streamed", started=datetime.now(UTC)))
    data = reader.next("incident")[1]
    assert data["state"] == "open"
    assert set(data) == {"id", "state"}


def test_silence_is_filled_with_heartbeats(reader: Reader) -> None:
    reader.next("heartbeat")
    assert reader.next("heartbeat")[1]["at"]


def test_a_stream_ends_with_its_session(backend: Any) -> None:
    with closing(backend.signed_in("viewer")) as client, closing(backend.client(cookies=dict(client.cookies))) as other:
        reader = Reader(other)
        client.delete("/api/v1/session")
        assert reader.ended.wait(60)


def test_streams_are_limited(backend: Any) -> None:
    with closing(backend.signed_in("viewer")) as client:
        readers = [Reader(client) for _ in range(4)]
        assert sorted(reader.status for reader in readers) == [200, 200, 200, 429]
        for reader in readers:
            reader.stop()


def test_a_stream_ends_with_its_token_and_not_before(backend: Any, admin: httpx.Client) -> None:
    token = admin.post("/api/v1/tokens", json={"name": "reads the stream", "role": "viewer"}).json()
    with closing(backend.client(headers={"Authorization": f"Bearer {token['token']}"})) as robot:
        reader = Reader(robot)
        for _ in range(3):
            reader.next("heartbeat")
        assert not reader.ended.is_set()
        assert admin.delete(f"/api/v1/tokens/{token['id']}").status_code == 204
        assert reader.ended.wait(60)


@pytest.mark.parametrize(
    "revoked", ["sign-out", "user disabled", "role lowered", "token deleted", "token's owner disabled", "token expired"]
)
def test_a_busy_stream_ends_soon_after_its_rights(backend: Any, admin: httpx.Client, revoked: str) -> None:
    """Rows change the whole time, so that the stream's queue is never silent."""
    body = {"username": f"streams-{uuid4().hex[:8]}", "password": "a long enough password", "role": "operator"}
    user = admin.post("/api/v1/users", json=body).json()
    token = admin.post("/api/v1/tokens", json={"name": "streams", "role": "viewer", "owner": user["username"]}).json()
    quiet = threading.Event()
    writer = threading.Thread(target=_write_until, args=(backend, quiet), daemon=True)
    with closing(backend.client()) as browser, closing(backend.client()) as other:
        if revoked.startswith("token"):
            other.headers["Authorization"] = f"Bearer {token['token']}"
        else:
            opened = browser.post("/api/v1/session", json={name: body[name] for name in ("username", "password")})
            browser.headers["X-CSRF-Token"] = opened.json()["csrf_token"]
            other.cookies.update(browser.cookies)
        reader = Reader(other)
        writer.start()
        try:
            for _ in range(3):
                reader.next("rnic_state")
            assert not reader.ended.is_set()
            if revoked == "sign-out":
                browser.delete("/api/v1/session")
            elif revoked == "role lowered":
                admin.patch(f"/api/v1/users/{user['id']}", json={"role": "viewer"})
            elif revoked == "token deleted":
                admin.delete(f"/api/v1/tokens/{token['id']}")
            elif revoked == "token expired":
                with backend.connect() as connection:
                    connection.execute("UPDATE api_token SET expires_at = now() WHERE id = %s", [token["id"]])
            else:
                admin.patch(f"/api/v1/users/{user['id']}", json={"disabled": True})
            assert reader.ended.wait(60)  # two seconds are the promise; a crowded machine gets more
        finally:
            quiet.set()
            writer.join(60)


def _write_until(backend: Any, quiet: threading.Event) -> None:
    number = 0.0
    while not quiet.is_set():
        number += 1
        write_state(backend, "0000:09:00.0", number)
        quiet.wait(0.05)
