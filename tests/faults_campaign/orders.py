"""Orders remedies while the faults happen, each with a key that makes a repeated request the same order."""

import random
import threading
import time
from contextlib import suppress
from uuid import uuid4

import httpx
from tests.faults_campaign.ledgers import Order

from wallwatch_testing.stack import Stack

EVERY_S = 6.0
GIVE_UP_S = 300.0


class Orders(threading.Thread):
    """Asks for a remedy every few seconds; `accepted` are those that the API took, `refused` those that it did not take."""

    def __init__(self, stack: Stack, seed: int) -> None:
        super().__init__(daemon=True)
        self._stack, self._random = stack, random.Random(seed)
        self._over = threading.Event()
        self.accepted: list[Order] = []
        self.refused: list[str] = []
        self.unanswered = 0

    def stop(self) -> None:
        self._over.set()
        self.join()

    def run(self) -> None:
        while not self._over.wait(EVERY_S):
            host = self._random.choice(self._stack.hosts).name
            idle = self._random.randrange(5_000, 20_000)
            body: dict[str, object] = {"action": "tune-revalidator", "host": host, "params": {"max_idle_ms": idle}, "mode": "apply"}
            self._order(host, body, str(uuid4()))

    def _order(self, host: str, body: dict[str, object], key: str) -> None:
        deadline = time.monotonic() + GIVE_UP_S
        while time.monotonic() < deadline:
            with suppress(httpx.HTTPError), self._stack.api() as api:
                answer = api.post("/remedies", json=body, headers={"Idempotency-Key": key})
                if answer.status_code in (201, 202):
                    self.accepted.append(Order(answer.json()["id"], host))
                    return
                if answer.status_code < 500 and answer.status_code not in (401, 429):
                    self.refused.append(answer.json().get("code", str(answer.status_code)))
                    return
            time.sleep(1)
        self.unanswered += 1


def states_of(stack: Stack, orders: list[Order]) -> dict[str, str]:
    """State of each order."""
    with stack.api() as api:
        return {one.remedy: api.get(f"/remedies/{one.remedy}").json()["state"] for one in orders}
