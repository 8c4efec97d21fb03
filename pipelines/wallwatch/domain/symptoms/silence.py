"""Silent hosts: a host's samples have stopped while the rest of the fleet still reports.

This cannot be judged from the host's own messages, so it is not part of the stage. Two functions: `take` for every message of every host,
`check` now and then. In event time, pure, state in plain JSON. The fleet's clock is the middle of the hosts' own clocks, so one clock that
is minutes off makes no host silent; the duration of a silence is the progress of this clock since the host's last report, so
its own clock does not matter. While the whole fleet is silent (an outage of Kafka), the clock stops and no host is reported.
"""

from __future__ import annotations

from typing import Any

from wallwatch.domain.catalogue.load import other_conditions
from wallwatch.domain.evidence import Feature, evidence
from wallwatch.domain.hypotheses.versions import Identity
from wallwatch.domain.instants import rfc3339
from wallwatch.domain.symptoms import finding_messages
from wallwatch.domain.symptoms.clock_steps import set_back
from wallwatch.domain.symptoms.explain import clock as written
from wallwatch.domain.symptoms.explain import explain_cleared
from wallwatch.domain.telemetry.decode import Message

SILENT_S = 60.0
"""Twice a usual standstill of a kernel (20 to 40 s), and six samples at the usual interval of 10 s."""

INTERVALS = 5.0
"""A host that reports rarely is silent after this many of its intervals: several in a row that a busy collector left out are rare."""

FORGOTTEN_S = 86_400.0
"""A host that has been silent for a day has been removed; it is no longer monitored."""

JUMP_MS = 30_000
"""The fleet's clock advances by less than this between two checks, unless no host reported; then no silence has grown."""

SHUTDOWN_MS = 300_000
"""An announced shutdown explains a silence that begins within this time after it: services get 90 s to stop, and the
collector is one of the last."""

Watch = dict[str, Any]
"""`{"clock": ms, "reported": ms, "hosts": {host: {...}}}`"""


def new() -> Watch:
    return {"clock": 0, "hosts": {}}


def take(watch: Watch, message: Message) -> None:
    """A message of a host came."""
    heard(watch, message.tags["host"], message.tags.get("rack", ""), message.at_ns // 1_000_000, message.measurement)
    if message.measurement == "event":
        host = watch["hosts"][message.tags["host"]]
        if message.tags["kind"] == "host_shutdown":
            host["shutdown"] = message.at_ns // 1_000_000
        elif message.tags["kind"] == "host_booted":
            host.pop("shutdown", None)


def heard(watch: Watch, name: str, rack: str, at_ms: int, source: str = "") -> None:
    """Something of a host came; `at_ms` by the host's own clock. The samples of one `source` follow each other within a few seconds."""
    host = watch["hosts"].get(name)
    if host is None:
        watch["hosts"][name] = {"rack": rack, "at": at_ms, "heard": watch["clock"], "interval": 10.0, "fresh": 1}
        return
    if at_ms > host["at"]:
        gap = (at_ms - host["at"]) / 1000.0
        if 0.5 < gap < SILENT_S:
            host["interval"] = 0.9 * host["interval"] + 0.1 * gap
        host["at"] = at_ms
    newest = host.setdefault("newest", {})
    if set_back(host.setdefault("behind", {}), source, newest.get(source, at_ms), at_ms):
        host["at"] = newest[source] = at_ms
    newest[source] = max(at_ms, newest.get(source, at_ms))
    host["fresh"] = 1
    if rack:
        host["rack"] = rack


def check(watch: Watch, watermark_ms: int | None = None) -> list[dict[str, Any]]:
    """Findings of hosts that became silent, are still silent, or report again.

    Parameters
    ----------
    watermark_ms : int or None
        The fleet's time where the caller knows it better (a recording's); None takes the middle of the hosts' clocks.
    """
    hosts = watch["hosts"]
    if not hosts:
        return []
    before = watch["clock"]
    watch["clock"] = now = max(before, _middle(hosts) if watermark_ms is None else watermark_ms)
    jump = now - before if before and now - before > JUMP_MS else 0
    findings = []
    for name in list(hosts):
        host = hosts[name]
        if host.pop("fresh", 0) or host["heard"] == 0:
            host["heard"] = now
        elif jump:
            host["heard"] += jump
        silent_s = (now - host["heard"]) / 1000.0
        if silent_s > FORGOTTEN_S:
            del hosts[name]
            finding = _cleared(name, host, host["life"], now) if "life" in host else None
        else:
            finding = _judge(name, host, now, silent_s)
        if finding is not None:
            findings.append(finding)
    return findings


def _middle(hosts: dict[str, dict[str, Any]]) -> int:
    """The median of the clocks of the hosts that have reported since the last check; 0 if there are none. Silent hosts do not count."""
    times = sorted(host["at"] for host in hosts.values() if host.get("fresh"))
    return int(times[len(times) // 2]) if times else 0


def known(watch: Watch, name: str, rack: str, at_ms: int) -> None:
    """A host of which something came before this process began."""
    watch["hosts"][name] = {"rack": rack, "at": at_ms, "heard": 0, "interval": 10.0}


def overdue(watch: Watch) -> list[str]:
    """Hosts that are silent or would be at the next `check`, so that callers can look them up elsewhere first."""
    now = max(watch["clock"], _middle(watch["hosts"]))
    silent = (n for n, host in watch["hosts"].items() if host["heard"] and not host.get("fresh"))
    return [n for n in silent if (now - watch["hosts"][n]["heard"]) / 1000.0 >= limit_s(watch["hosts"][n])]


def seen_elsewhere(watch: Watch, name: str, at_ms: int) -> None:
    """A host was seen elsewhere at `at_ms` of its own clock; its silence starts at its last sample in the store."""
    host = watch["hosts"].get(name)
    if host is None:
        return
    if at_ms > host["at"]:
        heard(watch, name, "", at_ms)
    elif "life" not in host:
        host["at"] = at_ms


def resume(host: dict[str, Any], started_ms: int, announced: bool) -> None:
    """Resume a silence that was detected before."""
    host["life"] = {"started": started_ms, "announced": announced, "reported": 0}


def limit_s(host: dict[str, Any]) -> float:
    """After how long this host counts as silent, s."""
    return max(SILENT_S, INTERVALS * float(host["interval"]))


def _judge(name: str, host: dict[str, Any], now_ms: int, silent_s: float) -> dict[str, Any] | None:
    life = host.get("life")
    if silent_s < limit_s(host):
        if life is None:
            return None
        del host["life"]
        return _cleared(name, host, life, host["at"])
    if life is None:
        life = host["life"] = {"started": host["at"], "announced": _announced(host)}
    elif now_ms - life["reported"] < finding_messages.REPEAT_MS:
        return None
    life["reported"] = now_ms
    return _active(name, host, life, silent_s)


def _announced(host: dict[str, Any]) -> bool:
    shutdown = host.get("shutdown")
    return shutdown is not None and -60_000 <= host["at"] - shutdown <= SHUTDOWN_MS


def _subject(name: str, host: dict[str, Any]) -> finding_messages.Subject:
    return {"host": name, "pci": "", "rack": host["rack"]}


def _active(name: str, host: dict[str, Any], life: dict[str, Any], silent_s: float) -> dict[str, Any]:
    entry = other_conditions()["silent"]
    began = life["started"]
    now_ms = began + int(silent_s * 1000)
    seen = Feature(silent_s, began, now_ms)
    text = "The host has sent nothing while the rest of the fleet kept reporting."
    reason = evidence("silence_s", seen, f"< {limit_s(host):.0f} s", text).as_json()
    announced = life["announced"]
    rack = f" (rack {host['rack']})" if host["rack"] else ""
    why = "It announced a shutdown before." if announced else "It did not announce a shutdown."
    return {
        **finding_messages.shell(entry, _subject(name, host), Identity(), "active", began, now_ms),
        "severity": "warning" if announced else "critical",
        "summary": f"The host has not reported for {silent_s:.0f} s, while the rest of the fleet reports.",
        "explanation": (
            f"Host {name}{rack} last reported at {written(began)}. {why} The rest of "
            f"the fleet has reported for {silent_s:.0f} s since then, so the host, its collector or its network has failed. "
            "The state of its RNICs is unknown: active symptoms stay active. Check whether the host responds, "
            "then check wallwatch-telegraf on it."
        ),
        "evidence": [reason],
        "hypotheses": [],
        "remedies": [],
    }


def _cleared(name: str, host: dict[str, Any], life: dict[str, Any], at_ms: int) -> dict[str, Any]:
    entry = other_conditions()["silent"]
    subject = _subject(name, host)
    at_ms = max(at_ms, life["started"] + 1)
    return {
        **finding_messages.shell(entry, subject, Identity(), "cleared", life["started"], at_ms),
        "severity": "warning" if life["announced"] else "critical",
        "summary": f"The host has been reporting again since {rfc3339(host['at'])}."
        if host["at"] > life["started"]
        else "The host has been silent for a day and is no longer monitored.",
        "explanation": explain_cleared(entry, subject, Identity(), life["started"], at_ms),
        "evidence": [],
        "hypotheses": [],
        "remedies": [],
    }
