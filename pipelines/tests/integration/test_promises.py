"""What the job `isolation` follows in the store: holders that come and go, late events, numbers of VFs, and rules."""

import json
import threading
import tracemalloc
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from wallwatch.domain.isolation.holders import Holder
from wallwatch.store import vf_holders
from wallwatch.store.promises import SloWatcher
from wallwatch.store.tables import vf_sample
from wallwatch.store.vf_holders import DAY_AFTER_S, OVERLAPS, UNREACHABLE_S, HolderWatcher
from wallwatch.store.vf_numbers import Device
from wallwatch_testing.packed_hours import pack_rnic

PCI, DEVICE, VF = "0000:3b:00.0", "0000:3b:00.2", 5
NOBODY = Holder(0, PCI, "", "", "", "")


@pytest.fixture
def host_id(connection: psycopg.Connection[Any], host: str) -> int:
    row = connection.execute("INSERT INTO host (host) VALUES (%s) RETURNING host_id", [host]).fetchone()
    connection.execute("INSERT INTO rnic (host, pci, rack, model) VALUES (%s, %s, 'r1', 'CX-6')", [host, PCI])
    assert row is not None
    return int(row[0])


def sample(connection: psycopg.Connection[Any], host: str, vf: int = VF, device: str = DEVICE, ago: timedelta = timedelta()) -> None:
    connection.execute(
        "INSERT INTO vf_sample (time, rnic_id, vf, vf_pci) SELECT %s, rnic_id, %s, %s FROM rnic WHERE host = %s",
        [datetime.now(UTC) - ago, vf, device, host],
    )


@pytest.fixture
def sampled(connection: psycopg.Connection[Any], host: str, host_id: int) -> None:
    """The function's number is known."""
    sample(connection, host)


@pytest.fixture
def url(database: str) -> str:
    return database.replace("+psycopg", "")


def event(connection: psycopg.Connection[Any], host_id: int, kind: str, ago: timedelta, **fields: str) -> None:
    connection.execute(
        "INSERT INTO event (time, host_id, pci, kind, other) VALUES (%s, %s, %s, %s, %s)",
        [datetime.now(UTC) - ago, host_id, PCI, kind, json.dumps({"device": DEVICE, "container": "c", "interface": "net1", **fields})],
    )


def pod(watcher: HolderWatcher, host: str) -> str | None:
    """Who holds the function, by what the watcher reads now."""
    watcher.refresh()
    return watcher.held(host, PCI).get(VF, NOBODY).pod or None


def test_a_watcher_knows_who_holds_a_vf_from_before_its_start_and_follows_changes(
    connection: psycopg.Connection[Any], host: str, host_id: int, sampled: None, url: str
) -> None:
    event(connection, host_id, "cni_add", timedelta(days=40), pod="a/old")
    event(connection, host_id, "cni_add", timedelta(hours=5), pod="a/one", slo="gold")
    event(connection, host_id, "cni_add", timedelta(hours=4), pod="a/refused", result="refused")
    watcher = HolderWatcher(url, threading.Event())
    assert pod(watcher, host) == "a/one"
    assert watcher.held(host, PCI)[VF].slo == "gold"
    assert watcher.rnic(host, PCI) == ("r1", "CX-6")
    event(connection, host_id, "cni_del", timedelta(seconds=3), pod="a/one")
    assert pod(watcher, host) is None
    event(connection, host_id, "cni_add", timedelta(seconds=2), pod="b/two")
    assert pod(watcher, host) == "b/two"


@pytest.mark.parametrize(("late", "reading"), [(timedelta(hours=3), 0), (timedelta(minutes=8), 1), (timedelta(seconds=40), 2)])
def test_events_that_a_collector_kept_are_found_later(
    connection: psycopg.Connection[Any],
    host: str,
    host_id: int,
    sampled: None,
    url: str,
    monkeypatch: pytest.MonkeyPatch,
    late: timedelta,
    reading: int,
) -> None:
    watcher = HolderWatcher(url, threading.Event())
    assert pod(watcher, host) is None
    event(connection, host_id, "cni_add", late, pod="a/late")
    monkeypatch.setattr(watcher, "_due_s", [float("inf")] * len(OVERLAPS))
    assert pod(watcher, host) is None
    watcher._due_s[reading] = 0.0
    assert pod(watcher, host) == "a/late"
    assert min(watcher._due_s[reading:]) > 0.0
    assert watcher._due_s[:reading] == [float("inf")] * reading


@pytest.mark.parametrize("unreachable", ["host", "database"])
def test_after_something_was_unreachable_events_of_hours_ago_are_found_within_ten_minutes(
    connection: psycopg.Connection[Any], host: str, host_id: int, sampled: None, url: str, unreachable: str
) -> None:
    watcher = HolderWatcher(url, threading.Event())
    assert pod(watcher, host) is None
    event(connection, host_id, "cni_add", timedelta(hours=3), pod="a/late")
    watcher._day_read_s -= DAY_AFTER_S
    assert pod(watcher, host) is None, "nothing was unreachable: the day is read each hour"
    if unreachable == "host":
        watcher.expect_late()
    else:
        watcher._read_s -= 2 * UNREACHABLE_S
    assert pod(watcher, host) == "a/late"
    event(connection, host_id, "cni_add", timedelta(hours=2), pod="a/later")
    assert pod(watcher, host) == "a/late", "not with each reading"
    watcher._day_read_s -= DAY_AFTER_S
    assert pod(watcher, host) == "a/later"


def test_a_vf_has_its_number_once_it_was_sampled(connection: psycopg.Connection[Any], host: str, host_id: int, url: str) -> None:
    event(connection, host_id, "cni_add", timedelta(minutes=1), pod="a/one")
    watcher = HolderWatcher(url, threading.Event())
    watcher.refresh()
    assert watcher.held(host, PCI) == {}
    watcher.take_changed()
    sample(connection, host)
    watcher.refresh()
    assert watcher.take_changed() == {host}
    assert {vf: holder.pod for vf, holder in watcher.held(host, PCI).items()} == {VF: "a/one"}


def test_a_vf_has_its_number_from_a_packed_hour(connection: psycopg.Connection[Any], host: str, host_id: int, url: str) -> None:
    """Its host was down for hours when the job started."""
    event(connection, host_id, "cni_add", timedelta(days=2), pod="a/one")
    row = connection.execute("SELECT rnic_id FROM rnic WHERE host = %s", [host]).fetchone()
    assert row is not None
    for vf, days, device in ((4, 2, DEVICE), (5, 1, DEVICE), (6, 1, "0000:3b:00.7")):
        sample(connection, host, vf, device, timedelta(days=days))
    event(connection, host_id, "cni_add", timedelta(days=2), pod="a/other", device="0000:3b:00.7")
    pack_rnic(connection, vf_sample, row[0])
    assert connection.execute("SELECT count(*) FROM vf_sample_all WHERE rnic_id = %s", [row[0]]).fetchone() == (3,)
    watcher = HolderWatcher(url, threading.Event())
    watcher.refresh()
    assert {vf: holder.pod for vf, holder in watcher.held(host, PCI).items()} == {5: "a/one", 6: "a/other"}


def test_what_is_read_again_takes_no_memory_and_what_left_is_forgotten_after_a_day(
    connection: psycopg.Connection[Any], host: str, host_id: int, sampled: None, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A function that thousands of pods held one after the other takes as much as with a single pod; without one for a day, nothing."""
    watcher = HolderWatcher(url, threading.Event())
    assert pod(watcher, host) is None
    connection.execute(
        "INSERT INTO event (time, host_id, pci, kind, other) SELECT now() - n * INTERVAL '0.1 second' + after, %s, %s, kind, "
        "jsonb_build_object('device', %s::text, 'pod', 'a/pod-' || n, 'container', md5(n::text), 'interface', 'net1') "
        "FROM generate_series(1, 3500) AS n, (VALUES ('cni_add', INTERVAL '0'), ('cni_del', '0.05')) AS kinds (kind, after)",
        [host_id, PCI, DEVICE],
    )
    event(connection, host_id, "cni_add", timedelta(hours=2), pod="b/other", device="0000:3b:00.7")
    sample(connection, host, 6, "0000:3b:00.7")
    read: Counter[str] = Counter()
    hear = watcher._holders.hear
    monkeypatch.setattr(watcher._holders, "hear", lambda *event: (read.update([event[1]]), hear(*event)))
    watcher._due_s[0] = 0.0
    tracemalloc.start()
    watcher.refresh()
    before, _ = tracemalloc.get_traced_memory()
    tracemalloc.reset_peak()
    read.clear()
    watcher._due_s[0] = 0.0
    watcher.refresh()
    after, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert read[host] == 7001
    assert after - before < 100_000
    assert peak - before < 3_000_000, "a batch of events, not all of them"
    assert set(watcher.held(host, PCI)) == {6}
    assert watcher._holders.forget(round((datetime.now(UTC) - timedelta(days=1)).timestamp() * 1e6)) == []
    monkeypatch.setattr(vf_holders, "OVERLAPS", ((timedelta(0), 3600.0), *OVERLAPS[1:]))
    watcher._due_s[0] = 0.0
    watcher.refresh()
    assert watcher._numbers.of(Device(host, PCI, DEVICE)) is None
    assert watcher._numbers.of(Device(host, PCI, "0000:3b:00.7")) == 6


@pytest.fixture
def gold(connection: psycopg.Connection[Any]) -> Iterator[None]:
    connection.execute("INSERT INTO slo_class VALUES ('gold', 50, 2000, NULL, 200, 0.001, '', 1, now(), 'ada')")
    yield
    connection.execute("DELETE FROM slo_class")


def test_classes_are_read_and_stay_while_the_database_is_unreachable(url: str, gold: None, caplog: pytest.LogCaptureFixture) -> None:
    watcher = SloWatcher(url, threading.Event())
    assert not watcher.ready.is_set()
    assert watcher.refresh()
    assert watcher.ready.is_set()
    assert watcher.book.classes["gold"].max_bps == 2e9
    assert not watcher.refresh()
    watcher._url = "postgresql://nobody@127.0.0.1:1/none"
    assert not watcher.refresh()
    assert "the last ones stay active" in caplog.text
    assert "gold" in watcher.book.classes
