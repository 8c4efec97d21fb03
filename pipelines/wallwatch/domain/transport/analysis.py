"""The analysis of one capture: frames in, `Analysis` out, in one pass and bounded memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from wallwatch.domain.transport import roce
from wallwatch.domain.transport.connections import Connections, Endpoint, Flow, address
from wallwatch.domain.transport.direction import Direction
from wallwatch.domain.transport.frames import FrameBlock, Integers, ReadReport
from wallwatch.domain.transport.latencies import half_rtt
from wallwatch.domain.transport.mirror import CORRUPT, DROP, ECN, MirrorCheck
from wallwatch.domain.transport.notification import NotificationTracker
from wallwatch.domain.transport.pairing import pair_ahead
from wallwatch.domain.transport.pairing_notifications import pair_notifications
from wallwatch.domain.transport.queue_pairs import SeriesOfQueuePair, queue_pairs, series_of
from wallwatch.domain.transport.results import Analysis, Findings, Timeouts
from wallwatch.domain.transport.runs import Runs
from wallwatch.domain.transport.sequence import unwrapped

_DATA, _READ, _RESPONSE, _ACKNOWLEDGE, _NOTIFY, _OTHER = range(6)
_ACTION = [_OTHER] * 256
for _opcode in (*range(12), 19, 20, *roce.WITH_INVALIDATE):
    _ACTION[_opcode] = _DATA
for _opcode in range(13, 17):
    _ACTION[_opcode] = _RESPONSE
_ACTION[12], _ACTION[17], _ACTION[18], _ACTION[roce.CNP] = _READ, _ACKNOWLEDGE, _ACKNOWLEDGE, _NOTIFY
_IS_DATA = np.array([action == _DATA for action in _ACTION])
_LAST_RC_OPCODE = 0x17
_FULL_RESPONSES = (13, 14)
"""First and middle: their payload is the path's MTU."""


_BLOCKS_LOOKED_AHEAD = 2
"""Connections that begin later are paired at their first answer."""


@dataclass(frozen=True)
class Options:
    """What the user says about a capture.

    Attributes:
        port: UDP destination port of RoCE, None for any.
        timeout: the QPs' `timeout` attribute; the shortest wait is 4.096 us * 2^timeout (section 9.7.6.1.3 of the
            InfiniBand specification).
        mirrored: the frames carry Lumina's mirror metadata in their Ethernet addresses and TTL.
        event_codes: TTL value of each of Lumina's events, where it is not Lumina's own.
        rtt_ns: round trip between the hosts; None: estimated.
        pairs: connections whose two ends are known, both ways.
        series: keep PSNs over time for charts.
    """

    port: int | None = roce.ROCE_PORT
    timeout: int = 14
    mirrored: bool = False
    event_codes: Mapping[str, int] = field(default_factory=dict)
    rtt_ns: int | None = None
    pairs: Mapping[Endpoint, Endpoint] = field(default_factory=dict)
    series: bool = False


_ALWAYS = Options()
_DUPLICATE_CNP_NS = 100
"""The same CNP twice within this time, by its IP identification, was mirrored twice."""


class CaptureAnalysis:
    """State between blocks.

    Args:
        report: what the reader notes; read when the analysis ends.
        options: what the user says about the capture.
    """

    def __init__(self, report: ReadReport, options: Options = _ALWAYS) -> None:
        self._report = report
        self._options = options
        self._minimum_ns = 4096 << options.timeout
        self._mirror = MirrorCheck(dict(options.event_codes)) if options.mirrored else None
        self._findings = Findings()
        self._connections = Connections(self._findings, options.pairs, series=options.series)
        self._trackers: dict[bytes, NotificationTracker] = {}
        self._frames = self._roce = self._cut = self._checked = self._end_ns = 0
        self._blocks = 0
        self._bad_frames: list[int] = []
        self._without_migration: set[int] = set()

    def add(self, block: FrameBlock) -> None:
        """Analyse the next frames."""
        events = None
        if self._mirror:
            mirrored = self._mirror.read(block)
            block, events = mirrored.frames, mirrored.event
        packets = roce.decode(block, self._options.port)
        places = mirrored.place[packets.frame] if self._mirror else packets.frame
        numbers = places + self._frames + 1
        self._frames += len(block)
        self._cut += int(np.count_nonzero(block.length < block.wire_length))
        self._roce += len(packets.frame)
        self._checked += int(np.count_nonzero(packets.icrc >= 0))
        self._bad_frames.extend(sorted(numbers[packets.icrc == 0].tolist()))
        reliable = (packets.opcode <= _LAST_RC_OPCODE) & (packets.icrc != 0)
        self._without_migration.update(packets.qpn[reliable & ~packets.migreq].tolist())
        if len(block):
            self._end_ns = max(self._end_ns, int(block.time_ns.max()))
        if self._blocks < _BLOCKS_LOOKED_AHEAD:
            self._blocks += 1
            pair_ahead(self._connections, packets)
            pair_notifications(self._connections, packets, self._report.resolution_ns)
        self._walk(packets, numbers, events)

    def _walk(self, packets: roce.Packets, numbers: Integers, events: Integers | None) -> None:
        flows = self._connections.flows
        undelivered, congested_column = packets.icrc == 0, packets.congested
        if events is not None:
            done = events[packets.frame]
            congested_column = congested_column | (done == ECN)
            lost = (done == DROP) | (done == CORRUPT)
        else:
            lost = np.zeros(len(undelivered), dtype=np.bool_)
        plain = _IS_DATA[packets.opcode] & ~(undelivered | lost | congested_column)
        # Charts take each packet.
        runs = Runs(packets, numbers, flows, plain & (not self._options.series))
        keys, others = packets.key, runs.others
        columns = zip(
            others,
            numbers[others].tolist(),
            packets.opcode[others].tolist(),
            packets.psn[others].tolist(),
            packets.time_ns[others].tolist(),
            congested_column[others].tolist(),
            undelivered[others].tolist(),
            lost[others].tolist(),
            strict=True,
        )
        for index, frame, opcode, psn, time_ns, congested, damaged, dropped in columns:
            key = keys[index]
            flow = flows.get(key)
            if flow is None:
                if damaged:
                    continue  # not even its addresses can be believed
                flow = self._connections.flow(key, int(packets.qpn[index]), int(packets.source_port[index]))
            action = _ACTION[opcode]
            if congested and action != _NOTIFY and not damaged and not dropped:
                self._marked(flow, time_ns)
            if action == _DATA:
                runs.settle(flow, index)
                flow.requests.data(psn, frame, time_ns, damaged or dropped)
                flow.connected = True
                flow.request_packets += 1
                flow.opcodes |= 1 << opcode
                if flow.request_series:
                    flow.request_series.add(time_ns, unwrapped(psn, flow.requests.next))
            elif not damaged and action != _OTHER:
                # A damaged answer is thrown away by whoever gets it.
                if action == _READ:
                    runs.settle(flow, index)
                elif action != _NOTIFY:
                    for asked in self._connections.asked(flow):
                        runs.settle(asked, index)
                self._answered(packets, index, flow, action, frame, dropped=dropped)
        runs.finish()

    def _answered(self, packets: roce.Packets, index: int, flow: Flow, action: int, frame: int, *, dropped: bool) -> None:
        """A packet that is no data of its own account."""
        psn, time_ns, opcode = int(packets.psn[index]), int(packets.time_ns[index]), int(packets.opcode[index])
        if action == _RESPONSE:
            flow.connected = True
            flow.response_packets += 1
            full = int(packets.payload[index]) if opcode in _FULL_RESPONSES else None
            self._responded(flow, psn, frame, time_ns, full, dropped=dropped)
            if flow.response_series:
                flow.response_series.add(time_ns, unwrapped(psn, flow.responses.next))
        elif dropped:
            return
        elif action == _NOTIFY:
            self._notified(flow, time_ns, int(packets.ip_id[index]))
        elif action == _ACKNOWLEDGE:
            flow.connected = True
            self._acknowledged(flow, int(packets.syndrome[index]), psn, frame, time_ns)
        else:
            flow.connected = True
            flow.request_packets += 1
            flow.opcodes |= 1 << opcode
            self._read_requested(flow, int(packets.dma_length[index]), psn, frame, time_ns)

    def _acknowledged(self, flow: Flow, syndrome: int, psn: int, frame: int, time_ns: int) -> None:
        sender = self._connections.answering(flow, psn, time_ns)
        if sender is None or syndrome < 0:
            return
        kind = syndrome >> 5 & 3
        if kind == 0:
            sender.requests.acknowledge(psn, frame, time_ns)
        elif kind == 1:
            sender.requests.not_ready(psn)
        elif kind == 3 and syndrome & 31 == 0:
            sender.requests.refuse(psn, frame, time_ns)
            if sender.request_series:
                sender.request_series.nack(time_ns, unwrapped(psn, sender.requests.next))
            self._tracker(flow.source).nack(id(sender), time_ns)

    def _read_requested(self, flow: Flow, length: int, psn: int, frame: int, time_ns: int) -> None:
        requests = flow.requests
        number = unwrapped(psn, requests.next) if requests.started else psn
        responses = flow.partner.responses if flow.partner else None
        repeated = requests.started and (number < requests.top or flow.reads.covers(number, number + 1))
        if repeated and responses and responses.started and unwrapped(psn, responses.next) < responses.top:
            # Asked for again although responses followed: this is READ's NACK. Without any behind it, the timer ran out.
            responses.ask_again(psn, frame, time_ns)
            if flow.partner and flow.partner.response_series:
                flow.partner.response_series.nack(time_ns, unwrapped(psn, responses.next))
            requests.rewind(number, flow.reads.request(number, length))
            return
        requests.data(psn, frame, time_ns, damaged=False)
        requests.allow(flow.reads.request(requests.next - 1, length))

    def _responded(self, flow: Flow, psn: int, frame: int, time_ns: int, full: int | None, *, dropped: bool) -> None:
        requester = self._connections.answering(flow, psn, time_ns)
        responses = flow.responses
        if requester:
            requester.reads.mtu = full or requester.reads.mtu
            if not responses.started and requester.reads:
                responses.started = True
                first = requester.reads.first_unanswered(unwrapped(psn, requester.requests.next))
                responses.next = responses.first = responses.top = first
            number = unwrapped(psn, responses.next)
            skipped = number > responses.next and responses.next >= responses.top
            if skipped and not requester.reads.covers(responses.next, number):
                responses.allow(frozenset({number}))
        responses.data(psn, frame, time_ns, damaged=dropped)

    def _tracker(self, receiver: bytes) -> NotificationTracker:
        tracker = self._trackers.get(receiver)
        if tracker is None:
            tracker = self._trackers[receiver] = NotificationTracker(address(receiver))
        return tracker

    def _marked(self, flow: Flow, time_ns: int) -> None:
        flow.last_mark = time_ns
        flow.marks += 1
        self._tracker(flow.destination).mark(flow.source, id(flow), time_ns)

    def _notified(self, flow: Flow, time_ns: int, ip_id: int) -> None:
        (earlier, earlier_id), flow.last_cnp = flow.last_cnp, (time_ns, ip_id)
        if ip_id and ip_id == earlier_id and 0 <= time_ns - earlier <= _DUPLICATE_CNP_NS:
            self._findings.duplicate_frames += 1
            return
        marked = self._connections.marked(flow)
        if marked:
            marked.cnps += 1
            for series in (marked.request_series, marked.response_series):
                if series:
                    series.cnp(time_ns)
        self._tracker(flow.source).notify(flow.destination, id(marked or flow), time_ns)

    def result(self) -> Analysis:
        """What the whole capture showed; call once, after the last block."""
        flows = list(self._connections.flows.values())
        for flow in flows:
            flow.requests.finish()
            flow.responses.finish()
        directions = [one for flow in flows for one in (flow.requests, flow.responses)]
        reliable = [flow for flow in flows if flow.connected]
        icrc: Literal["ok", "bad", "unknown"] = "bad" if self._bad_frames else "ok" if self._checked else "unknown"
        findings = self._findings
        points = [tracker.result(self._end_ns, self._report.resolution_ns) for tracker in self._trackers.values()]
        return Analysis(
            frames=self._frames,
            roce=self._roce,
            cut=self._cut,
            truncated=self._report.truncated,
            resolution_ns=self._report.resolution_ns,
            icrc=icrc,
            bad_icrc_frames=self._bad_frames,
            rc_qps=len({(flow.tunnel, flow.destination, flow.qpn) for flow in reliable}),
            vxlan_qps=len({(flow.tunnel, flow.destination, flow.qpn) for flow in reliable if 0 < int.from_bytes(flow.tunnel) <= 1 << 24}),
            conforms=not findings.violations,
            retransmissions=sorted(findings.retransmissions, key=lambda found: found.frame_retransmission),
            violations=sorted(findings.violations, key=lambda found: found.frame),
            notification_points=sorted(
                (point for point in points if point.ce_marked or point.cnps), key=lambda point: point.notification_point
            ),
            timeouts=[self._timeouts(one) for one in sorted(directions, key=lambda one: one.qpn) if one.waits],
            migreq_zero_qpns=sorted(self._without_migration),
            reordered=findings.reordered,
            reorder_distance=findings.reorder_distance,
            unpaired_directions=self._connections.unpaired(),
            duplicate_frames=findings.duplicate_frames,
            rnr_resends=findings.rnr_resends,
            spurious_retransmissions=findings.spurious_retransmissions,
            half_rtt=half_rtt(directions, self._options.rtt_ns),
            qps=queue_pairs(flows),
            mirror=self._mirror.summary() if self._mirror else None,
            notes=self._report.notes,
        )

    def _timeouts(self, direction: Direction) -> Timeouts:
        # A clock with coarse ticks shows a wait up to one tick too short.
        least = self._minimum_ns - self._report.resolution_ns
        return Timeouts(direction.qpn, direction.waits, self._minimum_ns, any(wait <= least for wait in direction.waits))

    def series(self) -> list[SeriesOfQueuePair]:
        """PSNs over time; call after `result`, with `Options.series`."""
        return series_of(self._connections.flows.values())


def analyse(blocks: Iterable[FrameBlock], report: ReadReport, options: Options = _ALWAYS) -> Analysis:
    """Analyse all blocks of one capture."""
    state = CaptureAnalysis(report, options)
    for block in blocks:
        state.add(block)
    return state.result()
