"""What is kept of one RNIC between messages: attributes in memory, and a plain form for the changelog. Pure.

`classify` keeps one for each RNIC of the fleet and changes it with every sample. So the numbers are attributes and arrays, which need a
fraction of a dictionary's memory and time once the module is compiled. A number that is not known yet is `UNKNOWN`, or NaN.
"""

from __future__ import annotations

from functools import cache
from math import nan
from typing import Any

from librt.vecs import vec
from mypy_extensions import i64

from wallwatch.domain.symptoms.baseline import Mean
from wallwatch.domain.symptoms.packed_window import PackedWindow
from wallwatch.domain.symptoms.signal_places import places
from wallwatch.domain.symptoms.watched_counters import is_counter, watched_counters
from wallwatch.domain.telemetry.shared_text import shared_text

UNKNOWN = -1
"""In the place of a time, a form or a counter that is not known: none of them is below zero."""

Life = dict[str, Any]
"""Of one symptom, see `detect`."""

IDENTITY = ("rack", "model", "variant", "driver", "fw_ver", "driver_version")
"""Who an RNIC is, as far as its samples said."""


class RnicState:
    """One RNIC, in event time."""

    __slots__ = (
        "back", "behind", "coarse", "counted_at", "counters", "down", "driver", "driver_version", "ended", "engine", "ets", "ever", "fine",
        "fw_ver", "least", "model", "most_pcie", "moved_at", "moved_received", "moved_sent", "newest", "np", "offload_times", "port_mean",
        "qps", "qps_at", "rack", "received_gbps", "rnic_times", "sent_gbps", "shown", "signs_form", "symptoms", "transport", "trouble_mean",
        "trouble_parts", "variant", "waits",
    )  # fmt: skip

    def __init__(self) -> None:
        self.newest: int = 0
        """Time of the newest sample, ms since 1970."""
        self.rnic_times: vec[i64] = vec[i64]()
        """Times of the newest samples of `rnic`, sorted, ms."""
        self.offload_times: vec[i64] = vec[i64]()
        """The same of `rnic_offload`."""
        self.fine = PackedWindow()
        self.coarse = PackedWindow()
        self.symptoms: dict[str, Life] = {}
        self.ended: dict[str, int] | None = None
        """When symptoms were cleared, ms."""
        self.rack: str = ""
        self.model: str = ""
        self.variant: str = ""
        self.driver: str = ""
        self.fw_ver: str = ""
        self.driver_version: str = ""
        self.ever: frozenset[str] = NEVER
        """Which of `EVER` were measured at any time."""
        self.back: list[int] | None = None
        """How many samples far in the past followed each other, and the time of the last, ms."""
        self.behind: dict[str, list[int]] | None = None
        """Samples that may show a step of the clock, see `clock_steps`."""
        self.sent_gbps: float = nan
        self.received_gbps: float = nan
        self.moved_at: int = UNKNOWN
        """When the port's counters of data last moved, ms, and what they were then."""
        self.moved_sent: int = 0
        self.moved_received: int = 0
        self.down: int = UNKNOWN
        """When the port was last down, ms."""
        self.most_pcie: float = nan
        """Most of link speed times lanes, GT/s."""
        self.port_mean: Mean | None = None
        self.trouble_mean: Mean | None = None
        self.least: dict[str, list[Any]] | None = None
        """Least values, see `baseline`."""
        self.counted_at: int = UNKNOWN
        """When the counters were read, ms."""
        self.counters: vec[i64] = vec[i64]()
        """By the places of `watched_counters`, `UNKNOWN` for those that the sample did not have."""
        self.waits: bool | None = None
        """Whether senders wait, see `signals`."""
        self.trouble_parts: dict[str, int] | None = None
        """By how much the counters of trouble grew when any last did."""
        self.signs_form: int = UNKNOWN
        self.shown: dict[str, int] | None = None
        """Which signs were seen, see `first_signs`."""
        self.engine: dict[str, Any] | None = None
        """From here on, of the transport engine, see `transport`."""
        self.transport: dict[str, Any] | None = None
        self.qps_at: int = UNKNOWN
        self.qps: int = 0
        """When queue pairs were counted, ms, and how many there were."""
        self.ets: list[Any] | None = None
        self.np: list[Any] | None = None

    def plain(self) -> dict[str, Any]:
        """The state as MessagePack has it; what is not known is left out."""
        fine, coarse, form, _ = places()
        times = (("rnic", [at for at in self.rnic_times]), ("rnic_offload", [at for at in self.offload_times]))  # noqa: C416  # see `packed_window`
        found: dict[str, Any] = {
            "newest": self.newest,
            "at": {name: known for name, known in times if known},
            "fine": fine.plain(self.fine),
            "coarse": coarse.plain(self.coarse),
            "form": form,
            "symptoms": self.symptoms,
            "id": {name: known for name, known in zip(IDENTITY, self.identity(), strict=True) if known},
            "ever": dict.fromkeys(sorted(self.ever), 1),
        }
        self._add_numbers(found)
        for name, part in (
            ("waits", self.waits), ("ended", self.ended), ("back", self.back), ("behind", self.behind), ("least", self.least),
            ("engine", self.engine), ("transport", self.transport), ("ets", self.ets), ("np", self.np),
        ):  # fmt: skip
            if part is not None:
                found[name] = part
        return found

    def _add_numbers(self, found: dict[str, Any]) -> None:
        """What has more than one attribute, or one that is a number."""
        if self.counted_at != UNKNOWN:
            counters: dict[str, int] = {
                name: count for name, count in zip(watched_counters().names, self.counters, strict=True) if count != UNKNOWN
            }
            counters["at"] = self.counted_at
            found["counters"] = counters
        if self.sent_gbps == self.sent_gbps:
            found["gbps"] = [self.sent_gbps, self.received_gbps]
        if self.moved_at != UNKNOWN:
            found["moved"] = [self.moved_at, self.moved_sent, self.moved_received]
        means = (("port_gbps", self.port_mean), ("trouble_per_s", self.trouble_mean))
        mean = {name: kept.plain() for name, kept in means if kept is not None}
        if mean:
            found["mean"] = mean
        if self.most_pcie == self.most_pcie:
            found["most"] = {"pcie": self.most_pcie}
        if self.qps_at != UNKNOWN:
            found["qps"] = [self.qps_at, self.qps]
        if self.down != UNKNOWN:
            found["down"] = self.down
        if self.signs_form != UNKNOWN:
            found["signs"] = [self.signs_form, self.shown or {}]
        if self.trouble_parts is not None:
            found["parts"] = {"trouble_per_s": self.trouble_parts}

    def identity(self) -> tuple[str, ...]:
        """In the order of `IDENTITY`, "" for what is not known."""
        return self.rack, self.model, self.variant, self.driver, self.fw_ver, self.driver_version


NEVER: frozenset[str] = frozenset()
"""Nothing was measured yet."""

EVER = ("port_frozen_s", "pcie_share", "latency_share", "bandwidth_lost")
"""Signals of which it is remembered that they were measured: where one is missing later, a symptom may go on unseen."""


@cache
def with_signal(ever: frozenset[str], name: str) -> frozenset[str]:
    """One more signal was measured. The same object for all RNICs that have measured the same."""
    return ever | {name}


def from_plain(found: dict[str, Any]) -> RnicState:
    """The state that `RnicState.plain`, or an earlier version, has written. Windows of other signals are left behind."""
    state = RnicState()
    state.newest = found["newest"]
    at = found["at"]
    state.rnic_times, state.offload_times = vec[i64](at.get("rnic", [])), vec[i64](at.get("rnic_offload", []))
    state.symptoms = found["symptoms"]
    _take_windows(state, found)
    _take_port(state, found)
    _take_counters(state, found)
    known = found["id"]
    # Much of a fleet has the same: each text is kept once.
    state.rack, state.model, state.variant = _text(known, "rack"), _text(known, "model"), _text(known, "variant")
    state.driver, state.fw_ver, state.driver_version = _text(known, "driver"), _text(known, "fw_ver"), _text(known, "driver_version")
    for name in EVER:
        if name in found["ever"]:
            state.ever = with_signal(state.ever, name)
    signs = found.get("signs")
    if signs is not None:
        state.signs_form, state.shown = signs[0], signs[1] or None
    state.ended, state.back, state.behind = found.get("ended"), found.get("back"), found.get("behind")
    state.least = found.get("least")
    state.engine, state.transport = found.get("engine"), found.get("transport")
    state.ets, state.np = found.get("ets"), found.get("np")
    if "qps" in found:
        state.qps_at, state.qps = found["qps"]
    return state


def _text(known: dict[str, Any], name: str) -> str:
    return shared_text(known.get(name) or "")


def _take_windows(state: RnicState, found: dict[str, Any]) -> None:
    fine, coarse, form, as_lists = places()
    written: int | None = found.get("form")
    for layout, packed, plain in ((fine, state.fine, found["fine"]), (coarse, state.coarse, found["coarse"])):
        if written == form:
            layout.take_plain(packed, plain)
        elif written == as_lists:
            layout.take_rows(packed, plain)


def _take_port(state: RnicState, found: dict[str, Any]) -> None:
    if "gbps" in found:
        state.sent_gbps, state.received_gbps = found["gbps"]
    if "moved" in found:
        state.moved_at, state.moved_sent, state.moved_received = found["moved"]
    mean = found.get("mean", {})
    if "port_gbps" in mean:
        state.port_mean = Mean(*mean["port_gbps"])
    if "trouble_per_s" in mean:
        state.trouble_mean = Mean(*mean["trouble_per_s"])
    if "pcie" in found.get("most", {}):
        state.most_pcie = float(found["most"]["pcie"])
    state.down = found.get("down", UNKNOWN)


def _take_counters(state: RnicState, found: dict[str, Any]) -> None:
    counters = found.get("counters")
    if counters:
        state.counted_at = counters["at"]
        # A version before kept numbers of any size.
        known = [counters.get(name) for name in watched_counters().names]
        state.counters = vec[i64]([value if is_counter(value) else UNKNOWN for value in known])
    state.waits = found.get("waits")
    state.trouble_parts = found.get("parts", {}).get("trouble_per_s")
