"""A symptom that is not judged because nothing shows its sign would not have begun: with and without signs, the findings are the same."""

from collections.abc import Iterator
from typing import Any
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wallwatch.domain.catalogue.load import detected
from wallwatch.domain.symptoms import first_signs
from wallwatch.domain.symptoms.host_stage import Message, step
from wallwatch_testing.stage_states import plain, read_again
from wallwatch_testing.stories import PCI, datapath, event, offload, port

SHOWN: dict[str, list[Any]] = {
    "reoffload_ratio": [0.0, 0.1, 0.15, 0.9], "reoffloads_per_s": [0.0, 1.0, 36.0], "flows_offloaded": [3000, 13_500],
    "flow_insertions_per_s": [0.0, 5.0, 40.0], "flow_deletions_per_s": [0.0, 5.0, 220.0], "flows_overdue": [0, 900],
    "software_packets_per_s": [0.0, 199.9, 299.9, 300.0, 5e4], "packets_per_s": [50.0, 1e5], "q_egress": [1.0, 40.0, 120.0],
    "q_ingress": [1.0, 60.0],
}  # fmt: skip
"""Fields with values on both sides of the catalogue's bounds, some just below."""
COUNTED: dict[str, list[Any]] = {
    "out_of_sequence": [0, 10, 5_000], "pci_link_width": [16, 8], "admin_state": ["up", "down"], "port_state": ["ACTIVE", "DOWN"],
    "aer_fatal": [0, 1],
}  # fmt: skip
KINDS = ["pcie_link_down", "tx_timeout", "command_timeout", "host_booted", "vf_unbound", "soft_lockup"]


def some_of(values: dict[str, list[Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional={name: st.sampled_from(found) for name, found in values.items()})


MOST_PHASES = 5
"""Within a phase of a story each sample has the same odd values, so that symptoms have the time to begin."""


@st.composite
def stories(draw: st.DrawFn) -> list[Message]:
    every_s = draw(st.sampled_from([1, 5, 10]))
    phases = draw(st.lists(st.tuples(some_of(SHOWN), some_of(COUNTED), st.integers(20, 400)), min_size=2, max_size=MOST_PHASES))
    messages: list[Message] = []
    count = 0
    for number, (shown, counted, dump_ms) in enumerate(phases):
        for second in range(number * 60, number * 60 + 60, every_s):
            count += counted.get("out_of_sequence", 0) * every_s
            moving = {**counted, "out_of_sequence": count}
            messages += [
                port(second, moving),
                offload(second, shown),
                datapath(second, {"dump_duration_ms": float(dump_ms), "flows": 13_500}),
            ]
        if draw(st.booleans()):
            messages.append(event(number * 60 + draw(st.integers(0, 59)), draw(st.sampled_from(KINDS)), draw(st.sampled_from([PCI, ""]))))
    swaps = draw(st.lists(st.integers(0, len(messages) - 2), max_size=6))
    for place in swaps:  # out of order
        messages[place], messages[place + 1] = messages[place + 1], messages[place]
    if draw(st.booleans()):  # the clock goes back
        messages += [one._replace(at_ns=one.at_ns - draw(st.sampled_from([20, 600])) * 10**9) for one in messages[-60:]]
    return messages


def outcome(messages: list[Message], state: Any = None) -> tuple[list[dict[str, Any]], Any]:
    found: list[dict[str, Any]] = []
    for message in messages:
        state, findings = step(state, message)
        found += findings
    return found, state


def kept_after(messages: list[Message]) -> tuple[list[dict[str, Any]], Any]:
    """Findings, and what is kept, to be compared."""
    found, state = outcome(messages)
    return found, plain(state)


@settings(max_examples=12, deadline=None)
@given(stories())
def test_findings_and_states_are_those_of_judging_every_symptom_for_every_sample(messages: list[Message]) -> None:
    found = kept_after(messages)
    with (
        mock.patch.object(first_signs, "may_begin", return_value=True),
        mock.patch.object(first_signs, "none_may_begin", return_value=False),
    ):
        assert kept_after(messages) == found


def s1() -> Iterator[Message]:
    sick = {"flows_offloaded": 7300, "flow_insertions_per_s": 40.0, "reoffloads_per_s": 36.0, "reoffload_ratio": 0.9}
    for second in range(0, 120, 10):
        yield from (port(second), offload(second, sick if second >= 60 else {}))


@pytest.mark.parametrize("former", ["without", "with other signs"])
@pytest.mark.parametrize("second", [70, 80, 90])
def test_a_former_version_s_state_is_judged_whole(second: int, former: str) -> None:
    """Its windows may show what it did not note."""
    story = list(s1())
    before = [one for one in story if one.at_ns < story[0].at_ns + second * 10**9]
    findings, state = outcome(before)
    parts = plain(state)
    if former == "without":
        del parts[PCI]["signs"]
    else:
        parts[PCI]["signs"] = [0, {}]
    later, _ = outcome(story[len(before) :], read_again(parts))
    assert findings + later == outcome(story)[0]
    assert any(one["symptom"] == "S1" for one in later)


def test_a_sign_is_forgotten_with_the_window() -> None:
    _, state = outcome([*s1()])
    assert state[PCI].shown
    _, state = outcome([offload(second) for second in range(120, 200, 10)], state)
    assert state[PCI].shown is None


def test_each_symptom_of_rnics_that_is_judged_without_transport_signals_has_a_sign() -> None:
    """Not having one is right, and slow: the windows of every RNIC are looked at for every sample."""
    signs = first_signs._signs_of()
    without = {
        id for id, one in detected().items() if one.definition and one.definition.scope == "rnic" and one.definition.rule not in signs
    }
    assert {id for id in without if not id.startswith("B")} == set()
