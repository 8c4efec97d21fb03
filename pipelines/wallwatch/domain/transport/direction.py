"""One direction of data on a connection: the go-back-N state machines of sender and receiver (Lumina, section 4).

PSNs are unwrapped inside: plain growing integers.
"""

from __future__ import annotations

from wallwatch.domain.transport.gaps import REORDER_WINDOW, EarlyNack, Filling, Nack
from wallwatch.domain.transport.results import (
    ACK_GOES_BACK,
    NACK_WRONG_PSN,
    NO_NACK,
    NOT_GO_BACK_N,
    SECOND_NACK,
    Findings,
    Kind,
    Retransmission,
)
from wallwatch.domain.transport.sent_log import SentLog, moment_ago
from wallwatch.domain.transport.sequence import PSN_MASK, unwrapped

NACK_OVERDUE_PACKETS = 64
"""A receiver that let this many packets pass after a gap should have sent its NACK."""
LONE_RESEND_NS = 500_000
"""At the capture's end, a filled gap counts as a retransmission after this wait, as reordering before."""
_MOST_HOLES = 1 << 12
"""More PSNs missing at once are a gap of the capture, not of the network."""
_MOST_BACK, _MOST_AHEAD = 1 << 16, 1 << 20
"""PSNs further from what was seen belong to a new connection with the same QP number, not to this one."""
_MOST_COUNTED_HOLES = 64
_REQUEST_TIMER_NS = 1_000_000
"""A READ request that is repeated so long after its repetition is the requester's timer, not a second NACK."""


class Direction:
    """State of the data that one QP sends to another.

    Args:
        qpn: destination QP of the data packets.
        findings: where events go.
    """

    def __init__(self, qpn: int, findings: Findings) -> None:
        self.qpn = qpn
        self.started = False
        self.next = 0
        """Expected PSN: the last one of this round plus one."""
        self.first = 0
        self.top = 0
        """One more than the highest PSN ever sent."""
        self.acknowledged: int | None = None
        self.nack: Nack | None = None
        self.last_time = 0
        self.iteration = 1
        self._findings = findings
        self._log = SentLog()
        self._holes: set[int] = set()
        self._lost: int | None = None
        self._gap_frame = 0
        self._behind_gap = 0
        self._filling: Filling | None = None
        self._selective: tuple[Filling, Nack, int] | None = None
        self._not_ready: int | None = None
        self._last_nack: tuple[int, int] = (-1, 0)
        self._early: EarlyNack | None = None
        self.shortest_answer: int | None = None
        """From a packet to its acknowledgement, where nothing was sent between."""
        self.waits: list[int] = []
        """Waits before timeout retransmissions, in order."""
        self.resent: list[tuple[int, Retransmission]] = []
        """Each retransmission with its time."""
        self.wasted = 0
        """Packets sent after a lost one and thrown away by the receiver."""
        self.spurious = 0
        """Retransmissions of packets that came late and were not lost."""
        self._late: set[int] = set()
        self._lost_damaged = False
        self._before_losses: bool | None = None
        """Whether packets are captured before they get lost: a refused one was seen, and none is missing; None: unknown."""
        self._whole_until: int | None = None
        """After a round that the timer began: no packet below this PSN was missing, so perhaps only acknowledgements were lost."""
        self._skips: tuple[int, frozenset[int]] = (-1, frozenset())

    def data(self, psn: int, frame: int, time_ns: int, damaged: bool) -> None:
        """A packet of this direction was seen."""
        if not self.started:
            self.started = True
            self.next = self.first = self.top = psn
            self.nack = self._early.before(psn) if self._early else None
        if psn != self.next & PSN_MASK or self._filling or damaged:
            self._unusual(unwrapped(psn, self.next), frame, time_ns, damaged)
            return
        number = self.next
        self.next = number + 1
        if number >= self.top:
            self.top = self.next
        elif self._holes:
            self._holes.discard(number)
        if self._lost is not None:
            self._behind_gap += 1
        self._delivered(number, frame, time_ns)

    def run(self, psn: int, frames: list[int], times: list[int]) -> None:
        """Undamaged packets with ascending PSNs from `psn` on; the same as `data` for each."""
        count, done = len(frames), 0
        while done < count and (not self.started or self._filling or psn != self.next & PSN_MASK):
            self.data(psn, frames[done], times[done], damaged=False)
            done, psn = done + 1, psn + 1 & PSN_MASK
        if done == count:
            return
        if done:
            frames, times = frames[done:], times[done:]
        number, self.next = self.next, self.next + count - done
        if self._holes:
            self._holes.difference_update(range(number, min(self.next, self.top)))
        self.top = max(self.top, self.next)
        if self._lost is not None:
            self._behind_gap += count - done
        self._log.extend(zip(range(number, self.next), frames, times, strict=True))
        self._log.trim()
        self.last_time = times[-1]

    def allow(self, numbers: frozenset[int]) -> None:
        """Say which PSNs may follow the last packet without a loss: a READ request takes as many as its response has."""
        self._skips = (self.next, numbers)

    def _delivered(self, number: int, frame: int, time_ns: int) -> None:
        log = self._log
        log.append((number, frame, time_ns))
        log.trim()
        self.last_time = time_ns

    def _unusual(self, number: int, frame: int, time_ns: int, damaged: bool) -> None:
        if number < self.next and self._repeated(number, time_ns):
            self._findings.duplicate_frames += 1
            return
        if damaged and not self._plausible(number, time_ns):
            return
        if not self.first - _MOST_BACK <= number <= self.top + _MOST_AHEAD:
            self._restart(number)
        if not damaged:
            self._begin_at(number)
        if self._filling and self._continue_filling(self._filling, number, frame, time_ns):
            return
        if number > self.next and number not in self._holes:
            self._jump(number, frame)
        elif number in self._holes:
            self._fill(number, frame, time_ns)
            return
        elif number < self.next:
            self._go_back(number, frame, time_ns, time_ns - self.last_time)
        self.next = number + 1
        self.top = max(self.top, self.next)
        if damaged:
            # Sent, yet thrown away by the receiver: the same as lost for whatever follows.
            if self._lost is None:
                self._lost, self._gap_frame, self._behind_gap = number, frame, 0
                self._lost_damaged = True
            self.last_time = time_ns
            return
        if self._lost is not None:
            self._behind_gap += 1
        self._delivered(number, frame, time_ns)

    def _repeated(self, number: int, time_ns: int) -> bool:
        """Whether the same packet was seen a moment ago, on another mirror port."""
        if self.nack and self.nack.psn == number:
            return False
        return self._log.is_mirrored_twice(number, time_ns)

    def _plausible(self, number: int, time_ns: int) -> bool:
        """Whether a damaged packet's PSN may be believed: it is the next one, or one that a sender may go back to.

        One a little further on is not believed, but shows that something was sent.
        """
        if self.next < number < self.next + REORDER_WINDOW:
            self.last_time = time_ns
        acknowledged = self.acknowledged if self.acknowledged is not None else self.first - 1
        return acknowledged < number <= self.next

    def _begin_at(self, number: int) -> None:
        """A packet from before the capture's first one is late, or sent again: whatever follows decides, as with any hole."""
        if self.first - REORDER_WINDOW <= number < self.first:
            self._holes.update(range(number, self.first))
            self.first = number

    def _restart(self, number: int) -> None:
        """The QP number belongs to a new connection from here on."""
        self.next = self.first = self.top = number
        self.acknowledged = self.nack = self._lost = self._filling = self._selective = self._not_ready = None
        self.iteration, self._behind_gap, self._last_nack = 1, 0, (-1, 0)
        self._holes.clear()
        self._late.clear()
        self._log.clear()

    def rewind(self, number: int, following: frozenset[int]) -> None:
        """The requester asks for responses again from `number`: what follows is no loss and no timeout of its own."""
        resume = self._skips[1] if self._skips[0] == self.next else frozenset({self.next})
        self.next = number + 1
        self.allow(following | resume)

    def _jump(self, number: int, frame: int) -> None:
        """Packets are missing before `number`."""
        if self._skips[0] == self.next and number in self._skips[1]:
            return
        if self._whole_until is not None and self.acknowledged is not None and number <= min(self.acknowledged + 1, self._whole_until):
            return  # an acknowledgement showed meanwhile that the rest had arrived
        if self.next < self.top and (self.top <= number or self._before_losses is True):
            # A resend that was not complete: new data came, or a packet was left out where the capture misses none.
            self._findings.violate(frame, NOT_GO_BACK_N, self.qpn)
        unseen = range(max(self.next, self.top), number)
        if unseen:
            self._before_losses = False
        if len(self._holes) + len(unseen) > _MOST_HOLES:
            self._holes.clear()
        if len(unseen) <= _MOST_HOLES:
            self._holes.update(unseen)
        if self._lost is None:
            self._lost, self._gap_frame, self._behind_gap = self.next, frame, 0
            self._lost_damaged = False

    def _fill(self, number: int, frame: int, time_ns: int) -> None:
        self._holes.discard(number)
        self._filling = Filling(number, number, frame, time_ns, time_ns - self.last_time, self.top - 1 - number)

    def _continue_filling(self, filling: Filling, number: int, frame: int, time_ns: int) -> bool:
        """Decide what the packets that filled a gap were; True when `number` is one more of them."""
        if number == filling.end and moment_ago(filling.time_ns, time_ns):
            self._findings.duplicate_frames += 1
            return True
        if number == filling.end + 1 and number in self._holes:
            self._holes.discard(number)
            filling.end = number
            return True
        self._filling = None
        if filling.end < number < self.top and number not in self._holes:
            self._resent(filling)
        else:
            self._came_late(filling, frame, number >= self.top)
        return False

    def _resent(self, filling: Filling) -> None:
        self._go_back(filling.start, filling.frame, filling.time_ns, filling.waited_ns)
        for number in range(filling.start, filling.end + 1):
            self._delivered(number, filling.frame, filling.time_ns)
        self.next = filling.end + 1

    def _came_late(self, filling: Filling, frame: int, new_data_follows: bool) -> None:
        if self.nack and self.nack.psn == filling.start and new_data_follows and self._selective is None:
            # Either a resend of one packet alone, or a late packet that crossed its NACK: a go-back to it will decide.
            self._selective = (filling, self.nack, frame)
        else:
            self._came_unharmed(filling)
        if self._lost is not None and filling.start <= self._lost <= filling.end:
            self._lost = self._next_hole(filling)

    def _came_unharmed(self, filling: Filling) -> None:
        self._findings.late(filling.end - filling.start + 1, filling.distance)
        if len(self._late) < _MOST_HOLES:
            self._late.update(range(filling.start, filling.end + 1))

    def _next_hole(self, filling: Filling) -> int | None:
        return min((hole for hole in self._holes if filling.end < hole < max(self.next, self.top)), default=None)

    def _go_back(self, number: int, frame: int, time_ns: int, waited_ns: int) -> None:
        self._settle_selective(number)
        nack, self.nack = self.nack, None
        whole_until = None
        self.iteration += 1
        missing = sum(number < hole < self.next for hole in self._holes) if len(self._holes) <= _MOST_COUNTED_HOLES else 0
        self.wasted += max(0, self.next - number - 1 - missing)
        if number in self._late:
            self.spurious += 1
            self._findings.spurious_retransmissions += 1
        self._late.clear()
        if number == self._not_ready:
            self._findings.rnr_resends += 1
        elif nack and nack.psn == number:
            self._report("nack", number, frame, time_ns, nack)
            if self._before_losses is None and self._log.has(number):
                self._before_losses = True
        elif nack:
            self._findings.violate(frame, NOT_GO_BACK_N, self.qpn)
        else:
            # A receiver that sent its NACK already stays silent when the resend is lost too; the timer is right then.
            silent = self._lost is not None and self._lost != self._last_nack[0]
            if silent and self._behind_gap > NACK_OVERDUE_PACKETS:
                self._findings.violate(self._gap_frame, NO_NACK, self.qpn)
            self._report("timeout", number, frame, time_ns, None)
            self.waits.append(waited_ns)
            whole_until = self.top if self._lost is None else self._lost
        self._not_ready = None
        self._lost = None
        self._whole_until = whole_until
        self._log.clear()

    def _report(self, kind: Kind, number: int, frame: int, time_ns: int, nack: Nack | None) -> None:
        found = Retransmission(
            psn=number & PSN_MASK,
            qpn=self.qpn,
            kind=kind,
            iteration=self.iteration,
            frame_retransmission=frame,
            frame_nack=nack.frame if nack else None,
            frame_trigger=nack.frame_trigger if nack else None,
            nack_generation_ns=nack.generation_ns if nack else None,
            nack_reaction_ns=time_ns - nack.time_ns if nack else None,
        )
        self.resent.append((time_ns, found))
        self._findings.retransmissions.append(found)

    def _settle_selective(self, went_back_to: int | None) -> None:
        if self._selective is None:
            return
        (filling, nack, frame), self._selective = self._selective, None
        if went_back_to == filling.start:
            self._came_unharmed(filling)
            return
        self.iteration += 1
        self._report("nack", filling.start, filling.frame, filling.time_ns, nack)
        self._findings.violate(frame, NOT_GO_BACK_N, self.qpn)
        if self.nack is nack:
            self.nack = None

    def acknowledge(self, psn: int, frame: int, time_ns: int) -> None:
        """The receiver acknowledged everything up to and including `psn`."""
        if not self.started:
            return
        if self._log and self._log[-1][0] & PSN_MASK == psn and self.iteration == 1:
            # Nothing was sent after the packet that is acknowledged: there and back again, with the receiver between.
            delay = time_ns - self._log[-1][2]
            self.shortest_answer = delay if self.shortest_answer is None else min(self.shortest_answer, delay)
        number = unwrapped(psn, self.top - 1)
        if number >= self.top:
            return
        if self.acknowledged is not None and number < self.acknowledged:
            self._findings.violate(frame, ACK_GOES_BACK, self.qpn)
            return
        self.acknowledged = number
        answered = self._filling is not None and self.nack is not None and self._filling.start == self.nack.psn
        if self.nack and self.nack.psn <= number and self._selective is None and not answered:
            self.nack = None

    def refuse(self, psn: int, frame: int, time_ns: int) -> None:
        """The receiver sent a NACK for `psn` (or, for READ, asked for it again)."""
        if not self.started:
            self._early = EarlyNack(psn, frame, time_ns)
            return
        number = unwrapped(psn, self.top)
        if self._last_nack[0] == number and moment_ago(self._last_nack[1], time_ns):
            self._findings.duplicate_frames += 1
            return
        self._last_nack = (number, time_ns)
        self._settle_selective(None)
        if self.nack:
            self._findings.violate(frame, SECOND_NACK, self.qpn)
            return
        acknowledged = self.acknowledged if self.acknowledged is not None else self.first - REORDER_WINDOW
        if not self._may_be_refused(number, acknowledged):
            self._findings.violate(frame, NACK_WRONG_PSN, self.qpn)
        trigger = self._log.first_behind(number, REORDER_WINDOW)
        self.nack = Nack(number, frame, time_ns, trigger[1] if trigger else None, time_ns - trigger[2] if trigger else None)
        self.acknowledged = max(acknowledged, min(number, self.top) - 1)

    def _may_be_refused(self, number: int, acknowledged: int) -> bool:
        expected, filling = self._lost, self._filling
        if expected is not None and filling and filling.start <= expected <= filling.end:
            expected = self._next_hole(filling)
        if expected is None or number < self.first:
            return acknowledged < number < self.top
        if self._lost_damaged:
            return acknowledged < number <= expected  # one before the damaged packet may be lost behind the capture point
        return number == expected

    def ask_again(self, psn: int, frame: int, time_ns: int) -> None:
        """A READ request for responses that were sent before: READ's NACK, unless it follows an earlier one or the timer."""
        number = unwrapped(psn, self.next)
        if self.nack and time_ns - self.nack.time_ns >= _REQUEST_TIMER_NS:
            self.nack = None  # the first request was lost: what follows is the timer's
            return
        if (self.nack and number > self.nack.psn) or number >= self.next:
            return  # the requests behind the one that was asked for again are repeated with it
        if self._log.first_behind(number, REORDER_WINDOW):
            self.refuse(psn, frame, time_ns)

    def not_ready(self, psn: int) -> None:
        """The receiver had no buffer for `psn` (RNR NAK): its resend is no loss."""
        if self.started:
            self._not_ready = unwrapped(psn, self.top)

    def finish(self) -> None:
        """The capture ended: decide what waited for a further packet."""
        filling, self._filling = self._filling, None
        if filling:
            if (self.nack and self.nack.psn == filling.start) or filling.waited_ns >= LONE_RESEND_NS:
                self._resent(filling)
            else:
                self._came_late(filling, filling.frame, new_data_follows=False)
        self._settle_selective(None)
