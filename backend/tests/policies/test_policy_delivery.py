"""Agents get the compiled policies as remote configuration."""

from typing import Any

import httpx
import orjson
from opentelemetry._opamp.proto import opamp_pb2

TAKES_CONFIG = 1 | int(opamp_pb2.AgentCapabilities_AcceptsRemoteConfig)


def offers(agent: Any) -> list[opamp_pb2.AgentRemoteConfig]:
    return [reply.remote_config for reply in agent.replies if reply.HasField("remote_config")]


def test_an_agent_that_takes_policies_gets_them_once(
    admin: httpx.Client, anonymous: httpx.Client, fake_agents: Any, eventually: Any
) -> None:
    with fake_agents.enrol(admin, anonymous, "policies") as agent:
        eventually(lambda: agent.replies)
        assert offers(agent) == [], "it has not reported that it accepts any"
        agent.say_hello(capabilities=TAKES_CONFIG)
        eventually(lambda: offers(agent))
        [remote] = offers(agent)
        file = remote.config.config_map["policies.json"]
        assert (orjson.loads(file.body)["hash"].encode(), file.content_type) == (remote.config_hash, "application/json")
        reply_count = len(agent.replies)
        agent.say_hello(capabilities=TAKES_CONFIG)
        eventually(lambda: len(agent.replies) > reply_count)
        assert len(offers(agent)) == 1
        credentials = agent.credentials
    with fake_agents(credentials, "policies") as again:
        eventually(lambda: again.replies)
        again.say_hello(capabilities=TAKES_CONFIG, config_hash=remote.config_hash)
        eventually(lambda: len(again.replies) > 1)
        assert offers(again) == [], "it has these policies already"


def test_an_agent_with_other_policies_gets_todays(admin: httpx.Client, anonymous: httpx.Client, fake_agents: Any, eventually: Any) -> None:
    with fake_agents.enrol(admin, anonymous, "old-policies") as agent:
        agent.say_hello(capabilities=TAKES_CONFIG, config_hash=b"sha256:before")
        eventually(lambda: offers(agent))


def test_a_refusal_is_counted_and_not_answered_with_the_same_again(
    admin: httpx.Client, anonymous: httpx.Client, fake_agents: Any, eventually: Any
) -> None:
    def refused() -> float:
        lines = anonymous.get("/metrics").text.splitlines()
        return float(next(line for line in lines if line.startswith("wallwatch_agent_configs_refused_total ")).split()[1])

    before = refused()
    with fake_agents.enrol(admin, anonymous, "refuses") as agent:
        agent.say_hello(capabilities=TAKES_CONFIG)
        eventually(lambda: offers(agent))
        message = opamp_pb2.AgentToServer(capabilities=TAKES_CONFIG)
        message.remote_config_status.last_remote_config_hash = offers(agent)[0].config_hash
        message.remote_config_status.status = opamp_pb2.RemoteConfigStatuses_FAILED
        message.remote_config_status.error_message = "a table leads nowhere"
        agent.send(message)
        eventually(lambda: refused() == before + 1)
        assert len(offers(agent)) == 1
