"""Random go-back-N traffic with known truth: connections that lose, reorder and resend packets, merged into one capture."""

from __future__ import annotations

import random
from dataclasses import dataclass

from wallwatch_testing.roce_frames import Conversation, Timed


@dataclass(frozen=True)
class Resent:
    """One retransmission; frames are numbered within its connection until `merged`."""

    psn: int
    qpn: int
    kind: str
    iteration: int
    frame_retransmission: int
    frame_nack: int | None
    frame_trigger: int | None
    nack_generation_ns: int | None
    nack_reaction_ns: int | None


class RandomConnection:
    """Data of one connection, episode by episode."""

    def __init__(self, chooser: random.Random, place: int, *, lost_is_captured: bool) -> None:
        hosts = f"10.0.0.{1 + place % 2}", f"10.0.1.{1 + place % 2}"
        self.talk = Conversation(chooser.randrange(1 << 24), *hosts, qpns=(0x100 + place, 0x900 + place))
        # Times of a connection share a residue, so that no two connections have a frame at the same time.
        self.talk.now += place
        self.resent: list[Resent] = []
        self.late = self.distance = 0
        self._chooser, self._captured, self._next, self._iteration = chooser, lost_is_captured, 0, 1

    def run(self, episodes: int) -> None:
        self._in_order(3)
        for _ in range(episodes):
            self._chooser.choice((self._lose_with_nack, self._lose_the_end, self._reorder, self._acknowledge))()
            self._in_order(self._chooser.randrange(4, 30))
        self._acknowledge()

    def _wait(self, most: int) -> int:
        return self._chooser.randrange(2, most) * 100

    def _in_order(self, count: int) -> None:
        for _ in range(count):
            self.talk.data(self._next, self._wait(10))
            self._next += 1

    def _acknowledge(self) -> None:
        self.talk.answer(self._next - 1, after_ns=self._wait(20))

    def _lose_with_nack(self) -> None:
        lost, talk = self._next, self.talk
        if self._captured:
            talk.data(lost, self._wait(10))
        self._next += 1
        trigger = talk.data(self._next, self._wait(10))
        triggered = talk.now
        self._next += 1
        self._in_order(self._chooser.randrange(20))
        nack = talk.nack(lost, self._wait(900_000 if self._chooser.random() < 0.1 else 50))
        nacked = talk.now
        self._in_order(self._chooser.randrange(20))
        again = talk.data(lost, self._wait(300))
        self._note(lost, "nack", again, nack, trigger, nacked - triggered, talk.now - nacked)
        self._resend_after(lost)

    def _lose_the_end(self) -> None:
        back = self._next - self._chooser.randrange(1, 3)
        again = self.talk.data(back, self._chooser.randrange(4, 130) * 1_000_000)
        self._note(back, "timeout", again, None, None, None, None)
        self._resend_after(back)

    def _resend_after(self, number: int) -> None:
        for later in range(number + 1, self._next):
            self.talk.data(later, self._wait(10))
        self._in_order(1)

    def _reorder(self) -> None:
        late = self._next
        distance = self._chooser.randrange(1, 9)
        self._next += 1
        self._in_order(distance)
        self.talk.data(late, self._wait(10))
        self.late, self.distance = self.late + 1, max(self.distance, distance)

    def _note(self, number: int, kind: str, frame: int, nack: int | None, trigger: int | None, made: int | None, took: int | None) -> None:
        self._iteration += 1
        psn = (self.talk.first + number) % (1 << 24)
        self.resent.append(Resent(psn, self.talk.qpns[0], kind, self._iteration, frame, nack, trigger, made, took))


def merged(connections: list[RandomConnection]) -> tuple[list[Timed], list[Resent]]:
    """All frames by time, and the truth with the frame numbers of the merged capture."""
    rows = sorted(
        (frame.time_ns, place, number) for place, one in enumerate(connections) for number, frame in enumerate(one.talk.frames, 1)
    )
    numbers = {(place, number): position for position, (_, place, number) in enumerate(rows, 1)}

    def renumbered(place: int, one: Resent) -> Resent:
        frames = {
            name: None if (number := getattr(one, name)) is None else numbers[place, number]
            for name in ("frame_retransmission", "frame_nack", "frame_trigger")
        }
        return Resent(**{**vars(one), **frames})

    truth = [renumbered(place, one) for place, connection in enumerate(connections) for one in connection.resent]
    frames = [connections[place].talk.frames[number - 1] for _, place, number in rows]
    return frames, sorted(truth, key=lambda one: one.frame_retransmission)
