"""How a sample moves what is kept of its RNIC (`rnic_state`). Pure and in event time."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from librt.vecs import append, vec
from mypy_extensions import i64

from wallwatch.domain.catalogue import promoted
from wallwatch.domain.catalogue.load import generic_profile, model_of, variant_of
from wallwatch.domain.catalogue.models import Profile
from wallwatch.domain.hypotheses.versions import Identity
from wallwatch.domain.symptoms import baseline, clock_steps, features, first_signs, host, signals, transport, window
from wallwatch.domain.symptoms.host import Host
from wallwatch.domain.symptoms.peers import Peers
from wallwatch.domain.symptoms.rnic_state import EVER, UNKNOWN, RnicState, with_signal
from wallwatch.domain.symptoms.signal_places import places

REMEMBERED = 8
"""Times of samples that are remembered for each source, so that one that comes twice counts once."""

LEAST_SPACING_MS = 100
"""No collector looks more often; samples that are closer come from one that floods."""

STEPPED_BACK = 3
"""This many consecutive samples far in the past, in order, mean that the host's clock was set back."""


def identity(rnic_state: RnicState) -> Identity:
    return Identity(rnic_state.model, rnic_state.driver, rnic_state.fw_ver, rnic_state.driver_version, rnic_state.variant)


def profile_of(rnic_state: RnicState) -> Profile:
    """Of its own firmware or driver where one was promoted for it, else of its model."""
    return promoted.profile_of(rnic_state.model or None, rnic_state.driver or None, rnic_state.fw_ver or None) or generic_profile()


def _times_of(rnic_state: RnicState, source: str) -> vec[i64]:
    return rnic_state.rnic_times if source == "rnic" else rnic_state.offload_times


def _remember(rnic_state: RnicState, source: str, at_ms: i64) -> None:
    """Put a time among the newest ones of its source, of which the oldest is forgotten."""
    times = _times_of(rnic_state, source)
    if len(times) < REMEMBERED:
        times = append(times, at_ms)
        if source == "rnic":
            rnic_state.rnic_times = times
        else:
            rnic_state.offload_times = times
    else:
        for place in range(1, len(times)):
            times[place - 1] = times[place]
    free = len(times) - 1
    while free > 0 and times[free - 1] > at_ms:
        times[free] = times[free - 1]
        free -= 1
    times[free] = at_ms


def admit(rnic_state: RnicState, host_state: Host, source: str, at_ms: int) -> bool:
    """Whether a sample of `rnic` or `rnic_offload` is to be used: new, not too late, not one of a flood. What is not is counted."""
    newest = rnic_state.newest
    if newest and at_ms <= newest - window.WINDOW_MS:
        back = rnic_state.back or [0, 0]
        if at_ms > back[1]:
            back = [back[0] + 1, at_ms]
        rnic_state.back = back
        if back[0] < STEPPED_BACK:
            host_state["late"] += 1
            return False
        _set_back(rnic_state, host_state, at_ms)
        rnic_state.port_mean = rnic_state.trouble_mean = rnic_state.least = None
        newest = 0
    rnic_state.back = None
    seen = _times_of(rnic_state, source)
    for time in seen:
        if time == at_ms:
            return False  # the same sample again
    if len(seen):
        last = seen[len(seen) - 1]
        if (at_ms < last or rnic_state.behind is not None) and _is_behind(rnic_state, source, last, at_ms):
            _set_back(rnic_state, host_state, at_ms)
            seen, newest = _times_of(rnic_state, source), 0
    if len(seen):
        if at_ms < seen[0] and len(seen) >= REMEMBERED:
            host_state["late"] += 1
            return False
        if 0 < at_ms - seen[len(seen) - 1] < LEAST_SPACING_MS:
            host_state["flooded"] += 1
            return False
    _remember(rnic_state, source, at_ms)
    rnic_state.newest = max(newest, at_ms)
    return True


def _is_behind(rnic_state: RnicState, source: str, newest_ms: int, at_ms: int) -> bool:
    """Whether a source's samples show that the host's clock was set back by less than a window."""
    behind = rnic_state.behind or {}
    found = clock_steps.set_back(behind, source, newest_ms, at_ms)
    rnic_state.behind = behind or None
    return found


def _set_back(rnic_state: RnicState, host_state: Host, at_ms: int) -> None:
    """Go on in the time of a clock that was set back. What is active stays so; nobody knows for how long."""
    rnic_state.newest = 0
    rnic_state.rnic_times, rnic_state.offload_times = vec[i64](), vec[i64]()
    rnic_state.fine.clear()
    rnic_state.coarse.clear()
    rnic_state.behind = rnic_state.shown = None
    rnic_state.counters = vec[i64]()
    rnic_state.counted_at = rnic_state.moved_at = rnic_state.down = rnic_state.signs_form = UNKNOWN
    transport.forget(rnic_state)
    host.set_back_lives(rnic_state.symptoms, rnic_state.ended, at_ms)
    host.set_back(host_state, at_ms)


def take_offload(rnic_state: RnicState, host_state: Host, pci: str, at_ms: int, fields: Mapping[str, Any]) -> bool:
    """One `rnic_offload` sample into the windows; False when its time has been passed by a newer one, so that verdicts do not move."""
    profile = profile_of(rnic_state)
    values, wrong = signals.of_offload(fields, rnic_state, profile, host.misses_per_s(host_state, at_ms))
    if wrong:
        host_state["wrong"] += wrong
    deletions = values.get("flow_deletions_per_s")
    if deletions is not None and at_ms >= rnic_state.newest:
        insertions = values.get("flow_insertions_per_s", 0.0)
        host.note_deletions(host_state, pci, at_ms, deletions, values.get("flows_offloaded", 0.0), insertions)
        _sweeps(values, rnic_state, host_state, pci, at_ms, profile)
    _live_share(values, rnic_state, at_ms)
    # Always known, so that a host that tells nothing of its ports or of its switch is judged too.
    values["flow_limit_exceeded"] = float(host.flow_limit_exceeded(host_state, at_ms))
    values["port_down_lately"] = float(rnic_state.down != UNKNOWN and at_ms - rnic_state.down < PORT_BACK_MS)
    return _keep(rnic_state, at_ms, values)


PORT_BACK_MS = 60_000
"""For this long a port that was down matters (signal `port_down_lately`): its flows find their way back into the RNIC."""


def _live_share(values: dict[str, float], rnic_state: RnicState, at_ms: int) -> None:
    """Share of the last minute's deletions that hit live flows. The collector reports it relative to insertions, which growth dilutes; if
    deletions are unknown, its ratio is used.
    """
    ratio = values.get("reoffload_ratio")
    if not ratio:  # no share of any deletions is none, and unknown stays unknown
        if ratio is not None:
            values["live_share"] = ratio
        return
    insertions, deletions = (
        _lately(values, rnic_state, "flow_insertions_per_s", at_ms),
        _lately(values, rnic_state, "flow_deletions_per_s", at_ms),
    )
    if insertions is None or deletions is None:
        values["live_share"] = ratio
    else:
        values["live_share"] = min(ratio * insertions / deletions, 1.0) if deletions > 0.0 else 0.0


def _lately(values: dict[str, float], rnic_state: RnicState, name: str, at_ms: int, seconds: int = 60) -> float | None:
    """Mean of the last seconds with this sample, which is not in the window yet."""
    now: float | None = values.get(name)
    if now is None:
        return None
    fine = places().fine
    total, count = fine.sum_of(rnic_state.fine, fine.places[name], at_ms, seconds)
    return (total + now) / (count + 1)


SMALL_TABLE = 0.5
"""Share of the wall of flows below which a deletion's search is short: it grows with the table (paper, section 4.2). Chosen: half."""

SWEEPS_S, SEEN_SWEEPS_S = 60, 30
"""Deletions come in bursts, so the time per deletion is averaged over this long: longer where only the last sweep before each sample is
known, shorter where the collector has looked in between."""


def _sweeps(values: dict[str, float], rnic_state: RnicState, host_state: Host, pci: str, at_ms: int, profile: Profile) -> None:
    """Time that deletions take, each and in all, as the host's sweeps show it."""
    duration = host.dump_duration_ms(host_state, at_ms)
    if duration is not None:
        values["dump_duration_ms"] = duration
    load = host.deletion_load(host_state, pci, at_ms)
    if load is None:
        return
    deletions = values["flow_deletions_per_s"] * host.unseen_deletions(host_state, at_ms)
    if load == 0.0 and deletions < host.FEW_DELETIONS_PER_S:
        values["deletion_load"] = 0.0  # whatever one of them takes
        return
    values["sweep_load"], values["swept_per_s"] = load, deletions
    seconds = SEEN_SWEEPS_S if host.saw_sweeps(host_state) else SWEEPS_S
    mean_load, rate = (_lately(values, rnic_state, name, at_ms, seconds) for name in ("sweep_load", "swept_per_s"))
    if mean_load is None or not rate:
        return
    each_ms = mean_load * 1000.0 / rate
    if mean_load > 0.0 and values.get("flows_wall_share", 1.0) < SMALL_TABLE:
        if rnic_state.least is None:
            rnic_state.least = {}
        baseline.least(rnic_state.least, "deletion_ms", each_ms, at_ms)
    values["deletion_share"] = each_ms / signals.usual_deletion_ms(rnic_state, profile)
    values["deletion_load"] = min(each_ms * deletions / 1000.0, 1.0)


def take_rnic(rnic_state: RnicState, at_ms: int, tags: Mapping[str, str], fields: Mapping[str, Any], peers: Peers | None = None) -> bool:
    """One `rnic` sample: who the RNIC is, and its port, link and counters. `peers` is what RNICs of other hosts count."""
    _take_identity(rnic_state, tags, fields.get("driver_version"))
    if at_ms < rnic_state.newest and rnic_state.rnic_times[len(rnic_state.rnic_times) - 1] != at_ms:
        return False  # rates of counters and baselines go forward only
    rates: dict[str, float] = {}
    values = signals.of_rnic(fields, rnic_state, at_ms, rates)
    if values.get("port_down"):
        rnic_state.down = at_ms
    values.update(transport.take(rnic_state, (tags.get("host", ""), tags.get("pci", "")), at_ms, fields, rates, peers))
    return _keep(rnic_state, at_ms, values)


def _take_identity(rnic_state: RnicState, tags: Mapping[str, str], driver_version: object) -> None:
    model, variant = _device(tags.get("pci_id"), tags.get("hca_type"))
    if model is not None:
        rnic_state.model, rnic_state.variant = model, variant or ""
    rnic_state.driver = tags.get("driver") or rnic_state.driver
    rnic_state.fw_ver = tags.get("fw_ver") or rnic_state.fw_ver
    rnic_state.rack = tags.get("rack") or rnic_state.rack
    if isinstance(driver_version, str) and driver_version and driver_version != rnic_state.driver_version:
        rnic_state.driver_version = driver_version


@lru_cache(1024)
def _device(pci_id: str | None, hca_type: str | None) -> tuple[str | None, str | None]:
    """Model and variant: every sample says which device it is of, and a fleet has few kinds."""
    return model_of(pci_id, hca_type), variant_of(pci_id, hca_type)


def _keep(rnic_state: RnicState, at_ms: int, values: dict[str, float]) -> bool:
    ever = rnic_state.ever
    if len(ever) < len(EVER):
        for name in EVER:
            if name in values and name not in ever:
                rnic_state.ever = ever = with_signal(ever, name)
    first_signs.note(rnic_state, at_ms, values)
    features.keep(rnic_state, at_ms, values)
    return bool(at_ms >= rnic_state.newest)
