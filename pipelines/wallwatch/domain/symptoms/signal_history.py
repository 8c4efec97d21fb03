"""What the stage saw of one RNIC's signals, over time: the stage itself runs over the stored messages of the host once more."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from wallwatch.domain.catalogue.load import detected
from wallwatch.domain.catalogue.models import Condition, Statistic
from wallwatch.domain.symptoms.features import Features
from wallwatch.domain.symptoms.host_stage import HOST, Message, State, step

WARM_UP_S = 1800
"""Messages that are read before the time that is asked for, so that windows and baselines are filled by then. A baseline that the stage
learnt earlier may still differ."""


@dataclass(frozen=True, slots=True)
class SignalHistory:
    """One signal as the stage judged it: at each of `times_ms` its statistic over the window that ended then."""

    signal: str
    window_s: int
    statistic: Statistic
    times_ms: list[int]
    values: list[float]


def conditions_of(symptom: str) -> tuple[Condition, ...]:
    """The conditions of a symptom's definitions, each signal once: the first, as in the evidence of a finding.

    >>> [(each.signal, each.window_s, each.statistic) for each in conditions_of("S7")][0]
    ('pcie_losses', 60, 'count')
    """
    found: dict[str, Condition] = {}
    for entry in detected().values():
        if entry.reported_as == symptom and entry.definition is not None:
            for condition in entry.definition.conditions:
                found.setdefault(condition.signal, condition)
    return tuple(found.values())


def signal_history(messages: Iterable[Message], pci: str, conditions: Sequence[Condition], from_ms: int) -> list[SignalHistory]:
    """The signals of one RNIC at each of its own samples.

    Parameters
    ----------
    messages : iterable of Message
        All messages of the host in the order of their times, from `WARM_UP_S` before `from_ms` on: what an RNIC's deletions cost, for one,
        follows from those of its neighbours.
    pci : str
        The RNIC.
    conditions : sequence
        The signals, each with its window and statistic.
    from_ms : int
        Earlier values are left out, ms since 1970.

    Returns
    -------
    list of SignalHistory
        One for each of `conditions`, in that order; empty where the signal was not measured.
    """
    state: State = {}
    histories = [SignalHistory(each.signal, each.window_s, each.statistic, [], []) for each in conditions]
    for message in messages:
        state, _ = step(state, message)
        at_ms = message.at_ns // 1_000_000
        rnic_state = state.get(pci)
        if message.tags.get("pci") != pci or message.measurement == "event" or rnic_state is None or at_ms < from_ms:
            continue
        features = Features(rnic_state, state[HOST]["events"], at_ms, pci)
        for each, history in zip(conditions, histories, strict=True):
            found = features.of(each)
            if found is None or found.to_ms < from_ms:
                continue
            if history.times_ms and at_ms <= history.times_ms[-1]:
                history.values[-1] = found.value
                continue
            history.times_ms.append(at_ms)
            history.values.append(found.value)
    return histories
