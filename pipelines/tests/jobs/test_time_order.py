"""Messages of several topics are taken in the order in which they were written, whatever order they are read in."""

from dataclasses import dataclass
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wallwatch.jobs.time_order import Place, TimeOrder

A, B = "a", "b"


@dataclass(frozen=True)
class Written:
    """A message as Kafka's client returns it."""

    place: Place
    at_offset: int
    written_ms: int

    def topic(self) -> str:
        return self.place[0]

    def partition(self) -> int:
        return self.place[1]

    def offset(self) -> int:
        return self.at_offset

    def timestamp(self) -> tuple[int, int]:
        return 1, self.written_ms


def run(topic: str, *times_ms: int, partition: int = 0, first: int = 0) -> list[Written]:
    return [Written((topic, partition), first + i, at) for i, at in enumerate(times_ms)]


def order(*places: Place, most_waiting: int = 1000) -> TimeOrder:
    found = TimeOrder(most_waiting)
    found.assign(places)
    return found


def test_a_message_waits_until_the_other_topic_has_shown_a_later_one() -> None:
    waiting = order((A, 0), (B, 0))
    a, b = run(A, 10, 30, 50), run(B, 20, 40)
    for message in a:
        waiting.add(message)
    assert waiting.take() == []
    for message in b:
        waiting.add(message)
    assert waiting.take() == [a[0], b[0], a[1], b[1]]
    assert waiting.take() == []
    waiting.end(B, 0)
    assert waiting.take() == [a[2]]


def test_what_ended_goes_on_with_its_next_message() -> None:
    waiting = order((A, 0), (B, 0))
    waiting.end(A, 0)
    waiting.end(B, 0)
    (first,), (second,) = run(A, 10), run(A, 20, first=1)
    waiting.add(first)
    assert waiting.take() == [first]  # B has no more, and A has shown this one
    waiting.add(second)
    (late,) = run(B, 15)
    waiting.add(late)
    assert waiting.take() == [late]
    assert waiting.take(lambda topic, partition, offset: (topic, partition, offset) == (B, 0, 1)) == [second]


def test_partitions_do_not_wait_for_each_other() -> None:
    waiting = order((A, 0), (B, 0), (A, 1))
    (a,), (b,) = run(A, 10), run(A, 10, partition=1)
    waiting.add(a)
    waiting.add(b)
    assert waiting.take() == [b]


def test_what_was_read_of_a_partition_that_has_gone_elsewhere_is_left_out() -> None:
    waiting = order((A, 0))
    waiting.add(run(A, 10)[0])
    waiting.assign([(A, 1)])
    waiting.add(run(A, 20)[0])
    waiting.end(A, 0)
    waiting.end(A, 1)
    assert waiting.take() == []


def test_where_many_messages_wait_no_more_are_to_be_read() -> None:
    waiting = order((A, 0), (B, 0), most_waiting=3)
    for message in run(A, 1, 2, 3):
        waiting.add(message)
    assert waiting.full() == {(A, 0)}
    waiting.end(B, 0)
    assert len(waiting.take()) == 3
    assert waiting.full() == set()


@settings(max_examples=200)
@given(st.lists(st.tuples(st.sampled_from([A, B, "c"]), st.integers(0, 1), st.integers(0, 30)), max_size=40), st.randoms())
@pytest.mark.parametrize("most_read", [1, 5])
def test_every_message_is_taken_once_in_the_order_of_its_topic(
    most_read: int, messages: list[tuple[str, int, int]], random: Random
) -> None:
    lanes: dict[Place, list[Written]] = {(topic, partition): [] for topic in (A, B, "c") for partition in (0, 1)}
    for topic, partition, at_ms in messages:
        lane = lanes[topic, partition]
        lane.append(Written((topic, partition), len(lane), at_ms))
    waiting = order(*lanes)
    unread = {place: list(lane) for place, lane in lanes.items()}
    taken: list[Written] = []
    while any(unread.values()):
        place = random.choice([place for place, lane in unread.items() if lane])
        for _ in range(min(most_read, len(unread[place]))):
            waiting.add(unread[place].pop(0))
        taken += waiting.take(lambda topic, partition, offset: offset == len(lanes[topic, partition]))
    for place in lanes:
        waiting.end(*place)
    taken += waiting.take()
    for place, lane in lanes.items():
        assert [one for one in taken if one.place == place] == lane
    sorted_lanes = [[one.written_ms for one in lane] == sorted(one.written_ms for one in lane) for lane in lanes.values()]
    for partition in (0, 1):
        times = [one.written_ms for one in taken if one.partition() == partition]
        # A topic that had no message until others had gone on is the one thing that can come late.
        if all(sorted_lanes) and all(lanes[topic, partition] for topic in (A, B, "c")):
            assert times == sorted(times)
