"""Orders and results that come together, twice, or while something breaks: each is done once, and none takes another with it."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import httpx
import psycopg
import pytest
from opentelemetry._opamp.proto import opamp_pb2

from wallwatch_backend.hosts.connections import presence


@pytest.fixture(scope="module")
def backend_settings() -> dict[str, object]:
    return {"command_ttl_s": 300, "remedy_max_fleet_percent": 100, "remedy_approval_risk": "never", "remedy_breaker_failures": 1000}


@pytest.fixture(autouse=True, scope="module")
def heard_is_noted_soon() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(presence, "EVERY_S", 0.1)
        yield


@pytest.fixture
def enrol(fake_agents: Any, admin: httpx.Client, anonymous: httpx.Client) -> Any:
    """A function that enrols an agent, of a new host, which by default answers nothing."""

    def make(answer: Any = lambda command: None) -> Any:
        return fake_agents.enrol(admin, anonymous, f"host-{uuid4().hex[:8]}", answer)

    return make


def order(client: httpx.Client, host: str, key: str | None = None, **more: Any) -> httpx.Response:
    body = {"action": "tune-revalidator", "host": host, "params": {"max_idle_ms": 60000}, "mode": "dry_run", **more}
    return client.post("/api/v1/remedies", json=body, headers={"Idempotency-Key": key} if key else {})


def commanded(client: httpx.Client, agent: Any, eventually: Any, **more: Any) -> dict[str, Any]:
    """Give an order and return the command that the agent got."""
    assert order(client, agent.host, **more).status_code == 201
    eventually(lambda: agent.commands)
    command: dict[str, Any] = agent.commands[0]
    return command


def done(command: dict[str, Any]) -> dict[str, Any]:
    return {"command_id": command["command_id"], "remedy_id": command["remedy_id"], "state": "done", "operations": []}


def acknowledged(agent: Any) -> int:
    return sum(reply.custom_message.type == "ack" for reply in agent.replies)


def state_of(client: httpx.Client, command: dict[str, Any]) -> str:
    return str(client.get(f"/api/v1/remedies/{command['remedy_id']}").json()["state"])


def results_in_the_audit_log(backend: Any, command: dict[str, Any]) -> int:
    with backend.connect() as connection:
        query = "SELECT count(*) FROM audit_event WHERE action = 'remedy.dry_run.result' AND detail->>'command_id' = %s"
        return int(connection.execute(query, [command["command_id"]]).fetchone()[0])


@contextmanager
def held(backend: Any, command: dict[str, Any]) -> Iterator[psycopg.Connection[Any]]:
    """Keep the result of a command from being stored, so that what comes meanwhile is stored together afterwards."""
    with psycopg.connect(backend.dsn) as connection:
        connection.execute("SELECT FROM remedy WHERE id = %s FOR UPDATE", [command["remedy_id"]])
        yield connection


def waits_for_a_lock(backend: Any) -> Any:
    with backend.connect() as connection:
        # The view cuts long statements, so their end is not looked at.
        waits = "wait_event_type = 'Lock' AND query LIKE 'SELECT remedy.%' AND datname = current_database()"
        return connection.execute(f"SELECT pid FROM pg_stat_activity WHERE {waits}").fetchone()


def test_orders_that_come_together_are_each_taken_once_and_refused_ones_take_none_with_them(
    operator: httpx.Client, enrol: Any, eventually: Any
) -> None:
    agents = [enrol(done) for _ in range(4)]
    for agent in agents:
        agent.__enter__()
    asked = [(agent.host, f"key-{agent.host}") for agent in agents for _ in range(3)]
    strangers = [(f"no-agent-{number}", None) for number in range(3)]
    begin = threading.Barrier(len(asked) + len(strangers))

    def give(one: tuple[str, str | None]) -> httpx.Response:
        begin.wait(90)
        return order(operator, *one)

    with ThreadPoolExecutor(len(asked) + len(strangers)) as pool:
        answers = list(pool.map(give, [*asked, *strangers]))
    assert [answer.status_code for answer in answers] == [201] * len(asked) + [409] * len(strangers)
    assert {answer.json()["code"] for answer in answers[len(asked) :]} == {"no_agent"}
    ids = {answer.json()["id"] for answer in answers[: len(asked)]}
    assert len(ids) == len(agents)
    eventually(lambda: all(acknowledged(agent) == 1 for agent in agents))
    assert [len(agent.commands) for agent in agents] == [1] * len(agents)
    for agent in agents:
        agent.__exit__(None, None, None)


def test_a_command_that_a_killed_backend_had_marked_but_not_sent_is_sent_when_the_agent_is_back(
    backend: Any, operator: httpx.Client, enrol: Any, eventually: Any
) -> None:
    agent = enrol(done)
    remedy = order(operator, agent.host).json()
    with backend.connect() as connection:  # what the dispatcher commits before it sends
        connection.execute("UPDATE remedy_command SET state = 'sent', sent_at = now() WHERE remedy_id = %s", [remedy["id"]])
        connection.execute("UPDATE remedy SET state = 'running' WHERE id = %s", [remedy["id"]])
    with agent:
        eventually(lambda: acknowledged(agent))
        assert [command["remedy_id"] for command in agent.commands] == [remedy["id"]]
    assert state_of(operator, agent.commands[0]) == "planned"


def test_a_result_that_comes_twice_at_once_is_stored_once_and_acknowledged_twice(
    backend: Any, operator: httpx.Client, enrol: Any, eventually: Any
) -> None:
    with enrol() as agent:
        command = commanded(operator, agent, eventually)
        agent.send_result(done(command))
        agent.send_result(done(command))
        eventually(lambda: acknowledged(agent) == 2)
    assert results_in_the_audit_log(backend, command) == 1


def test_a_result_that_cannot_be_stored_takes_no_other_with_it_and_is_stored_when_it_comes_again(
    backend: Any, operator: httpx.Client, enrol: Any, eventually: Any
) -> None:
    with enrol() as first, enrol() as good, enrol() as bad:
        commands = [commanded(operator, agent, eventually) for agent in (first, good, bad)]
        with backend.connect() as connection:
            connection.execute(
                "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no'; END $$;"
                "CREATE TRIGGER refuse BEFORE UPDATE ON remedy_command FOR EACH ROW"
                f" WHEN (NEW.host = '{bad.host}') EXECUTE FUNCTION refuse()"
            )
        with held(backend, commands[0]):
            first.send_result(done(commands[0]))
            eventually(lambda: waits_for_a_lock(backend))
            good.send_result(done(commands[1]))
            bad.send_result(done(commands[2]))
        eventually(lambda: acknowledged(first) and acknowledged(good))
        eventually(lambda: not bad._thread.is_alive())
        assert acknowledged(bad) == 0
        with backend.connect() as connection:
            connection.execute("DROP TRIGGER refuse ON remedy_command; DROP FUNCTION refuse")
    assert [state_of(operator, command) for command in commands] == ["planned", "planned", "running"]
    bad.answer = done
    with bad:
        eventually(lambda: acknowledged(bad))
    assert state_of(operator, commands[2]) == "planned"
    assert [results_in_the_audit_log(backend, command) for command in commands] == [1, 1, 1]


def test_a_result_whose_transaction_is_killed_is_stored_once_when_it_comes_again(
    backend: Any, operator: httpx.Client, enrol: Any, eventually: Any
) -> None:
    with enrol() as agent:
        command = commanded(operator, agent, eventually)
        with held(backend, command):
            agent.send_result(done(command))
            (pid,) = eventually(lambda: waits_for_a_lock(backend))
            with backend.connect() as connection:
                connection.execute("SELECT pg_terminate_backend(%s)", [pid])
            eventually(lambda: not agent._thread.is_alive())
        assert acknowledged(agent) == 0
    assert state_of(operator, command) == "running"
    agent.answer = done
    with agent:
        eventually(lambda: acknowledged(agent))
    assert state_of(operator, command) == "planned"
    assert results_in_the_audit_log(backend, command) == 1


def test_a_connection_that_another_replica_has_taken_over_is_ended(backend: Any, enrol: Any, eventually: Any) -> None:
    with enrol() as agent:
        eventually(lambda: agent.replies)
        with backend.connect() as connection:
            connection.execute("UPDATE agent SET connection_id = gen_random_uuid() WHERE host = %s", [agent.host])
        agent.send(opamp_pb2.AgentToServer())
        eventually(lambda: not agent._thread.is_alive())


def test_a_heartbeat_is_noted(backend: Any, viewer: httpx.Client, enrol: Any, eventually: Any) -> None:
    def seen() -> Any:
        return viewer.get("/api/v1/agents", params={"host": agent.host}).json()["items"][0]["last_seen_at"]

    with enrol() as agent:
        before = eventually(seen)
        agent.send(opamp_pb2.AgentToServer())
        eventually(lambda: seen() > before)


def test_results_for_several_incidents_that_come_together_are_all_stored(
    backend: Any, operator: httpx.Client, enrol: Any, eventually: Any, findings: Any, apply_findings: Any
) -> None:
    with enrol() as first, enrol() as one, enrol() as other:
        apply_findings(*(findings.finding(started=datetime.now(UTC), host=agent.host) for agent in (one, other)))
        incidents = [operator.get("/api/v1/incidents", params={"host": agent.host}).json()["items"][0]["id"] for agent in (one, other)]
        commands = [commanded(operator, first, eventually)]
        commands += [commanded(operator, agent, eventually, incident_id=id) for agent, id in zip((one, other), incidents, strict=True)]
        with held(backend, commands[0]):
            first.send_result(done(commands[0]))
            eventually(lambda: waits_for_a_lock(backend))
            one.send_result(done(commands[1]))
            other.send_result(done(commands[2]))
        eventually(lambda: acknowledged(first) and acknowledged(one) and acknowledged(other))
    assert [state_of(operator, command) for command in commands] == ["planned"] * 3
    for id in incidents:
        texts = [entry["text"] for entry in operator.get(f"/api/v1/incidents/{id}").json()["timeline"]]
        assert texts.count("The agent planned tune-revalidator.") == 1
