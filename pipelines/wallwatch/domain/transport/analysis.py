"""The analysis of one capture: frames in, `Analysis` out, in one pass and bounded memory."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import numpy as np

from wallwatch.domain.transport import roce
from wallwatch.domain.transport.connections import Connections, Flow, address
from wallwatch.domain.transport.frames import FrameBlock, ReadReport
from wallwatch.domain.transport.mirror import MirrorCheck
from wallwatch.domain.transport.notification import NotificationTracker
from wallwatch.domain.transport.pairing import pair_ahead
from wallwatch.domain.transport.results import Analysis, Findings, Timeouts
from wallwatch.domain.transport.sequence import unwrapped

_DATA, _READ, _RESPONSE, _ACKNOWLEDGE, _NOTIFY, _OTHER = range(6)
_ACTION = [_OTHER] * 256
for _opcode in (*range(12), 19, 20):
    _ACTION[_opcode] = _DATA
for _opcode in range(13, 17):
    _ACTION[_opcode] = _RESPONSE
_ACTION[12], _ACTION[17], _ACTION[18], _ACTION[roce.CNP] = _READ, _ACKNOWLEDGE, _ACKNOWLEDGE, _NOTIFY
_LAST_RC_OPCODE = 20
_FULL_RESPONSES = (13, 14)
"""First and middle: their payload is the path's MTU."""


_BLOCKS_LOOKED_AHEAD = 2
"""Connections that begin later are paired at their first answer."""


class CaptureAnalysis:
    """State between blocks.

    Args:
        report: what the reader notes; read when the analysis ends.
        port: UDP destination port of RoCE, None for any.
        timeout: the QPs' `timeout` attribute; the shortest wait is 4.096 us * 2^timeout (section 9.7.6.1.3 of the
            InfiniBand specification).
        mirrored: the frames carry Lumina's mirror metadata in their Ethernet addresses and TTL.
    """

    def __init__(self, report: ReadReport, *, port: int | None = roce.ROCE_PORT, timeout: int = 14, mirrored: bool = False) -> None:
        self._report = report
        self._port = port
        self._minimum_ns = 4096 << timeout
        self._mirror = MirrorCheck() if mirrored else None
        self._findings = Findings()
        self._connections = Connections(self._findings)
        self._trackers: dict[bytes, NotificationTracker] = {}
        self._frames = self._roce = self._cut = self._checked = self._end_ns = 0
        self._blocks = 0
        self._bad_frames: list[int] = []
        self._without_migration: set[int] = set()

    def add(self, block: FrameBlock) -> None:
        """Analyse the next frames."""
        if self._mirror:
            block = self._mirror.read(block)
        packets = roce.decode(block, self._port)
        numbers = packets.frame + self._frames + 1
        self._frames += len(block)
        self._cut += int(np.count_nonzero(block.length < block.wire_length))
        self._roce += len(packets.frame)
        self._checked += int(np.count_nonzero(packets.icrc >= 0))
        self._bad_frames.extend(numbers[packets.icrc == 0].tolist())
        reliable = packets.opcode <= _LAST_RC_OPCODE
        self._without_migration.update(packets.qpn[reliable & ~packets.migreq].tolist())
        if len(block):
            self._end_ns = max(self._end_ns, int(block.time_ns.max()))
        if self._blocks < _BLOCKS_LOOKED_AHEAD:
            self._blocks += 1
            pair_ahead(self._connections, packets)
        self._walk(packets, numbers.tolist())

    def _walk(self, packets: roce.Packets, numbers: list[int]) -> None:
        flows = self._connections.flows
        columns = zip(
            packets.key,
            numbers,
            packets.opcode.tolist(),
            packets.psn.tolist(),
            packets.time_ns.tolist(),
            packets.congested.tolist(),
            (packets.icrc == 0).tolist(),
            strict=True,
        )
        for index, (key, frame, opcode, psn, time_ns, congested, damaged) in enumerate(columns):
            flow = flows.get(key)
            if flow is None:
                flow = self._connections.flow(key, int(packets.qpn[index]), int(packets.source_port[index]))
            action = _ACTION[opcode]
            if congested and action != _NOTIFY:
                self._marked(flow, time_ns)
            if action == _DATA:
                flow.requests.data(psn, frame, time_ns, damaged)
                flow.connected = True
            elif damaged or action == _OTHER:
                continue  # a damaged answer is thrown away by whoever gets it
            elif action == _NOTIFY:
                self._notified(flow, time_ns)
            else:
                flow.connected = True
                if action == _ACKNOWLEDGE:
                    self._acknowledged(flow, int(packets.syndrome[index]), psn, frame, time_ns)
                elif action == _READ:
                    self._read_requested(flow, int(packets.dma_length[index]), psn, frame, time_ns)
                else:
                    full = int(packets.payload[index]) if opcode in _FULL_RESPONSES else None
                    self._responded(flow, psn, frame, time_ns, full)

    def _acknowledged(self, flow: Flow, syndrome: int, psn: int, frame: int, time_ns: int) -> None:
        sender = self._connections.answering(flow, psn, time_ns)
        if sender is None or syndrome < 0:
            return
        kind = syndrome >> 5 & 3
        if kind == 0:
            sender.requests.acknowledge(psn, frame)
        elif kind == 1:
            sender.requests.not_ready(psn)
        elif kind == 3 and syndrome & 31 == 0:
            sender.requests.refuse(psn, frame, time_ns)
            self._tracker(flow.source).nack(id(sender), time_ns)

    def _read_requested(self, flow: Flow, length: int, psn: int, frame: int, time_ns: int) -> None:
        requests = flow.requests
        number = unwrapped(psn, requests.next) if requests.started else psn
        responses = flow.partner.responses if flow.partner else None
        repeated = requests.started and (number < requests.top or flow.reads.covers(number, number + 1))
        if repeated and responses and responses.started and unwrapped(psn, responses.next) < responses.top:
            # Asked for again although responses followed: this is READ's NACK. Without any behind it, the timer ran out.
            if responses.first_behind(unwrapped(psn, responses.next)):
                responses.refuse(psn, frame, time_ns)
            flow.reads.request(number, length)
            return
        requests.data(psn, frame, time_ns, damaged=False)
        requests.allow(flow.reads.request(requests.next - 1, length))

    def _responded(self, flow: Flow, psn: int, frame: int, time_ns: int, full: int | None) -> None:
        requester = self._connections.answering(flow, psn, time_ns)
        responses = flow.responses
        if requester:
            requester.reads.mtu = full or requester.reads.mtu
            if not responses.started and requester.reads:
                responses.started = True
                first = requester.reads.start_at_or_before(unwrapped(psn, requester.requests.next))
                responses.next = responses.first = responses.top = first
            number = unwrapped(psn, responses.next)
            skipped = number > responses.next and responses.next >= responses.top
            if skipped and not requester.reads.covers(responses.next, number):
                responses.allow(frozenset({number}))
        responses.data(psn, frame, time_ns, damaged=False)

    def _tracker(self, receiver: bytes) -> NotificationTracker:
        tracker = self._trackers.get(receiver)
        if tracker is None:
            tracker = self._trackers[receiver] = NotificationTracker(address(receiver))
        return tracker

    def _marked(self, flow: Flow, time_ns: int) -> None:
        flow.last_mark = time_ns
        self._tracker(flow.destination).mark(flow.source, id(flow), time_ns)

    def _notified(self, flow: Flow, time_ns: int) -> None:
        marked = self._connections.marked(flow)
        self._tracker(flow.source).notify(flow.destination, id(marked or flow), time_ns)

    def result(self) -> Analysis:
        """What the whole capture showed; call once, after the last block."""
        flows = list(self._connections.flows.values())
        for flow in flows:
            flow.requests.finish()
            flow.responses.finish()
        reliable = [flow for flow in flows if flow.connected]
        icrc: Literal["ok", "bad", "unknown"] = "bad" if self._bad_frames else "ok" if self._checked else "unknown"
        findings = self._findings
        points = [tracker.result(self._end_ns) for tracker in self._trackers.values()]
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
            timeouts=[
                Timeouts(qpn, waits, self._minimum_ns, any(wait < self._minimum_ns for wait in waits))
                for qpn, waits in sorted(findings.timeout_waits.items())
            ],
            migreq_zero_qpns=sorted(self._without_migration),
            reordered=findings.reordered,
            reorder_distance=findings.reorder_distance,
            unpaired_directions=self._connections.unpaired(),
            duplicate_frames=findings.duplicate_frames,
            rnr_resends=findings.rnr_resends,
            mirror=self._mirror.summary() if self._mirror else None,
            notes=self._report.notes,
        )


def analyse(blocks: Iterable[FrameBlock], report: ReadReport, *, port: int | None, timeout: int, mirrored: bool) -> Analysis:
    """Analyse all blocks of one capture; arguments as in `CaptureAnalysis`."""
    state = CaptureAnalysis(report, port=port, timeout=timeout, mirrored=mirrored)
    for block in blocks:
        state.add(block)
    return state.result()
