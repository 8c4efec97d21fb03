"""A remedy that no agent answers in time has expired, and says why."""

from typing import Any

import httpx
import pytest

from wallwatch_testing.remedies import order, wait_for


@pytest.fixture(scope="module")
def backend_settings() -> dict[str, object]:
    return {"command_ttl_s": 600, "command_grace_s": 0, "remedy_watch_s": 0.1, "remedy_max_fleet_percent": 100}


def let_time_pass(backend: Any, remedy: dict[str, Any]) -> None:
    """As if the command had been issued long ago, at a moment that the test chooses: how long delivery takes depends on the machine."""
    with backend.connect() as connection:
        changed = connection.execute("UPDATE remedy_command SET expires_at = now() WHERE remedy_id = %s", [remedy["id"]])
        assert changed.rowcount == 1


def test_without_an_answer_the_remedy_expires_and_a_late_result_still_counts(
    operator: httpx.Client, agent: Any, host: str, eventually: Any, backend: Any
) -> None:
    agent.answer = lambda command: None
    remedy = order(operator, host).json()
    wait_for(operator, eventually, remedy, "running")
    let_time_pass(backend, remedy)
    expired = wait_for(operator, eventually, remedy, "expired")
    assert "did not answer" in expired["message"]
    command = agent.commands[0]
    agent.send_result({"command_id": command["command_id"], "remedy_id": command["remedy_id"], "state": "done", "operations": []})
    wait_for(operator, eventually, remedy, "verifying")


def test_a_command_that_was_never_delivered_expires(
    operator: httpx.Client, fake_agents: Any, admin: httpx.Client, anonymous: httpx.Client, host: str, eventually: Any, backend: Any
) -> None:
    fake_agents.enrol(admin, anonymous, host)
    remedy = order(operator, host).json()
    assert remedy["state"] == "approved"
    let_time_pass(backend, remedy)
    assert "not connected" in wait_for(operator, eventually, remedy, "expired")["message"]
