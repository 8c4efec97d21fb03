"""What holds remedies back: a second person, the emergency stop, limits, circuit breakers."""

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack, closing
from functools import partial
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from wallwatch_backend.kit.database import Database
from wallwatch_backend.remedies.orders import approval

PCI = "0000:3b:00.0"


@pytest.fixture(scope="module")
def backend_settings() -> dict[str, object]:
    return {
        "command_ttl_s": 30,
        "remedy_watch_s": 0.1,
        "remedy_always_hosts": 3,
        "remedy_max_fleet_percent": 1,
        "remedy_max_racks": 2,
        "remedy_breaker_failures": 2,
    }


@pytest.fixture(autouse=True)
def nothing_under_way(backend: Any) -> Iterator[None]:
    yield
    backend.clear("remedy", "remedy_stop", "remedy_breaker_reset")


@pytest.fixture
def agents(fake_agents: Any, admin: httpx.Client, anonymous: httpx.Client) -> Iterator[list[Any]]:
    """Five hosts whose agents carry out every command."""
    with ExitStack() as stack:
        yield [stack.enter_context(fake_agents.enrol(admin, anonymous, f"host-{uuid4().hex[:8]}")) for _ in range(5)]


def order(client: httpx.Client, host: str, action: str = "tune-revalidator", **more: Any) -> httpx.Response:
    params = {"tune-revalidator": {"max_idle_ms": 60000}, "recover-health-reporter": {"reporter": "fw_fatal"}}[action]
    return client.post("/api/v1/remedies", json={"action": action, "host": host, "pci": PCI, "params": params, "mode": "apply", **more})


def recover(client: httpx.Client, host: str) -> dict[str, Any]:
    """Request a high-risk action."""
    answer = order(client, host, "recover-health-reporter")
    assert answer.status_code == 201, answer.text
    return answer.json()


def state(client: httpx.Client, remedy: dict[str, Any]) -> str:
    return client.get(f"/api/v1/remedies/{remedy['id']}").json()["state"]


def _is(client: httpx.Client, remedy: dict[str, Any], expected: str) -> bool:
    return state(client, remedy) == expected


def decide(client: httpx.Client, remedy: dict[str, Any], decision: str = "approve") -> httpx.Response:
    return client.post(f"/api/v1/remedies/{remedy['id']}/{decision}", json={"reason": "not now"} if decision == "reject" else None)


def test_a_high_risk_action_waits_for_a_second_person(
    operator: httpx.Client, admin: httpx.Client, viewer: httpx.Client, agents: list[Any], eventually: Any
) -> None:
    actions = {each["action"]: each["needs_approval"] for each in viewer.get("/api/v1/remedy-actions").json()}
    assert (actions["tune-revalidator"], actions["recover-health-reporter"]) == (False, True)
    proposed = recover(operator, agents[0].host)
    assert (proposed["state"], proposed["commands"]) == ("pending", [])
    assert viewer.get("/api/v1/remedy-control").json()["awaiting_approval"] == 1
    assert decide(viewer, proposed).status_code == 403
    own = decide(operator, proposed)
    assert (own.status_code, own.json()["code"]) == (403, "second_person_needed")
    approved = admin.post(f"/api/v1/remedies/{proposed['id']}/approve", json={"comment": "the host is drained"})
    assert approved.status_code == 202, approved.text
    assert (approved.json()["decided_by"], approved.json()["decision_comment"]) == ("admin", "the host is drained")
    eventually(lambda: state(operator, proposed) == "verifying")
    assert [command["operation"] for command in agents[0].commands] == ["apply"]
    assert decide(admin, proposed).json()["code"] == "not_pending"
    audited = {e["action"]: e["detail"] for e in admin.get("/api/v1/audit", params={"action": "remedy.", "limit": 5}).json()["items"]}
    assert "remedy.propose" in audited
    assert audited["remedy.approve"]["comment"] == "the host is drained"


def test_a_dry_run_needs_no_approval(operator: httpx.Client, agents: list[Any], eventually: Any) -> None:
    planned = order(operator, agents[0].host, "recover-health-reporter", mode="dry_run").json()
    eventually(lambda: state(operator, planned) == "planned")


def test_a_token_is_not_a_second_person_for_its_creator(admin: httpx.Client, backend: Any, agents: list[Any]) -> None:
    token = admin.post("/api/v1/tokens", json={"name": f"robot-{uuid4().hex[:6]}", "role": "operator"}).json()["token"]
    with closing(backend.client(headers={"Authorization": f"Bearer {token}"})) as robot:
        assert decide(admin, recover(robot, agents[0].host)).json()["code"] == "second_person_needed"
        assert decide(robot, recover(admin, agents[1].host)).json()["code"] == "second_person_needed"


def test_a_token_that_was_deleted_is_no_second_person_for_its_creator_either(admin: httpx.Client, backend: Any, agents: list[Any]) -> None:
    created = admin.post("/api/v1/tokens", json={"name": f"robot-{uuid4().hex[:6]}", "role": "operator"}).json()
    with closing(backend.client(headers={"Authorization": f"Bearer {created['token']}"})) as robot:
        proposed = recover(robot, agents[0].host)
    assert admin.delete(f"/api/v1/tokens/{created['id']}").status_code == 204
    assert decide(admin, proposed).json()["code"] == "second_person_needed"
    assert agents[0].commands == []


def test_neither_a_new_name_nor_another_s_token_makes_a_second_person(admin: httpx.Client, backend: Any, agents: list[Any]) -> None:
    """The attack of the security review: order by a token, delete the token, approve; here also under a name changed meanwhile."""
    created = admin.post("/api/v1/tokens", json={"name": f"robot-{uuid4().hex[:6]}", "role": "operator", "owner": "operator"}).json()
    with closing(backend.client(headers={"Authorization": f"Bearer {created['token']}"})) as robot:
        proposed = recover(robot, agents[0].host)
    assert admin.delete(f"/api/v1/tokens/{created['id']}").status_code == 204
    assert decide(admin, proposed).json()["code"] == "second_person_needed", "who created the token has had it in hand"
    with closing(backend.signed_in("operator")) as owner, backend.connect() as connection:
        try:
            connection.execute("UPDATE user_account SET username = 'renamed' WHERE username = 'operator'")
            assert owner.get("/api/v1/session").json()["user"]["username"] == "renamed"
            assert decide(owner, proposed).json()["code"] == "second_person_needed"
        finally:
            connection.execute("UPDATE user_account SET username = 'operator' WHERE username = 'renamed'")
    assert agents[0].commands == []


def test_a_rejected_proposal_never_reaches_the_host(operator: httpx.Client, admin: httpx.Client, agents: list[Any]) -> None:
    proposed = recover(operator, agents[0].host)
    rejected = decide(admin, proposed, "reject").json()
    assert (rejected["state"], rejected["decision_comment"], rejected["undoable"]) == ("rejected", "not now", False)
    assert decide(admin, proposed).json()["code"] == "not_pending"
    withdrawn = decide(operator, recover(operator, agents[0].host), "reject")
    assert withdrawn.json()["state"] == "rejected"
    assert agents[0].commands == []


def test_the_same_is_proposed_once(operator: httpx.Client, agents: list[Any]) -> None:
    recover(operator, agents[0].host)
    assert order(operator, agents[0].host, "recover-health-reporter").json()["code"] == "remedy_in_progress"


def test_anything_can_be_proposed_where_nobody_has_to(operator: httpx.Client, agents: list[Any]) -> None:
    assert order(operator, agents[0].host, propose=True).json()["state"] == "pending"


def test_an_unanswered_proposal_expires(operator: httpx.Client, backend: Any, agents: list[Any], eventually: Any) -> None:
    proposed = recover(operator, agents[0].host)
    with backend.connect() as connection:  # a day passes
        connection.execute("UPDATE remedy SET created_at = created_at - interval '2 days' WHERE id = %s", [proposed["id"]])
    eventually(lambda: state(operator, proposed) == "expired")
    assert agents[0].commands == []


def test_an_emergency_stop_withdraws_unsent_commands_and_refuses_new_ones(
    operator: httpx.Client, admin: httpx.Client, fake_agents: Any, anonymous: httpx.Client, agents: list[Any], eventually: Any
) -> None:
    away = fake_agents.enrol(admin, anonymous, f"host-{uuid4().hex[:8]}")  # not connected
    waiting = order(operator, away.host).json()
    done = order(operator, agents[0].host).json()
    eventually(lambda: state(operator, done) == "verifying")
    proposed = recover(operator, agents[1].host)

    stopped = operator.post("/api/v1/remedy-control/stop", json={"reason": "the fleet burns"}).json()
    assert stopped["stop"]["by"] == "operator"
    assert operator.post("/api/v1/remedy-control/stop", json={"reason": "again"}).json()["code"] == "already_stopped"
    assert state(operator, waiting) == "expired"
    refused = order(operator, agents[2].host)
    assert (refused.status_code, refused.json()["code"]) == (409, "remedies_stopped")
    assert "the fleet burns" in refused.json()["detail"]
    assert decide(admin, proposed).json()["code"] == "remedies_stopped"
    planned = order(operator, agents[2].host, mode="dry_run").json()
    eventually(lambda: state(operator, planned) == "planned")
    assert operator.post(f"/api/v1/remedies/{done['id']}/undo").status_code == 202
    eventually(lambda: state(operator, done) == "undone")

    assert operator.post("/api/v1/remedy-control/resume").status_code == 403, "only administrators end a stop"
    assert admin.post("/api/v1/remedy-control/resume").json()["stop"] is None
    assert admin.post("/api/v1/remedy-control/resume").json()["code"] == "not_stopped"
    with away:
        assert order(operator, agents[2].host).status_code == 201
    assert away.commands == [], "what was withdrawn is not sent later"


def test_remedies_are_under_way_on_a_few_hosts_at_once(operator: httpx.Client, agents: list[Any]) -> None:
    for agent in agents[:3]:
        assert order(operator, agent.host).status_code == 201
    beyond = order(operator, agents[3].host)
    assert (beyond.status_code, beyond.json()["code"]) == (409, "too_many_at_once")
    other = operator.post(
        "/api/v1/remedies",
        json={"action": "cordon-rnic", "host": agents[0].host, "pci": PCI, "params": {"reason": "x"}, "mode": "apply"},
    )
    assert other.status_code == 201, "a host that is counted already counts once"
    busy = operator.get("/api/v1/remedy-control").json()["busy"]
    assert (busy["hosts"], busy["most_hosts"]) == (3, 3)


def test_remedies_are_under_way_in_a_few_racks_at_once(operator: httpx.Client, backend: Any, agents: list[Any]) -> None:
    with backend.connect() as connection:
        for agent, rack in zip(agents, ("r1", "r2", "r3", "r1", "r1"), strict=True):
            connection.execute("INSERT INTO rnic (host, pci, rack) VALUES (%s, %s, %s)", [agent.host, PCI, rack])
    assert order(operator, agents[0].host).status_code == 201
    assert order(operator, agents[1].host).status_code == 201
    assert order(operator, agents[2].host).json()["code"] == "too_many_at_once"
    assert order(operator, agents[3].host).status_code == 201


def test_a_breaker_opens_when_a_remedy_fails_again_and_again_and_is_reset(
    operator: httpx.Client, admin: httpx.Client, agents: list[Any], eventually: Any
) -> None:
    def fail(command: dict[str, Any]) -> dict[str, Any]:
        return {
            "command_id": command["command_id"],
            "remedy_id": command["remedy_id"],
            "state": "failed",
            "code": "verify_failed",
            "operations": [],
        }

    for agent in agents[:2]:
        agent.answer = fail
        failing = order(operator, agent.host).json()
        eventually(partial(_is, operator, failing, "failed"))
    refused = order(operator, agents[2].host)
    assert (refused.status_code, refused.json()["code"]) == (409, "breaker_open")
    breakers = {each["action"]: each for each in operator.get("/api/v1/remedy-control").json()["breakers"]}
    assert (breakers["tune-revalidator"]["open"], breakers["tune-revalidator"]["failed"]) == (True, 2)
    assert breakers["cordon-rnic"]["open"] is False
    assert operator.post("/api/v1/remedy-control/breakers/tune-revalidator/reset").status_code == 403
    assert admin.post("/api/v1/remedy-control/breakers/nothing/reset").status_code == 404
    assert admin.post("/api/v1/remedy-control/breakers/tune-revalidator/reset").status_code == 200
    assert order(operator, agents[2].host).status_code == 201


async def expire(backend: Any, *ids: str) -> None:
    database = Database(backend.settings)
    for id in ids:
        async with database.write() as session:
            await approval.expire(session, UUID(id))
    await database.dispose()


def test_only_a_pending_remedy_expires(operator: httpx.Client, admin: httpx.Client, backend: Any, agents: list[Any]) -> None:
    pending, rejected = recover(operator, agents[0].host), recover(operator, agents[1].host)
    assert decide(admin, rejected, "reject").status_code == 200
    asyncio.run(expire(backend, pending["id"], rejected["id"], str(uuid4())))  # the last one was deleted meanwhile
    assert (state(operator, pending), state(operator, rejected)) == ("expired", "rejected")
    expired = operator.get(f"/api/v1/remedies/{pending['id']}").json()
    assert expired["message"] == "Nobody approved it in time."
    entries = admin.get("/api/v1/audit", params={"action": "remedy.propose.expired"}).json()["items"]
    found = [entry for entry in entries if entry["detail"]["remedy_id"] in (pending["id"], rejected["id"])]
    assert [(entry["detail"]["remedy_id"], entry["outcome"], entry["actor"], entry["target"]) for entry in found] == [
        (pending["id"], "failed", "system", f"{agents[0].host} {PCI}")
    ]


def test_a_remedy_that_does_not_exist_cannot_be_decided(admin: httpx.Client) -> None:
    unknown = {"id": str(uuid4())}
    for decision in ("approve", "reject"):
        answer = decide(admin, unknown, decision)
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
        assert unknown["id"] in answer.json()["detail"]


def test_a_decision_is_in_the_audit_log_with_who_asked(operator: httpx.Client, admin: httpx.Client, agents: list[Any]) -> None:
    for decision, agent in (("approve", agents[0]), ("reject", agents[1])):
        proposed = recover(operator, agent.host)
        assert decide(admin, proposed, decision).is_success
        entry = admin.get("/api/v1/audit", params={"action": f"remedy.{decision}", "limit": 1}).json()["items"][0]
        assert (entry["actor"], entry["target"], entry["address"]) == ("admin", f"{agent.host} {PCI}", "127.0.0.1")
        detail = entry["detail"]
        assert (detail["remedy_id"], detail["remedy_action"], detail["requested_by"]) == (
            proposed["id"], "recover-health-reporter", "operator"
        )  # fmt: skip
        assert detail.get("reason") == ("not now" if decision == "reject" else None)


def test_nobody_approves_for_a_host_whose_agent_was_removed(operator: httpx.Client, admin: httpx.Client, agents: list[Any]) -> None:
    proposed = recover(operator, agents[0].host)
    [agent] = [each for each in admin.get("/api/v1/agents", params={"limit": 200}).json()["items"] if each["host"] == agents[0].host]
    assert admin.delete(f"/api/v1/agents/{agent['id']}").status_code == 204
    answer = decide(admin, proposed)
    assert (answer.status_code, answer.json()["code"]) == (409, "no_agent")
    assert state(operator, proposed) == "pending"
