"""The history of signals is what the findings had as evidence."""

from itertools import chain

import pytest

from wallwatch.domain.symptoms.signal_history import conditions_of, signal_history
from wallwatch_testing.stories import LARGE, PCI, START_MS, at_ns, churn, detect, event, healthy, offload, second_of

SLOW_DELETIONS = list(churn(162 + 110 * 2.0))


def test_it_has_the_very_values_that_the_findings_had_as_evidence() -> None:
    finding = next(each for each in detect(SLOW_DELETIONS) if each["symptom"] == "S4")
    at_ms = START_MS + round(second_of(finding) * 1000)
    histories = {each.signal: each for each in signal_history(SLOW_DELETIONS, PCI, conditions_of("S4"), START_MS)}
    shown = {each["signal"]: each["value"] for each in finding["evidence"]}
    assert {"deletion_share", "deletion_load"} <= shown.keys()
    seen = {signal: histories[signal].values[histories[signal].times_ms.index(at_ms)] for signal in shown}
    assert seen == pytest.approx(shown, rel=1e-5)


def test_the_time_before_is_read_and_not_shown() -> None:
    from_ms = START_MS + 150_000
    for history in signal_history(SLOW_DELETIONS, PCI, conditions_of("S4"), from_ms):
        assert all(at_ms >= from_ms for at_ms in history.times_ms)
    whole, later = (signal_history(SLOW_DELETIONS, PCI, conditions_of("S4"), since)[0] for since in (START_MS, from_ms))
    assert later.values == whole.values[-len(later.values) :] != []


def test_times_rise_by_one_value_each_though_several_samples_come_at_once() -> None:
    for history in signal_history(SLOW_DELETIONS, PCI, conditions_of("S4"), START_MS):
        assert history.times_ms == sorted(set(history.times_ms))
        assert len(history.values) == len(history.times_ms)


def test_a_signal_of_events_counts_those_of_its_window() -> None:
    messages = sorted(chain(healthy(range(0, 200, 10)), [event(65, "pcie_link_down")]), key=lambda message: message.at_ns)
    losses = next(each for each in signal_history(messages, PCI, conditions_of("S7"), START_MS) if each.signal == "pcie_losses")
    seen = dict(zip(losses.times_ms, losses.values, strict=True))
    assert (seen[START_MS + 60_000], seen[START_MS + 70_000], seen[START_MS + 140_000]) == (0, 1, 0)


def test_another_rnic_and_a_signal_that_nobody_measured_have_no_values() -> None:
    alone = [message for message in SLOW_DELETIONS if message.measurement == "rnic"]
    assert all(history.values == [] for history in signal_history(SLOW_DELETIONS, "0000:af:00.0", conditions_of("S4"), START_MS))
    assert all(history.values == [] for history in signal_history(alone, PCI, conditions_of("S4"), START_MS))


def test_neighbours_count_as_they_did_for_the_finding() -> None:
    neighbour = [offload((each.at_ns - at_ns(0)) / 1e9, LARGE, pci="0000:af:00.0") for each in SLOW_DELETIONS if each.measurement == "rnic"]
    both = sorted(SLOW_DELETIONS + neighbour, key=lambda message: message.at_ns)
    alone, shared = (
        next(each for each in signal_history(messages, PCI, conditions_of("S4"), START_MS) if each.signal == "deletion_load").values[-1]
        for messages in (SLOW_DELETIONS, both)
    )
    assert shared == pytest.approx(alone / 2, rel=0.2)
