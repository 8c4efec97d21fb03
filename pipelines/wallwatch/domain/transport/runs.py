"""Packets in sequence, which a block holds by the thousand: taken together per direction, whenever something else asks for its state.

Most packets of a capture are data with the next PSN, undamaged and unmarked. Nothing has to be decided about them, so they wait
until a packet that asks for the state of their direction comes by, and are then counted at once.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque

import numpy as np

from wallwatch.domain.transport.connections import Flow
from wallwatch.domain.transport.frames import Integers
from wallwatch.domain.transport.headers import Flags
from wallwatch.domain.transport.roce import Packets
from wallwatch.domain.transport.sequence import PSN_MASK


class Runs:
    """Runs of a block's packets that wait.

    Args:
        packets: the block's packets.
        numbers: shape (n,), their frame numbers.
        flows: those known so far, by key.
        plain: shape (n,), data without damage, loss or mark. Those of unknown flows are not taken.
    """

    def __init__(self, packets: Packets, numbers: Integers, flows: dict[bytes, Flow], plain: Flags) -> None:
        self._waiting: dict[int, tuple[Flow, deque[tuple[int, int]]]] = {}
        place_of = {key: place for place, key in enumerate(flows)}
        owner = np.array([place_of.get(key, -1) for key in packets.key], dtype=np.int32)
        plain = plain & (owner >= 0)
        self.others: list[int] = np.flatnonzero(~plain).tolist()
        """Places of all packets that do not wait."""
        places = np.flatnonzero(plain)
        order = places[np.argsort(owner[places], kind="stable")]
        owners, psn = owner[order], packets.psn[order]
        begins = np.flatnonzero(np.append(True, (owners[1:] != owners[:-1]) | ((psn[1:] - psn[:-1]) & PSN_MASK != 1))[: len(order)])
        self._places: list[int] = order.tolist()
        self._numbers: list[int] = numbers[order].tolist()
        self._times: list[int] = packets.time_ns[order].tolist()
        self._psn = psn
        self._opcodes = np.left_shift(1, packets.opcode[order])
        known = list(flows.values())
        ends = np.append(begins[1:], len(order))[: len(begins)].tolist()
        for begin, end, place in zip(begins.tolist(), ends, owners[begins].tolist(), strict=True):
            flow = known[place]
            self._waiting.setdefault(id(flow), (flow, deque()))[1].append((begin, end))

    def settle(self, flow: Flow, before: int) -> None:
        """Count the packets of `flow` that came before the packet at this place."""
        waiting = self._waiting.get(id(flow))
        if waiting is None:
            return
        runs = waiting[1]
        while runs:
            begin, end = runs[0]
            until = end if self._places[end - 1] < before else bisect_left(self._places, before, begin, end)
            if until > begin:
                self._take(flow, begin, until)
            if until < end:
                runs[0] = (until, end)
                return
            runs.popleft()
        del self._waiting[id(flow)]

    def finish(self) -> None:
        """Count all packets that still wait."""
        for flow, runs in self._waiting.values():
            for begin, end in runs:
                self._take(flow, begin, end)
        self._waiting.clear()

    def _take(self, flow: Flow, begin: int, end: int) -> None:
        flow.connected = True
        flow.request_packets += end - begin
        flow.opcodes |= int(np.bitwise_or.reduce(self._opcodes[begin:end]))
        flow.requests.run(int(self._psn[begin]), self._numbers[begin:end], self._times[begin:end])
