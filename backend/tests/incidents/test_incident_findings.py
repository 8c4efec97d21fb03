"""Findings applied to a real database, poll by poll as the consumer does it: which incidents there are afterwards."""

import random
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import pytest

from wallwatch_backend.incidents.findings.message_batch import apply_all
from wallwatch_backend.incidents.findings.schemas import Finding
from wallwatch_backend.incidents.lifecycle.worker import IncidentWorker
from wallwatch_backend.incidents.listing import service
from wallwatch_backend.incidents.listing.filters import ListQuery
from wallwatch_backend.incidents.schemas import Incident
from wallwatch_backend.kit.database import Database
from wallwatch_backend.remedies import wiring
from wallwatch_backend.settings import Settings

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
REOPEN = timedelta(minutes=10)
PCI = "0000:3b:00.0"
_hosts = count(1)


@pytest.fixture
async def database(backend_url: str) -> AsyncIterator[Database]:
    wiring.connect()
    database = Database(Settings(database_url=backend_url))
    yield database
    await database.dispose()


@pytest.fixture
def host() -> str:
    """A host of this test's own."""
    return f"own{next(_hosts)}"


def message(symptom: str, host: str, *, at: float = 0, after_s: float = 0, cause: str | None = "C5", **more: Any) -> Finding:
    """A finding that began `at` seconds after noon, sent `after_s` later."""
    started = NOON + timedelta(seconds=at)
    pci = more.pop("pci", PCI)
    evidence = {"signal": "x", "label": "X", "unit": "", "value": after_s, "expected": "< 1", "text": "It was seen."}
    ranked = {"cause": cause, "title": "", "prior": 0.1, "posterior": 0.8, "evidence_for": [evidence], "evidence_against": []}
    body = {
        "finding_id": uuid5(NAMESPACE_URL, f"{host}|{pci}|{symptom}|{started}"),
        "host": host,
        "pci": pci,
        "rack": f"rack of {host}",
        "symptom": symptom,
        "state": "active",
        "started_at": started,
        "at": started + timedelta(seconds=after_s),
        "severity": "warning",
        "blast_radius": "host" if not pci else "rnic",
        "rule": f"{symptom}/1",
        "title": f"{symptom} itself",
        "summary": f"{symptom} was seen.",
        "explanation": f"Two sentences. About {symptom}.",
        "evidence": [evidence],
        "hypotheses": [ranked] if cause is not None else [],
        "remedies": [],
    }
    return Finding.model_validate(body | more)


def end(finding: Finding, after_s: float) -> Finding:
    return finding.model_copy(update={"state": "cleared", "at": finding.started_at + timedelta(seconds=after_s), "hypotheses": []})


async def applied(database: Database, *messages: Finding) -> list[str]:
    """Apply them as one poll of the topic."""
    return [str(outcome) for outcome in await apply_all(database, messages, REOPEN)]


async def incidents(database: Database, host: str, **chosen: Any) -> list[Incident]:
    """Those of a host, oldest first, merged ones left out."""
    async with database.read() as session:
        page = await service.list_incidents(session, ListQuery(host=host, order="asc", **chosen))
        return [await service.get_incident(session, one.id) for one in page.items]


async def the_one(database: Database, host: str) -> Incident:
    found = await incidents(database, host)
    assert len(found) == 1, [(i.symptoms, i.state) for i in found]
    return found[0]


async def test_late_counters_are_one_incident_of_two_symptoms(database: Database, host: str) -> None:
    assert await applied(database, message("S1", host), message("S5", host, at=20)) == ["opened", "joined"]
    incident = await the_one(database, host)
    assert (incident.symptom, incident.symptoms, incident.scope, incident.subject) == ("S1", ["S1", "S5"], "rnic", f"{host} {PCI}")
    assert [f.symptom for f in incident.findings] == ["S1", "S5"]
    assert [e.kind for e in incident.timeline] == ["opened", "symptom"]
    assert incident.timeline[1].text.endswith("Grouped here: the same cause C5 on the same host.")
    sentences = incident.explanation.split(". ")
    assert sentences[0] == f"S1 itself on {host} {PCI} since {incident.opened_at:%Y-%m-%d %H:%M:%S} UTC"
    assert sentences[1].startswith("S1 (S1 itself) was present from")
    assert sentences[2].startswith("S5 (S5 itself) was present from")
    assert incident.explanation.endswith(" Two sentences. About S1.")


async def test_an_incident_clears_with_the_last_of_its_symptoms(database: Database, host: str) -> None:
    first, second = message("S1", host), message("S5", host, at=20)
    await applied(database, first, second, end(first, 60))
    half = await the_one(database, host)
    assert (half.active, half.cleared_at, half.symptom) == (True, None, "S5")
    await applied(database, end(second, 100))
    over = await the_one(database, host)
    assert (over.state, over.active, over.cleared_at) == ("open", False, NOON + timedelta(seconds=120))
    assert over.symptom == "S1", "what began first leads again"
    assert [half.title, over.title] == ["S1 itself"] * 2, "people quote the title, so it stays"
    assert over.explanation.startswith(
        f"S1 itself on {host} {PCI} from {over.opened_at:%Y-%m-%d %H:%M:%S} UTC to {over.cleared_at:%Y-%m-%d %H:%M:%S} UTC (2 min)."
    )


async def test_an_incident_that_ended_tells_every_time_of_a_symptom_its_cause_and_its_resolution(database: Database, host: str) -> None:
    first, again = message("S1", host), message("S1", host, at=700)
    await applied(database, first, end(first, 20), again, end(again, 60))
    incident = await the_one(database, host)
    start, last = incident.opened_at, incident.cleared_at
    assert last is not None
    assert incident.explanation == (
        f"S1 itself on {host} {PCI} from {start:%Y-%m-%d %H:%M:%S} UTC to {last:%Y-%m-%d %H:%M:%S} UTC (12 min). "
        f"S1 (S1 itself) was present 2 times, first from {start:%Y-%m-%d %H:%M:%S} UTC, last until {last:%Y-%m-%d %H:%M:%S} UTC. "
        "The most likely cause was C5 (; 80%)."
    )


async def test_an_incident_of_a_host_gets_the_rnic_that_a_later_event_names(database: Database, host: str) -> None:
    nameless = message("S2", host, pci="", cause="C2")
    named = nameless.model_copy(update={"pci": PCI, "model": "CX-6", "at": nameless.at + timedelta(seconds=20)})
    again = named.model_copy(update={"at": nameless.at + timedelta(seconds=35)})
    fading = again.model_copy(update={"pci": "", "model": "", "at": nameless.at + timedelta(seconds=50)})
    await applied(database, nameless)
    assert (await the_one(database, host)).subject == host
    assert await applied(database, named) == ["refreshed"]
    assert await applied(database, again, fading) == ["refreshed", "refreshed"]
    incident = await the_one(database, host)
    assert (incident.pci, incident.model, incident.findings[0].pci) == (PCI, "CX-6", PCI)
    assert [e.text for e in incident.timeline if e.kind == "updated"] == [f"The RNIC is {PCI}."]


def tuned(value: int, derivation: str) -> dict[str, Any]:
    return {"action": "tune-revalidator", "params": {"max_idle_ms": value}, "why": "w", "derivations": {"max_idle_ms": derivation}}


def cordon(pci: str = PCI) -> dict[str, Any]:
    return {"action": "cordon-rnic", "params": {"pci": pci, "reason": "r"}, "why": "w"}


async def test_a_recommended_value_stays_as_it_was_derived_when_the_incident_opened(database: Database, host: str) -> None:
    first = message("S1", host, remedies=[tuned(160_000, "longest gap 80 s x 2"), cordon()])
    later = message("S1", host, after_s=60, cause="C1", remedies=[tuned(180_000, "longest gap 90 s x 2"), cordon()])
    s5 = message("S5", host, at=20, remedies=[tuned(90_000, "present max-idle 30,000 ms x 3"), cordon()])
    await applied(database, first, later, s5)
    incident = await the_one(database, host)
    [tune, contain] = incident.remedies
    assert (tune.params, tune.derivations) == ({"max_idle_ms": 160_000}, {"max_idle_ms": "longest gap 80 s x 2"})
    assert tune.derived_at is not None
    assert tune.newest is not None
    assert (tune.newest.params, tune.newest.derivations) == ({"max_idle_ms": 180_000}, {"max_idle_ms": "longest gap 90 s x 2"})
    assert (contain.derived_at, contain.newest) == (None, None), "nothing of a cordon is measured"


async def test_the_remedies_of_all_symptoms_are_offered_once_and_the_cordon_last(database: Database, host: str) -> None:
    unbinding = {"action": "pace-vf-unbinding", "params": {"pci": PCI, "interval_ms": 2000}, "why": "w"}
    await applied(
        database, message("S5", host, remedies=[cordon()]), message("S1", host, at=20, remedies=[cordon(), unbinding, tuned(1, "")])
    )
    incident = await the_one(database, host)
    assert [each.action for each in incident.remedies] == ["tune-revalidator", "pace-vf-unbinding", "cordon-rnic"]


async def test_what_a_cleared_symptom_suggested_is_not_offered_beside_the_active_one(database: Database, host: str) -> None:
    s1 = message("S1", host, remedies=[tuned(1, "")])
    await applied(database, s1, message("S5", host, at=20, remedies=[cordon()]), end(s1, 60))
    assert [each.action for each in (await the_one(database, host)).remedies] == ["cordon-rnic"]


async def test_a_cleared_finding_describes_its_end_and_keeps_its_causes(database: Database, host: str) -> None:
    s1 = message("S1", host)
    fading = message("S1", host, after_s=15, summary="S1 is fading.", explanation="It fades.")
    over = end(s1, 60).model_copy(update={"summary": "S1 has ended.", "explanation": "It was there for a minute."})
    await applied(database, s1, fading, over)
    incident = await the_one(database, host)
    assert incident.summary == "S1 has ended."
    assert incident.findings[0].explanation == "It was there for a minute."
    assert [h.cause for h in incident.hypotheses] == ["C5"]


async def test_a_symptom_that_returns_in_the_hold_time_continues_its_incident(database: Database, host: str) -> None:
    first = message("S1", host)
    await applied(database, first, end(first, 20), message("S1", host, at=700))
    incident = await the_one(database, host)
    assert (incident.state, incident.active, incident.cleared_at, incident.reopened) == ("open", True, None, 0)
    assert [e.kind for e in incident.timeline] == ["opened", "cleared", "symptom"]
    assert "recurred" in incident.timeline[2].text


async def test_the_hold_time_is_counted_in_event_time(database: Database, host: str) -> None:
    first = message("S1", host)
    await applied(database, first, end(first, 20))
    worker = IncidentWorker(database, Settings(incident_hold_s=900))
    assert await worker.resolve_cleared() >= 1, "noon of that day is long ago"
    incident = await the_one(database, host)
    assert (incident.state, incident.resolved_by) == ("resolved", "wallwatch")
    assert incident.resolved_at == NOON + timedelta(seconds=920)
    assert await worker.resolve_cleared() == 0
    recent = datetime.now(UTC) - timedelta(seconds=800)
    young = message("S1", f"{host}b", at=(recent - NOON).total_seconds())
    await applied(database, young, end(young, 1))
    assert await worker.resolve_cleared() == 0, "it has been over for less than the hold time"


async def test_a_crashed_host_absorbs_its_rnics_without_notifications(database: Database, host: str) -> None:
    before = message("S6", host, at=-30, cause="C6")
    crash = message("S3", host, pci="", cause="C3", severity="critical")
    after = message("S1", host, pci="0000:5e:00.0", at=60)
    assert await applied(database, before, crash, after) == ["opened", "joined", "joined"]
    incident = await the_one(database, host)
    assert (incident.symptom, incident.scope, incident.subject, incident.severity) == ("S3", "host", host, "critical")
    assert (incident.pci, incident.rnics) == ("", 2)
    assert {f.symptom: f.inhibited for f in incident.findings} == {"S3": False, "S6": False, "S1": True}
    assert incident.timeline[-1].text.endswith("Grouped here: The host crashed."), "with one full stop"


async def test_a_silent_host_leads_until_a_crash_explains_it(database: Database, host: str) -> None:
    silent = message("silent", host, pci="", cause=None)
    await applied(database, silent)
    assert (await the_one(database, host)).symptom == "silent"
    await applied(database, message("S3", host, pci="", cause="C3", at=100))
    assert (await the_one(database, host)).symptom == "S3"


async def test_deleted_live_flows_lead_before_the_slow_deletions_that_they_cause(database: Database, host: str) -> None:
    slow, live = message("S4", host, cause="C4"), message("S1", host, cause="C5", at=20)
    assert await applied(database, slow, live) == ["opened", "joined"]
    assert (await the_one(database, host)).symptom == "S1"
    await applied(database, end(live, 300))
    assert (await the_one(database, host)).symptom == "S4", "a cleared symptom is no evidence for an active one"


async def test_three_hosts_of_a_rack_become_one_incident_and_the_others_point_to_it(database: Database, host: str) -> None:
    names = [f"{host}{letter}" for letter in "abc"]
    await applied(database, *(message("S1", name, at=i, rack="r7") for i, name in enumerate(names[:2])))
    second = await the_one(database, names[1])
    await applied(database, message("S1", names[2], at=200, rack="r7"))
    incident = await the_one(database, names[0])
    assert (incident.scope, incident.subject, incident.hosts, incident.rnics) == ("rack", "rack r7 (3 hosts)", names, 3)
    assert incident.merged == [second.id]
    async with database.read() as session:
        merged = await service.get_incident(session, second.id)
        changes = await service.changes_since(session, second.seq, 100)
    assert (merged.merged_into, merged.state, merged.resolved_by) == (incident.id, "resolved", "wallwatch")
    assert {second.id, incident.id} <= {one.id for one in changes.items}
    seen = [entry.data.get("incident_id") for entry in incident.timeline if entry.kind == "merged"]
    assert str(second.id) in seen
    assert not [entry.text for entry in [*incident.timeline, *merged.timeline] if entry.text.endswith("..")]


async def test_a_firmware_over_racks_is_one_incident_of_the_fleet(database: Database, host: str) -> None:
    names = [f"{host}{letter}" for letter in "abcd"]
    await applied(database, *(message("S1", n, at=i * 60, fw_ver="20.35", model="CX-6") for i, n in enumerate(names)))
    incident = await the_one(database, names[3])
    assert (incident.scope, incident.subject) == ("fleet", "firmware 20.35 of CX-6 (4 hosts)")


async def test_a_cause_that_is_seen_later_groups_what_was_apart(database: Database, host: str) -> None:
    unsure = message("S6", host, cause="C6")
    await applied(database, message("S1", host), unsure)
    assert len(await incidents(database, host)) == 2
    sure = message("S6", host, cause="C5", after_s=15)
    assert await applied(database, sure) == ["refreshed"]
    assert (await the_one(database, host)).symptoms == ["S1", "S6"]


async def test_fresher_evidence_is_kept_and_is_no_change(database: Database, host: str) -> None:
    await applied(database, message("S1", host))
    before = await the_one(database, host)
    await applied(database, message("S1", host, after_s=15), message("S1", host, after_s=30, hypotheses=[]))
    after = await the_one(database, host)
    assert (after.version, after.seq, after.updated_at) == (before.version, before.seq, before.updated_at)
    assert after.evidence[0].value == 30
    assert [h.cause for h in after.hypotheses] == ["C5"], "an empty ranking says nothing new"


async def test_repetitions_in_one_poll_each_keep_their_newest_evidence_and_words(database: Database, host: str) -> None:
    pcis = [f"0000:{slot}:00.0" for slot in ("17", "3b", "5e")]
    await applied(database, *(message("S6", host, pci=pci, cause=None) for pci in pcis))
    poll = [message("S6", host, pci=pci, cause=None, after_s=s, summary=f"At {s} s.", remedies=[]) for s in (15, 30) for pci in pcis]
    assert await applied(database, *poll) == ["refreshed"] * 6
    for incident in await incidents(database, host):
        assert (incident.summary, incident.findings[0].summary, incident.evidence[0].value) == ("At 30 s.", "At 30 s.", 30)


async def test_a_repetition_that_the_database_refuses_takes_no_other_with_it(database: Database, host: str) -> None:
    good, bad = message("S6", host), message("S6", host, pci="0000:17:00.0", cause="C6")
    await applied(database, good, bad)
    nul = [evidence.model_copy(update={"text": "\x00"}) for evidence in bad.evidence]
    poll = (bad.model_copy(update={"at": bad.at + timedelta(seconds=15), "evidence": nul}), message("S6", host, after_s=15))
    refused, refreshed = await applied(database, *poll)
    assert refused.startswith("the database rejected it: ")
    assert refreshed == "refreshed"
    assert [i.evidence[0].value for i in await incidents(database, host, pci=PCI)] == [15]


async def test_in_one_poll_nothing_of_a_finding_overtakes_its_news(database: Database, host: str) -> None:
    s1 = message("S1", host)
    await applied(database, s1)
    poll = (
        message("S1", host, after_s=15),
        message("S1", host, after_s=30, severity="critical"),
        message("S1", host, after_s=45),
        end(s1, 60),
    )
    assert await applied(database, *poll) == ["refreshed", "refreshed", "refreshed", "cleared"]
    incident = await the_one(database, host)
    assert [e.text for e in incident.timeline if e.kind == "updated"] == [
        "Severity changed from warning to critical.",
        "Severity changed from critical to warning.",
    ]


async def test_a_restart_that_loses_the_beginning_of_a_finding_continues_the_incident(database: Database, host: str) -> None:
    old, restarted = message("S1", host), message("S1", host, at=45)
    await applied(database, old, restarted, end(restarted, 30))
    incident = await the_one(database, host)
    assert not incident.active, "the finding whose end never comes must not keep it open"
    assert await applied(database, message("S1", host, after_s=100)) == ["repeated"]


async def test_text_and_numbers_that_are_new_or_missing_are_taken(database: Database, host: str) -> None:
    old_form = message("S1", host).model_dump(mode="json", by_alias=True, exclude={"model", "driver", "fw_ver", "explanation"})
    await applied(database, Finding.model_validate({**old_form, "rack": None, "something": "new"}))
    incident = await the_one(database, host)
    assert (incident.rack, incident.model, incident.findings[0].explanation) == (None, None, "")


def story(host: str) -> list[Finding]:
    """What a bad hour of one host looks like on the topic."""
    s1, s5, s6 = message("S1", host), message("S5", host, at=30), message("S6", host, at=90, cause="C6")
    crash = message("S3", host, at=150, pci="", cause="C3")
    after = message("S8", host, at=200, cause="C8")
    return [
        s1, message("S1", host, after_s=15), s5, message("S1", host, after_s=45, severity="critical"), end(s5, 40), s6,
        message("S6", host, at=90, cause="C6", after_s=15), end(s1, 120), crash, after, end(after, 60), end(s6, 200), end(crash, 300),
    ]  # fmt: skip


def what_there_is(found: list[Incident]) -> list[tuple[Any, ...]]:
    return [(i.symptoms, i.state, i.active, i.severity, i.scope, i.cleared_at, len(i.timeline)) for i in found]


@pytest.mark.parametrize("seed", range(6))
async def test_messages_that_come_twice_and_late_create_no_second_incident(database: Database, host: str, seed: int) -> None:
    random_ = random.Random(seed)
    expected_host = f"{host}x"
    for one in story(expected_host):
        await applied(database, one)
    expected = what_there_is(await incidents(database, expected_host))
    # Kafka repeats a stretch from the last committed offset on; it never reorders a host's messages.
    sent: list[Finding] = []
    for one in story(host):
        sent.append(one)
        if random_.random() < 0.4:
            sent += sent[-random_.randrange(1, len(sent) + 1) :]
    sent += story(host)
    while sent:
        poll = random_.randrange(1, 8)
        await applied(database, *sent[:poll])
        del sent[:poll]
    assert what_there_is(await incidents(database, host)) == expected
