"""The analysis of a capture as text for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wallwatch.domain.catalogue.transport_verdicts import LatencyVerdict
    from wallwatch.domain.transport.results import Analysis, NotificationPoint, Percentiles, QueuePair, Retransmission

MOST_ROWS = 50
"""Rows that a table shows; --json has all."""


def capture_text(name: str, result: Analysis, verdicts: Sequence[LatencyVerdict] = ()) -> str:
    """Summary, then one table per kind of finding; empty tables are left out."""
    parts = [_summary(name, result)]
    if result.retransmissions:
        columns = ("frame", "QP", "PSN", "kind", "iteration", "NACK frame", "trigger", "NACK generation", "NACK reaction")
        parts.append(_table("Retransmissions", columns, [_retransmission(row) for row in result.retransmissions]))
    if result.violations:
        rows = [(str(row.frame), str(row.qpn), row.kind) for row in result.violations]
        parts.append(_table("Violations of go-back-N", ("frame", "QP", "kind"), rows))
    if result.timeouts:
        rows_of_waits = [
            (str(row.qpn), ", ".join(map(_duration, row.intervals_ns)), _duration(row.specification_minimum_ns), _yes(row.below_minimum))
            for row in result.timeouts
        ]
        parts.append(_table("Timeouts", ("QP", "waits", "minimum", "below the minimum"), rows_of_waits))
    if result.notification_points:
        titles = ("receiver", "scope", "smallest interval", "CE-marked", "CNPs")
        parts.append(_table("Congestion notification", titles, [_point(row) for row in result.notification_points]))
    if result.qps:
        columns_of_qps = (
            "QP",
            "destination",
            "verb",
            "packets",
            "resent",
            "timeouts",
            "useful",
            "CE",
            "CNPs",
            "NACK generation",
            "NACK reaction",
        )
        parts.append(_table("Queue pairs (latencies: median / 99th percentile)", columns_of_qps, [_queue_pair(row) for row in result.qps]))
    if verdicts:
        sentences = [(str(row.qpn), row.destination, row.sentence) for row in verdicts]
        parts.append(_table("Latencies against the catalogue", ("QP", "destination", "verdict"), sentences))
    return "\n\n".join(parts) + "\n"


def _queue_pair(row: QueuePair) -> tuple[str, ...]:
    return (
        str(row.qpn),
        row.destination,
        " and ".join(row.verbs),
        f"{row.packets:,}",
        str(row.retransmissions),
        str(row.timeouts),
        "–" if row.useful_share is None else f"{row.useful_share:.1%}",
        f"{row.ce_marked / row.packets:.1%}" if row.packets else "–",
        str(row.cnps),
        _both(row.nack_generation),
        _both(row.nack_reaction),
    )


def _both(latency: Percentiles | None) -> str:
    return "–" if latency is None else f"{_duration(latency.p50_ns)} / {_duration(latency.p99_ns)}"


def _summary(name: str, result: Analysis) -> str:
    lines = [
        f"{name}: {'conforms to go-back-N' if result.conforms else 'VIOLATES go-back-N'}",
        f"  {result.frames:,} frames, {result.roce:,} RoCE, {result.cut:,} cut short; {result.rc_qps:,} RC queue pairs"
        + (f", {result.vxlan_qps:,} in VXLAN" if result.vxlan_qps else ""),
        f"  ICRC: {result.icrc}" + (f", wrong in {len(result.bad_icrc_frames):,} frames" if result.bad_icrc_frames else ""),
        f"  time resolution: {_duration(result.resolution_ns)}",
    ]
    if result.half_rtt.rtt_ns is not None:
        lines.append(
            f"  round trip: {_duration(result.half_rtt.rtt_ns)}, {result.half_rtt.source}; latencies below include half of it, "
            "--json has them without"
        )
    if result.spurious_retransmissions:
        lines.append(f"  spurious retransmissions by reordering: {result.spurious_retransmissions:,}")
    if result.reordered:
        lines.append(f"  reordered: {result.reordered:,} packets, at most {result.reorder_distance:,} PSNs late")
    if result.migreq_zero_qpns:
        lines.append(f"  MigReq 0: {len(result.migreq_zero_qpns):,} queue pairs (some RNICs handle these on a slow path)")
    if result.unpaired_directions:
        lines.append(f"  {result.unpaired_directions:,} directions without their opposite: their answers can't be judged")
    if result.duplicate_frames:
        lines.append(f"  {result.duplicate_frames:,} frames were mirrored twice and counted once")
    if result.mirror is not None:
        lines.append(f"  mirror: {'complete' if result.mirror['complete'] else 'INCOMPLETE: figures below may be wrong'}")
    lines.extend(f"  {what}: {count:,}" for what, count in result.notes.items())
    return "\n".join(lines)


def _retransmission(row: Retransmission) -> tuple[str, ...]:
    return (
        str(row.frame_retransmission),
        str(row.qpn),
        str(row.psn),
        row.kind,
        str(row.iteration),
        _or_dash(row.frame_nack),
        _or_dash(row.frame_trigger),
        _duration(row.nack_generation_ns),
        _duration(row.nack_reaction_ns),
    )


def _point(row: NotificationPoint) -> tuple[str, ...]:
    scope = " or ".join(name.replace("_", " ") for name in (row.mode, *row.also_possible) if name) or "undecided"
    return row.notification_point, scope, _duration(row.min_interval_ns), str(row.ce_marked), str(row.cnps)


def _table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    shown = rows[:MOST_ROWS]
    widths = [max(len(row[column]) for row in (header, *shown)) for column in range(len(header))]
    lines = [
        title,
        *("  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in (header, *shown)),
    ]
    if len(rows) > len(shown):
        lines.append(f"  and {len(rows) - len(shown):,} more: --json prints all")
    return "\n".join(lines)


def _duration(nanoseconds: float | None) -> str:
    if nanoseconds is None:
        return "–"
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if abs(nanoseconds) >= size:
            return f"{nanoseconds / size:.3g} {unit}"
    return f"{nanoseconds:.3g} ns"


def _or_dash(number: int | None) -> str:
    return "–" if number is None else str(number)


def _yes(flag: bool) -> str:
    return "yes" if flag else "no"
