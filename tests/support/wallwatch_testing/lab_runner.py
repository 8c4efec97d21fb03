"""A runner of the lab as far as the database sees it, and campaigns that it runs: the store's functions in the place of processes."""

from typing import Any
from uuid import uuid4

import httpx

from wallwatch.store import lab as store
from wallwatch.store.lab import CampaignState
from wallwatch_testing.lab_report import DESCRIPTION, report

CAMPAIGNS = "/api/v1/lab/campaigns"


class Runner:
    """A runner as far as the database sees it."""

    def __init__(self, connection: Any) -> None:
        self.name, self.connection = f"runner-{uuid4().hex[:8]}", connection

    def offer(self, device: str, description: dict[str, Any] | None = DESCRIPTION, **place: Any) -> str:
        problem = place.pop("problem", None)
        store.offer(
            self.connection, self.name, name=device, command_key="0123456789abcdef", place=place, description=description, problem=problem
        )
        return device

    def claim(self, device: str) -> store.Claimed | None:
        return store.claim(self.connection, self.name, [device])

    def write(self, campaign: Any, lines: list[tuple[int, dict[str, Any]]], **progress: Any) -> store.Held | None:
        return store.heartbeat(self.connection, self.name, campaign, progress or None, lines)

    def end(self, campaign: Any, state: CampaignState, found: dict[str, Any] | None = None, message: str | None = None) -> bool:
        return store.end(self.connection, self.name, campaign, state, message, found)


def start(client: httpx.Client, device: str, **more: Any) -> dict[str, Any]:
    answer = client.post(CAMPAIGNS, json={"device": device, **more})
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def finished(client: httpx.Client, runner: Runner, device: str, found: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    campaign = start(client, device, **more)
    claimed = runner.claim(device)
    assert claimed is not None
    assert runner.end(claimed.id, CampaignState.finished, found or report())
    return dict(client.get(f"{CAMPAIGNS}/{campaign['id']}").json())
