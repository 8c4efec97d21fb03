"""What is kept of a host between messages: its datapaths, the rhythm of its samples, its events. Pure, like the stage it feeds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wallwatch.domain.symptoms import baseline, clock_steps
from wallwatch.domain.symptoms.signals import counter_rate, number

STALE_MS = 60_000
"""A rate older than this is outdated."""

LONG_PAUSE_S = 25.0
"""A shorter pause of samples is not a stall; the kernel's watchdog reports after about this time (a little over 20 s)."""

PAUSE_FACTOR = 3.5
"""A pause is a stall from this multiple of the usual time between two samples: a busy collector may leave out two of them."""

REVALIDATOR_MS = 500.0
"""Open vSwitch's sweeps follow each other at this interval, or back to back when they last longer (max-revalidator)."""

SLOWEST_SWEEP_MS_PER_FLOW = 1.0
"""The most that a sweep without deletions takes per flow, however short of CPU the switch is: Open vSwitch lowers its flow limit to 1,000
at least, and takes a sweep of one second for normal (ofproto/ofproto-dpif-upcall.c, udpif_revalidator). The sweeps of the recordings take
0.012 to 0.05 ms. A collector that starts while one sweep deletes thousands of flows sees no other."""

ENOUGH_FLOWS = 500
"""Sweeps over fewer flows last a few ms, the resolution of upcall/show."""

Host = dict[str, Any]

SAME_GATHERING_MS = 500
"""Samples of one host this close come from one look at it."""


def new() -> Host:
    return {"newest": 0, "events": {}, "datapaths": {}, "deletions": {}, "beat": {}, "symptoms": {}, "late": 0, "flooded": 0, "wrong": 0}


def take_datapath(host: Host, datapath: str, at_ms: int, fields: Mapping[str, Any]) -> None:
    """Remember one `ovs_datapath` sample. A reset, or a sample that is out of order, leaves no rate rather than a wrong one."""
    known = host["datapaths"]
    before = known.get(datapath)
    if before is not None:
        if clock_steps.set_back(host.setdefault("behind", {}), datapath, before["at"], at_ms):
            set_back(host, at_ms)
            before = None
        elif at_ms <= before["at"]:
            return
    now: dict[str, Any] = {"at": at_ms}
    _take_totals(now, before, at_ms, fields)
    duration, flows = number(fields.get("dump_duration_ms")), number(fields.get("flows"))
    if duration is not None and flows is not None:
        mean = number(fields.get("dump_duration_mean_ms"))
        # The mean covers the dumps since the previous sample, with the number of flows at that time.
        now["dump_ms"] = duration if mean is None else mean
        now["flows"] = flows if mean is None or before is None else (flows + before.get("now_flows", flows)) / 2.0
        now["now_flows"] = flows
        now["looked"] = mean is not None
        # Flows that came after the dump were not in it, and would make it look quick.
        dumped = flows if before is None else min(flows, before.get("now_flows", flows))
        if dumped >= ENOUGH_FLOWS:
            baseline.least(host.setdefault("least", {}), "dump_ms_per_flow", duration / dumped, at_ms)
    if _is_over_its_limit(fields, flows, before, now):
        host["over_limit"] = at_ms
    if datapath not in known and len(known) >= 16:
        return  # a host has one or two datapaths; names without end would fill the state
    known[datapath] = now


_TOTALS = (
    ("lookups_missed", "missed", "misses_per_s"),
    ("dpif_flow_del", "deleted", "deletions_per_s"),
    ("dpif_flow_put", "inserted", "insertions_per_s"),
)


def _take_totals(now: dict[str, Any], before: Mapping[str, Any] | None, at_ms: int, fields: Mapping[str, Any]) -> None:
    """The datapath's totals, and their rates since the sample before."""
    for field, total, rate in _TOTALS:
        value = number(fields.get(field))
        if value is not None:
            now[total] = value
            if before is not None and total in before:
                now[rate] = counter_rate((before["at"], int(before[total])), at_ms, int(value))
    if "deletions_per_s" in now and before is not None:
        now["before"] = [before["at"], before.get("deletions_per_s"), before.get("insertions_per_s")]


def _is_over_its_limit(fields: Mapping[str, Any], flows: float | None, before: Mapping[str, Any] | None, now: dict[str, Any]) -> bool:
    """Whether a datapath has more flows than its revalidator allows, or upcalls installed none since the last sample for that reason."""
    limit, refused = number(fields.get("flow_limit")), number(fields.get("upcall_flow_limit_hit"))
    if refused is not None:
        now["refused"] = refused
        if before is not None and 0.0 <= before.get("refused", refused) < refused:
            return True
    return flows is not None and limit is not None and flows > limit


def flow_limit_exceeded(host: Host, at_ms: int) -> bool:
    """Whether a datapath has been above its flow limit within the last minute."""
    return bool(0 <= at_ms - host.get("over_limit", at_ms + 1) < STALE_MS)


def set_back(host: Host, at_ms: int) -> None:
    """Go on in the time of a clock that was set back: nothing that is kept lies in the future, and what has happened just happened."""
    host["newest"] = min(host["newest"], at_ms)
    host["steps"] = host.get("steps", 0) + 1
    for beat in host["beat"].values():
        beat[0] = min(beat[0], at_ms)
    for name in [name for name, kept in host["datapaths"].items() if kept["at"] > at_ms]:
        del host["datapaths"][name]
    host.pop("over_limit", None)
    host["deletions_at"] = [kept for kept in host.get("deletions_at", []) if kept[0] <= at_ms]
    for pci in [pci for pci, kept in host["deletions"].items() if kept[0] > at_ms]:
        del host["deletions"][pci]
    for kept in host["events"].values():
        for entry in kept:
            entry[0] = min(entry[0], at_ms * 1000)
    set_back_lives(host["symptoms"], host.get("ended"), at_ms)


def set_back_lives(lives: dict[str, dict[str, Any]], ended: dict[str, int] | None, at_ms: int) -> None:
    """The symptoms of a host or an RNIC in the time of a clock that was set back. Their messages go on after those that were sent."""
    for life in lives.values():
        if "reported" in life:
            life["sent_ms"] = max(life.get("sent_ms", 0), life["reported"])
        life.update(since=at_ms, checked=at_ms, reported=at_ms)
    if ended is not None:
        for name, ended_ms in ended.items():
            ended[name] = min(ended_ms, at_ms)


def misses_per_s(host: Host, at_ms: int) -> float | None:
    """Misses of all datapaths of the host, packets/s; None when no rate is fresh."""
    total: float | None = None
    for d in host["datapaths"].values():
        rate = d.get("misses_per_s")
        if rate is not None and at_ms - d["at"] <= STALE_MS:
            total = rate if total is None else total + rate
    return total


def saw_sweeps(host: Host) -> bool:
    """Whether the collector looks at sweeps between two samples."""
    return any([d.get("looked") for d in host["datapaths"].values()])  # noqa: C419  # compiled, a generator takes longer


def dump_duration_ms(host: Host, at_ms: int) -> float | None:
    """Time of the revalidator's sweeps, of the slowest datapath: their mean since the sample before, or the last one's if the collector
    has looked once."""
    longest: float | None = None
    for d in host["datapaths"].values():
        if "dump_ms" in d and at_ms - d["at"] <= STALE_MS:
            dump_ms = float(d["dump_ms"])
            longest = dump_ms if longest is None else max(longest, dump_ms)
    return longest


FEW_DELETIONS_PER_S = 5.0
"""Fewer say nothing of the time that each takes: at 9 times the usual 0.2 ms they are 1% of the revalidator's time, within what sweeps
vary by."""


def note_deletions(host: Host, pci: str, at_ms: int, deletions_per_s: float, flows: float, insertions_per_s: float = 0.0) -> None:
    """Remember how many flows per second each RNIC deletes and inserts, and in how large a table, to divide the host's sweep time among
    RNICs.

    A table that is emptied was larger while that went on than it is now: what its deletions searched is the mean of before and after.
    """
    if deletions_per_s >= FEW_DELETIONS_PER_S:
        before = host["deletions"].get(pci)
        lately = before is not None and 0 < at_ms - before[0] <= STALE_MS
        searched = (flows + before[-1]) / 2.0 if lately else flows
        host["deletions"][pci] = [at_ms, deletions_per_s, max(searched, 1.0), flows]
        _add_to_gathering(host, at_ms, deletions_per_s, insertions_per_s)
    elif pci in host["deletions"]:
        del host["deletions"][pci]


def _add_to_gathering(host: Host, at_ms: int, deletions_per_s: float, insertions_per_s: float) -> None:
    """Deletions and insertions of all RNICs, `[ms, flows/s, flows/s]` of this gathering and of the one before."""
    totals = host.setdefault("deletions_at", [])
    if totals and len(totals[-1]) == 3 and abs(at_ms - totals[-1][0]) <= SAME_GATHERING_MS:
        totals[-1][1] += deletions_per_s
        totals[-1][2] += insertions_per_s
    else:
        totals.append([at_ms, deletions_per_s, insertions_per_s])
        del totals[:-2]


def deletion_load(host: Host, pci: str, at_ms: int) -> float | None:
    """Share of the time that the revalidator spends on one RNIC's deletions: the additional time of sweeps per flow.

    If several RNICs delete flows at once, they share it by deletions times flows, because a deletion's search grows with the table
    (paper, section 4.2). None if the usual time is unknown; 0 if the RNIC deletes hardly any flows.
    """
    shown = baseline.least_of(host.get("least"), "dump_ms_per_flow")
    if shown is None:
        return None
    usual = min(shown, SLOWEST_SWEEP_MS_PER_FLOW)
    extra, longest = 0.0, -1.0
    for d in host["datapaths"].values():
        if "dump_ms" in d and at_ms - d["at"] <= STALE_MS:
            dump_ms: float = d["dump_ms"]
            extra += max(dump_ms - usual * d["flows"], 0.0)
            longest = max(longest, dump_ms)
    if longest < 0.0:
        return None
    of_all, of_this = 0.0, -1.0
    for one, kept in host["deletions"].items():
        if at_ms - kept[0] <= STALE_MS:
            weight: float = kept[1] * (kept[2] if len(kept) > 2 else 1.0)  # a former version did not keep the flows
            of_all += weight
            if one == pci:
                of_this = weight
    if of_this < 0.0:
        return 0.0
    return extra / max(REVALIDATOR_MS, longest) * of_this / of_all


def unseen_deletions(host: Host, at_ms: int) -> float:
    """Deletions of the host for each that two dumps show, at least 1: what was deleted and created again between two dumps is not seen
    in them, but the daemon counts everything.

    It counts flows too that only software has. What nobody saw deleted had to be created again, so no more deletions are unseen than
    insertions are, where the daemon tells both. All are of the last interval of which all RNICs have reported: of any other two, a burst
    in one of them would look like deletions that were not seen.
    """
    totals = host.get("deletions_at", [])
    if len(totals) < 2 or totals[0][1] <= 0.0 or at_ms - totals[0][0] > STALE_MS:
        return 1.0
    gathered = totals[0]
    unseen = 0.0
    for d in host["datapaths"].values():
        unseen = max(unseen, _unseen(gathered, d["at"], d.get("deletions_per_s"), d.get("insertions_per_s")))
        before = d.get("before")
        if before is not None:
            unseen = max(unseen, _unseen(gathered, before[0], before[1], before[2] if len(before) > 2 else None))
    return 1.0 + unseen / float(gathered[1])


def _unseen(gathered: list[Any], read_ms: int, deleted: float | None, inserted: float | None) -> float:
    """Deletions per second that a datapath counted above those of a gathering; 0 where it was read at another time, or not at all."""
    if deleted is None or abs(read_ms - gathered[0]) > SAME_GATHERING_MS:
        return 0.0
    found: float = deleted - gathered[1]
    return min(found, inserted - gathered[2]) if inserted is not None and len(gathered) > 2 else found


def pause_s(host: Host, source: str, at_ms: int) -> float | None:
    """The time since the source's last sample if it is a stall, else None; learns the sampling interval."""
    beat = host["beat"]
    before = beat.get(source)
    if before is None:
        beat[source] = [at_ms, 0.0]
        return None
    gap = (at_ms - before[0]) / 1000.0
    if gap <= 0.0:
        return None  # another RNIC of the same gathering
    usual = before[1]
    long = usual > 0.0 and gap > max(LONG_PAUSE_S, PAUSE_FACTOR * usual)
    beat[source] = [at_ms, gap if usual == 0.0 else usual if long else 0.8 * usual + 0.2 * gap]
    return gap if long else None
