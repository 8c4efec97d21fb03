"""What a record of the changelog rests on, as this version and former ones read it; topics that differ in their partitions."""

import re
from typing import Any

import orjson
import pytest

from wallwatch import kafka_clients
from wallwatch.jobs import changelog
from wallwatch.jobs.changelog import OFFSETS, Changelog, ChangelogMismatch, one_number
from wallwatch.settings import Settings


class Written:
    """A producer that keeps the headers of what it gets."""

    def __init__(self) -> None:
        self.headers: list[Any] = []

    def produce(self, topic: str, **record: Any) -> None:
        self.headers.append(record["headers"])


def headers(processed: dict[str, int]) -> Any:
    producer: Any = Written()
    found = Changelog(Settings(), "group", ["wallwatch.rnic"], producer, more=["wallwatch.blocks"])
    assert found.write(0, iter([(b"h1", "host", b"x")]), processed) == 1
    return producer.headers[0]


def former(found: Any, committed: dict[str, int]) -> bool:
    """How releases before blocks decide; they know no offset of `wallwatch.blocks`."""
    offsets = orjson.loads(next(value for name, value in found if name == OFFSETS)) or {}
    return all(offset < committed.get(topic, -1) for topic, offset in offsets.items())


@pytest.mark.parametrize("processed", [{"wallwatch.blocks": 9}, {"wallwatch.blocks": 9, "wallwatch.rnic": 4}, {"wallwatch.rnic": 4}])
def test_a_former_version_takes_the_state_of_hosts_that_send_blocks(processed: dict[str, int]) -> None:
    assert former(headers(processed), {"wallwatch.rnic": 5})
    assert not ("wallwatch.rnic" in processed and former(headers(processed), {"wallwatch.rnic": 4}))


def test_this_version_takes_what_was_committed_of_all_topics() -> None:
    of_both = headers({"wallwatch.blocks": 9, "wallwatch.rnic": 4})
    for rnic, blocks, taken in ((5, 10, True), (4, 10, False), (5, 9, False), (5, -1001, False)):
        assert changelog._is_committed(of_both, {"wallwatch.rnic": rnic, "wallwatch.blocks": blocks}) == taken
    assert not changelog._is_committed(headers({"wallwatch.blocks": 9}), {"wallwatch.blocks": 9})


@pytest.mark.parametrize(
    ("number", "remedy"),
    [
        (1, "`kafka-topics.sh --alter --partitions 12 --topic wallwatch.blocks`; then start"),
        (24, "delete wallwatch.blocks while no collector writes to it, and run `wallwatch topics create --partitions 12`; then start"),
    ],
)
def test_topics_with_different_numbers_of_partitions_are_refused_with_what_to_do(number: int, remedy: str) -> None:
    with pytest.raises(ChangelogMismatch, match=rf"as most with 12; but wallwatch\.blocks has {number}: {re.escape(remedy)}"):
        one_number({"wallwatch.rnic": 12, "wallwatch.blocks": number, "wallwatch.event": 12})


def test_the_changelog_is_not_created_for_topics_that_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    class Topic:
        error = None

        def __init__(self, partitions: int) -> None:
            self.partitions = dict.fromkeys(range(partitions))

    class Admin:
        def __init__(self) -> None:
            self.topics = {"wallwatch.rnic": Topic(12), "wallwatch.blocks": Topic(1)}

        def list_topics(self, timeout: float) -> Any:
            return self

    monkeypatch.setattr(kafka_clients, "admin", lambda settings: Admin())
    producer: Any = Written()
    with pytest.raises(ChangelogMismatch, match=r"wallwatch\.blocks has 1"):
        Changelog(Settings(), "group", ["wallwatch.rnic"], producer, more=["wallwatch.blocks"]).create()
