"""The classifier on recordings made on the spot: each symptom with its cause, near misses without a word, restarts without a trace."""

import random
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.evaluation.draw import Drawn
from tests.evaluation.record import record
from tests.evaluation.scoring.match import SYMPTOMS
from tests.evaluation.scoring.replay import LATEST_NS, replay
from tests.evaluation.scoring.run import evaluate

from wallwatch.domain.symptoms.host_stage import step
from wallwatch.domain.telemetry.decode import decode_message
from wallwatch.jobs.host_state import packed, unpacked
from wallwatch_local.hosts import SCENARIOS
from wallwatch_local.paths import binary
from wallwatch_testing.stage_states import plain, read_again

pytestmark = pytest.mark.integration

COMMIT_EVERY = 500
"""Messages between two commits of the offsets and the state."""


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Folders of the recordings."""
    parent = tmp_path_factory.mktemp("recordings")
    wanted = [
        Drawn("each-symptom", (Path(__file__).parent / "each_symptom.yaml").read_text(), 200, 10),
        Drawn("near-misses", (Path(__file__).parent / "near_misses.yaml").read_text(), 240, 10),
        Drawn("bad-without-a-symptom", (SCENARIOS / "lossy-transceiver.yaml").read_text(), 480, 10),
    ]
    for drawn in wanted:
        record(binary("fleetsim"), drawn, parent / drawn.name)
    return {drawn.name: parent / drawn.name for drawn in wanted}


@pytest.fixture(scope="session")
def lines(recorded: dict[str, Path]) -> list[bytes]:
    """The telemetry in which everything happens."""
    from wallwatch.recordings import load

    return list(load(recorded["each-symptom"]).lines())


def test_each_symptom_is_found_on_its_rnic_with_the_right_cause_first(recorded: dict[str, Path]) -> None:
    result = evaluate(recorded["each-symptom"])
    asked = {one.truth.symptom: one for one in result.judged if one.truth.symptom == f"S{int(one.truth.host[-2:])}"}
    assert sorted(asked) == sorted(SYMPTOMS)
    assert {symptom: one.outcome for symptom, one in asked.items()} == dict.fromkeys(asked, "found")
    assert {symptom: one.ranking[0] for symptom, one in asked.items()} == {symptom: one.truth.cause for symptom, one in asked.items()}
    assert [(one.symptom, one.host, one.pci) for one in result.false] == []
    assert not result.problems


def test_a_bad_card_without_a_symptom_is_unexplained_and_nothing_else(recorded: dict[str, Path]) -> None:
    result = evaluate(recorded["bad-without-a-symptom"])
    assert result.judged == [], "the fault has become a symptom"
    assert [(one.symptom, one.host, one.pci) for one in result.false] == [("unexplained", "host01", "0000:17:00.0")]
    delay_s = (result.false[0].episodes[0].raised_ms - result.start_ms) / 1000 - 330
    assert 0 < delay_s <= 90


def test_near_misses_are_not_reported(recorded: dict[str, Path]) -> None:
    result = evaluate(recorded["near-misses"])
    assert [one.truth for one in result.judged if one.outcome != "marginal"] == [], "the scenario is no near miss any more"
    findings = [(one.symptom, one.host, one.pci, one.episodes[0].summary) for one in result.false]
    assert findings == []
    assert result.messages > 1000


def changes(findings: Iterable[dict[str, Any]]) -> list[tuple[str, str]]:
    """First message of each state of each finding, in order: what reaches an operator."""
    found: dict[tuple[str, str], None] = {}
    for one in findings:
        found.setdefault((one["finding_id"], one["state"]))
    return list(found)


def classified(lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    """All findings of the hosts, without interruption."""
    states: dict[str, Any] = {}
    for line in lines:
        message = decode_message(line, LATEST_NS)
        host = message.tags["host"]
        states[host], found = step(states.get(host), message)
        yield from found


def interrupted(lines: Sequence[bytes], stops: set[int]) -> Iterator[dict[str, Any]]:
    """As a job that is killed: it begins again with the state and the offset of its last commit, so messages come once more."""
    states: dict[str, Any] = {}
    committed, at = (0, packed({})), 0
    while at < len(lines):
        if at % COMMIT_EVERY == 0:
            committed = (at, packed({host: plain(state) for host, state in states.items()}))
        if at in stops:
            stops = stops - {at}
            at, states = committed[0], {host: read_again(parts) for host, parts in unpacked(committed[1]).items()}
        message = decode_message(lines[at], LATEST_NS)
        host = message.tags["host"]
        states[host], found = step(states.get(host), message)
        yield from found
        at += 1


def test_a_job_that_is_killed_and_goes_on_says_the_same(lines: list[bytes]) -> None:
    rng = random.Random(1)
    expected = changes(classified(lines))
    assert len(expected) >= len(SYMPTOMS)
    assert changes(interrupted(lines, set(rng.sample(range(len(lines)), 12)))) == expected


def test_messages_that_come_twice_change_nothing(lines: list[bytes]) -> None:
    twice = [line for line in lines for _ in range(2)]
    assert changes(classified(twice)) == changes(classified(lines))


def test_a_stretch_that_is_sent_again_by_a_collectors_buffer_opens_nothing_new(lines: list[bytes]) -> None:
    middle = len(lines) // 2
    again = [*lines[: middle + 400], *lines[middle:]]
    assert {one.finding_id for one in replay(again).episodes} == {one.finding_id for one in replay(lines).episodes}
