"""The symptom stage: `(state of one host, message) -> (state, findings)`. The job `classify` and the evaluation run this very
function.

Pure and in event time: the same messages in the same order give the same findings, with the same ids. A message that comes twice changes
nothing. Samples may come out of order by a few seconds; older ones are counted as late and otherwise ignored, unless several follow each
other: then the host's clock was set back, and the stage goes on in its time.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from functools import cache
from typing import Any

from wallwatch.domain.catalogue.behaviour_models import Behaviour
from wallwatch.domain.catalogue.load import derived_signals, detected, event_signals, profiles
from wallwatch.domain.catalogue.models import Definition, Detected
from wallwatch.domain.hypotheses.versions import Identity
from wallwatch.domain.symptoms import events, finding_messages, first_signs, host, rnic_stage, violations
from wallwatch.domain.symptoms.detect import Change, Life, Phase, Verdict, advance, judge
from wallwatch.domain.symptoms.features import Features, is_event
from wallwatch.domain.symptoms.peers import Peers
from wallwatch.domain.symptoms.rnic_state import NEVER, RnicState
from wallwatch.domain.telemetry.decode import Message

__all__ = ["HOST", "MEASUREMENTS", "Message", "State", "step"]

MEASUREMENTS = ("rnic_offload", "rnic", "ovs_datapath", "event")

HOST = "host"
WAITING = "waiting"
"""The source of what is judged while an RNIC sends no samples: symptoms raised by events, some time after them."""
MOST_RNICS = 64
"""RNICs of one host that are followed; names without end would fill the state."""

EVENTS_PER_MINUTE = 600
"""Maximum of events per host and minute: a failing driver may write thousands, and the first ones are enough."""

GONE_MS, GONE_CHECK_MS = 1_800_000, 300_000
"""An RNIC missing from its host's samples for this long has been removed: its active findings are cleared. Check interval."""

State = MutableMapping[str, Any]
"""`{"host": Host, "<pci>": RnicState, ...}`. The stage assigns each value that it has changed (see `jobs/host_state`)."""


def _sources(definition: Definition) -> frozenset[str]:
    required = [c.signal for c in definition.conditions if c.role == "required"]
    return frozenset("event" if is_event(signal) else _measured_in(signal) for signal in required)


def _measured_in(signal: str) -> str:
    """The measurement whose samples give a signal; fields of `rnic_offload` are signals of their own."""
    derived = derived_signals().get(signal)
    return "rnic_offload" if derived is None else derived.source


@cache
def _judged_on(source: str, scope: str) -> tuple[tuple[Detected, Definition], ...]:
    """The symptoms to evaluate for a message of this measurement."""
    found = []
    for entry in detected().values():
        d = entry.definition
        if d is None or d.scope != scope:
            continue
        sources = _sources(d)
        if source == WAITING:
            if scope == "rnic" and "event" in sources and d.raise_for_s:
                found.append((entry, d))
            continue
        # What rests on events alone ends while nothing happens, so the rhythm of the samples moves it.
        if source in sources or (scope == "host" and source in ("rnic", "ovs_datapath")):
            found.append((entry, d))
    return tuple(found)


@cache
def _rules(source: str) -> tuple[str, ...]:
    """The rules of the symptoms of RNICs to evaluate for a message of this measurement, without those that need transport signals."""
    return tuple(definition.rule for entry, definition in _judged_on(source, "rnic") if not isinstance(entry, Behaviour))


@cache
def _kinds(scope: str) -> frozenset[str]:
    """Kinds of events that may raise something."""
    wanted = {
        c.signal
        for entry in detected().values()
        if entry.definition is not None and entry.definition.scope == scope
        for c in entry.definition.conditions
        if c.role != "supporting" and is_event(c.signal)
    }
    return frozenset(kind for name in wanted for kind in event_signals()[name].kinds)


def step(state: Any, message: Message, peers: Peers | None = None) -> tuple[Any, list[dict[str, Any]]]:
    """Take one message of one host.

    Parameters
    ----------
    state : State or None
        As returned by the step before; None for a host's first message. It is changed in place.
    message : Message
        The next message, in the order in which it came.
    peers : Peers or None
        What RNICs of other hosts count, which this message adds to; None where no other host is heard.

    Returns
    -------
    state : State
    findings : list of dict
        Messages for `wallwatch.findings`, usually none.
    """
    if state is None:
        state = {}
    name = message.measurement
    if name not in MEASUREMENTS:
        return state, []
    return state, _Step(state, message, peers).run()


class _Step:
    """One message's way through the stage."""

    def __init__(self, state: State, message: Message, peers: Peers | None) -> None:
        self._state = state
        self._peers = peers
        self._message = message
        self._tags = message.tags
        self._at_ms = message.at_ns // 1_000_000
        self._host: host.Host = state.get(HOST) or host.new()
        self._host_changed = False
        self._now_ms = max(self._at_ms, 0)

    def run(self) -> list[dict[str, Any]]:
        counted = self._counts()
        found = self._take()
        if self._host_changed or counted != self._counts():
            self._state[HOST] = self._host
        return list(found)

    def _counts(self) -> tuple[int, int, int]:
        return self._host["late"], self._host["flooded"], self._host["wrong"]

    # What comes in

    def _take(self) -> list[dict[str, Any]]:
        name = self._message.measurement
        if name == "rnic":
            return self._take_rnic()
        if name == "rnic_offload":
            return self._take_rnic_offload()
        if name == "ovs_datapath":
            return self._take_ovs_datapath()
        return self._take_event()

    def _rnic_state(self) -> RnicState | None:
        pci = self._tags["pci"]
        rnic_state = self._state.get(pci)
        if rnic_state is None:
            known = self._host.setdefault("rnics", [])
            if pci not in known:
                if len(known) >= MOST_RNICS:
                    self._host["flooded"] += 1
                    return None
                known.append(pci)
                self._host_changed = True
            rnic_state = RnicState()
        return rnic_state

    def _admit(self, rnic_state: RnicState, pci: str, source: str) -> bool:
        steps = self._host.get("steps")
        admitted = rnic_stage.admit(rnic_state, self._host, source, self._at_ms)
        self._host_changed |= self._host.get("steps") != steps
        if not admitted and (rnic_state.back is not None or rnic_state.behind is not None):
            self._state[pci] = rnic_state  # how often the clock was back is counted from sample to sample
        return admitted

    def _take_rnic_offload(self) -> list[dict[str, Any]]:
        rnic_state = self._rnic_state()
        pci = self._tags["pci"]
        if rnic_state is None or not self._admit(rnic_state, pci, "rnic_offload"):
            return []
        if self._peers is not None:
            self._peers.hear_offload((self._tags["host"], pci), self._message.fields)
        deletions = self._host["deletions"].get(pci)
        newest = rnic_stage.take_offload(rnic_state, self._host, pci, self._at_ms, self._message.fields)
        self._host_changed |= deletions is not self._host["deletions"].get(pci)
        found = self._judge_rnic(rnic_state, pci, "rnic_offload") if newest else []
        self._state[pci] = rnic_state
        return found

    def _take_rnic(self) -> list[dict[str, Any]]:
        rnic_state = self._rnic_state()
        pci = self._tags["pci"]
        if rnic_state is None or not self._admit(rnic_state, pci, "rnic"):
            return []
        if self._peers is not None:
            self._peers.hear_rnic((self._tags["host"], pci), self._at_ms, self._tags, self._message.fields)
        newest = rnic_stage.take_rnic(rnic_state, self._at_ms, self._tags, self._message.fields, self._peers)
        found = self._beat("rnic") if newest else []
        found += self._judge_rnic(rnic_state, pci, "rnic") if newest else []
        self._state[pci] = rnic_state
        return found

    def _take_ovs_datapath(self) -> list[dict[str, Any]]:
        host.take_datapath(self._host, self._tags["datapath"], self._at_ms, self._message.fields)
        self._host_changed = True
        return self._beat("ovs_datapath")

    def _take_event(self) -> list[dict[str, Any]]:
        kind, pci = self._tags["kind"], self._tags.get("pci", "")
        if kind not in events.by_kind():
            return []
        if kind == violations.VIOLATED:
            violations.take(self._host.setdefault("violations", {}), self._message.at_ns // 1000, pci, self._message.fields)
        minute, count = self._host.get("event_rate", [0, 0])
        if minute != self._at_ms // 60_000:
            minute, count = self._at_ms // 60_000, 0
        if count >= EVENTS_PER_MINUTE:
            self._host["flooded"] += 1
            return []
        self._host["event_rate"] = [minute, count + 1]
        self._host_changed = True
        if not events.take(self._host["events"], kind, self._message.at_ns // 1000, pci, self._message.fields):
            return []
        if kind == "host_booted":
            self._host["events"].pop("stalls", None)  # the pause was the boot
        # An event may arrive late (after a stall or a boot); the evaluation is for the current time.
        self._now_ms = max(self._at_ms, self._host["newest"])
        found = self._judge_host("event") if kind in _kinds("host") else []
        if pci and kind in _kinds("rnic"):
            rnic_state = self._state.get(pci)
            if rnic_state is not None:
                found += self._judge_rnic(rnic_state, pci, "event")
                self._state[pci] = rnic_state
        return found

    def _beat(self, source: str) -> list[dict[str, Any]]:
        """The host reports: update its sampling interval and detect stalls."""
        before = self._host["beat"].get(source)
        if before is None or before[0] != self._at_ms:
            pause = host.pause_s(self._host, source, self._at_ms)
            self._host_changed = True
            if self._at_ms > self._host["newest"] or self._host["newest"] - self._at_ms > 60_000:
                self._host["newest"] = self._at_ms
            booted = events.feature(self._host["events"], "boots", self._at_ms, int(pause or 0) + 10, None).value
            if pause is not None and not booted:
                events.take(self._host["events"], events.STALL, self._message.at_ns // 1000, "", {})
                return self._judge_host(source, everything=True)
        found = self._judge_host(source, everything=False) if self._host["symptoms"] else []
        return found + self._judge_waiting() + self._gone()

    def _judge_waiting(self) -> list[dict[str, Any]]:
        """RNICs whose events may raise something by now; an RNIC whose link is down sends no samples itself."""
        found: list[dict[str, Any]] = []
        for pci in tuple(self._host.get("waiting", ())):
            rnic_state = self._state.get(pci)
            if pci != self._tags.get("pci") and rnic_state is not None:
                found += self._judge_rnic(rnic_state, pci, WAITING)
                self._state[pci] = rnic_state
        return found

    def _gone(self) -> list[dict[str, Any]]:
        """Clear the findings of RNICs that never came back, by event time of their host."""
        now = self._now_ms
        checked = self._host.setdefault("gone_checked", now)
        if 0 <= now - checked < GONE_CHECK_MS:
            return []
        self._host["gone_checked"] = now
        self._host_changed = True
        found: list[dict[str, Any]] = []
        for pci in self._host.get("rnics", ()):
            rnic_state = self._state.get(pci)
            if pci == self._tags.get("pci") or rnic_state is None or not rnic_state.symptoms or now - rnic_state.newest < GONE_MS:
                continue
            features = Features(rnic_state, self._host["events"], now, pci)
            subject = {"host": self._tags["host"], "pci": pci, "rack": self._tags.get("rack", "")}
            for name, life in rnic_state.symptoms.items():
                if life.get("phase") in (Phase.ACTIVE, Phase.CLEARING):
                    found.append(
                        finding_messages.gone(
                            detected()[name], subject, rnic_stage.identity(rnic_state), life, features, now, rnic_state.newest
                        )
                    )
                    _note_end(rnic_state, name, now)
            rnic_state.symptoms = {}
            self._state[pci] = rnic_state
        return found

    # What comes of it

    def _judge_host(self, source: str, everything: bool = True) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        lives = self._host["symptoms"]
        for entry, definition in _judged_on(source, "host"):
            life = lives.get(entry.id, {})
            if not everything and not life:
                continue
            pci = life.get("pci") or self._device(definition)
            if life and pci != life.get("pci"):  # the first event that names the RNIC came after the symptom: that is news
                life = {**life, "pci": pci, "raised_on": life.get("pci", ""), "reported": 0}
            rnic_state = self._state.get(pci) if pci else None
            features = Features(rnic_state, self._host["events"], self._now_ms, None)
            subject = {"host": self._tags["host"], "pci": pci or "", "rack": self._tags.get("rack", "")}
            after, message = self._move(entry, definition, life, features, subject, rnic_state)
            if after:
                after["pci"] = pci or ""
                lives[entry.id] = after
            else:
                lives.pop(entry.id, None)
            self._host_changed = True
            found += message
        return found

    def _device(self, definition: Definition) -> str:
        """The RNIC that the events of a host's symptom name, if any does."""
        names = tuple(c.signal for c in definition.conditions if c.role == "required" and is_event(c.signal))
        longest = max(c.window_s for c in definition.conditions if c.signal in names)
        return events.device(self._host["events"], names, self._now_ms, longest)

    def _judge_rnic(self, rnic_state: RnicState, pci: str, source: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        lives = rnic_state.symptoms
        if not lives and rnic_state.transport is None and first_signs.none_may_begin(_rules(source), rnic_state, self._host["events"]):
            self._note_waiting(pci, False)
            return found
        features = Features(rnic_state, self._host["events"], self._now_ms, pci)
        subject = {"host": self._tags["host"], "pci": pci, "rack": self._tags.get("rack", "")}
        for entry, definition in _judged_on(source, "rnic"):
            life = lives.get(entry.id, {})
            if not life and (
                (isinstance(entry, Behaviour) and rnic_state.transport is None)  # its transport engine shows nothing, as most
                or not first_signs.may_begin(definition, rnic_state, self._host["events"], self._now_ms)
                or (entry.models and rnic_state.model not in entry.models)
            ):
                continue
            after, message = self._move(entry, definition, life, features, subject, rnic_state)
            if after:
                lives[entry.id] = after
            elif life:
                del lives[entry.id]
            if message:
                if message[0]["state"] == "cleared":
                    _note_end(rnic_state, entry.id, self._now_ms)
                found += message
        waits = bool(lives) and any(lives.get(entry.id, {}).get("phase") == Phase.RAISING for entry, _ in _judged_on(WAITING, "rnic"))
        self._note_waiting(pci, waits)
        return found

    def _note_waiting(self, pci: str, waits: bool) -> None:
        waiting = self._host.get("waiting", [])
        if waits != (pci in waiting):
            self._host["waiting"] = [*waiting, pci] if waits else [other for other in waiting if other != pci]
            self._host_changed = True

    def _held_off(self, definition: Definition, rnic_state: RnicState | None) -> bool:
        """Whether a symptom that explains this one is there, or was until just now."""
        for other, seconds in definition.not_with.items():
            of_host = self._host["symptoms"], self._host.get("ended")
            of_rnic = (rnic_state.symptoms, rnic_state.ended) if rnic_state is not None else ({}, None)
            for lives, all_ended in (of_host, of_rnic):
                if lives.get(other, {}).get("phase") in (Phase.ACTIVE, Phase.CLEARING):
                    return True
                ended = (all_ended or {}).get(other)
                if ended is not None and 0 <= self._now_ms - ended < seconds * 1000:
                    return True
        return False

    def _move(
        self,
        entry: Detected,
        definition: Definition,
        life: Life,
        features: Features,
        subject: finding_messages.Subject,
        rnic_state: RnicState | None,
    ) -> tuple[Life, list[dict[str, Any]]]:
        now = self._now_ms
        active = life.get("phase") in (Phase.ACTIVE, Phase.CLEARING)
        ever = rnic_state.ever if rnic_state is not None else NEVER
        verdict = judge(definition, features.of, active, ever.__contains__)
        if not active and verdict is Verdict.PRESENT and definition.not_with and self._held_off(definition, rnic_state):
            verdict = Verdict.ABSENT
        if not life and verdict is not Verdict.PRESENT:
            return life, []
        after, change = advance(life, definition, verdict, now)
        rnic = rnic_stage.identity(rnic_state) if rnic_state is not None and subject["pci"] else Identity()
        if change is Change.CLEARED:
            if definition.scope == "host":
                self._host.setdefault("ended", {})[entry.id] = now
            return after, [finding_messages.cleared(entry, subject, rnic, life, features, _message_time(life, now))]
        if change is Change.RAISED:
            after["started"] = min(after["started"], _began(definition, features, now))
        elif after.get("started") is None or now - after.get("reported", now) < finding_messages.REPEAT_MS:
            return after, []
        fading = after["phase"] == Phase.CLEARING
        at_ms = _message_time(after, now)
        message = finding_messages.active(entry, subject, rnic, after, features, at_ms, fading, rnic.model in profiles())
        violations.join(message, self._host.get("violations", {}), now)
        after["reported"] = now
        if "sent_ms" in after:
            after["sent_ms"] = at_ms
        return after, [message]


def _note_end(rnic_state: RnicState, symptom: str, at_ms: int) -> None:
    if rnic_state.ended is None:
        rnic_state.ended = {}
    rnic_state.ended[symptom] = at_ms


def _message_time(life: Life, now_ms: int) -> int:
    """The time of a finding's message: after that of the one before, also when the clock was set back in between."""
    return int(max(now_ms, life.get("sent_ms", -1) + 1))


def _began(definition: Definition, features: Features, now_ms: int) -> int:
    """When the first of the events happened that raise a symptom; signals of samples begin with the first sample that shows them."""
    times = [now_ms]
    for condition in definition.conditions:
        if condition.role == "required" and is_event(condition.signal):
            found = features.of(condition)
            if found is not None and found.value > 0 and condition.raise_.holds(found.value):
                times.append(found.from_ms)
    return min(times)
