"""The clients of the benchmark `api`, in a process of their own: `python -m tests.bench.api_client URL TOKEN PLAN`.

PLAN is JSON: `{"what": "requests", "clients", "seconds", "paths"}` or `{"what": "streams", "clients", "slow", "seconds"}`. It prints one
line of JSON. A slow reader opens a stream and never reads from it.
"""

import asyncio
import json
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import httpx
import uvloop
from tests.bench.lean_http import connect
from tests.bench.report import percentile


@dataclass
class Answers:
    """Seconds of each answer by path, and what failed."""

    seconds: dict[str, list[float]] = field(default_factory=dict)
    errors: Counter[str] = field(default_factory=Counter)

    def summary(self) -> dict[str, Any]:
        return {
            "errors": dict(self.errors),
            "paths": {
                path: {"count": len(all_s), "p50_s": percentile(all_s, 0.5), "p95_s": percentile(all_s, 0.95), "max_s": max(all_s)}
                for path, all_s in self.seconds.items()
            },
        }


async def ask(client: httpx.AsyncClient, path: str, answers: Answers) -> None:
    started = time.monotonic()
    try:
        answer = await client.get(path)
    except httpx.HTTPError as error:
        answers.errors[type(error).__name__] += 1
        return
    if answer.status_code != 200:
        answers.errors[str(answer.status_code)] += 1
    answers.seconds.setdefault(path, []).append(time.monotonic() - started)


async def requests(url: str, token: str, clients: int, seconds: float, paths: list[str], pause_s: float = 0) -> dict[str, Any]:
    """Each client, on a connection of its own, asks again when it is answered and has paused, the paths in turn."""
    answers, until = Answers(), time.monotonic() + seconds

    async def one(number: int) -> None:
        connection = await connect(url, token)
        await asyncio.sleep(pause_s * number / clients)
        turn = number
        while time.monotonic() < until:
            path, started = paths[turn % len(paths)], time.monotonic()
            turn += 1
            try:
                answer = await connection.get(path)
            except OSError as error:
                answers.errors[type(error).__name__] += 1
                connection = await connect(url, token)
                continue
            answers.seconds.setdefault(path, []).append(time.monotonic() - started)
            if answer.status != 200 or not answer.body_bytes:
                answers.errors[str(answer.status)] += 1
            if pause_s:
                await asyncio.sleep(pause_s)
        connection.close()

    began, cpu_before = time.monotonic(), time.process_time()
    await asyncio.gather(*(one(number) for number in range(clients)))
    cpu_share = (time.process_time() - cpu_before) / (time.monotonic() - began)
    return {**answers.summary(), "client_cpu_share": cpu_share}


@dataclass
class Streams:
    """What the streams received."""

    opened: int = 0
    refused: int = 0
    resyncs: int = 0
    ended_early: int = 0
    events: list[int] = field(default_factory=list)
    late_s: dict[str, list[float]] = field(default_factory=dict)
    """Id of an event -> when each stream received it."""


async def streams(client: httpx.AsyncClient, clients: int, slow: int, seconds: float) -> dict[str, Any]:
    """Open streams that read, and slow ones that never do; how far apart do streams receive the same event?"""
    found, until = Streams(), time.monotonic() + seconds
    answers = Answers()

    async def reader() -> None:
        events = 0
        try:
            async with client.stream("GET", "/api/v1/stream") as answer:
                if answer.status_code != 200:
                    found.refused += 1
                    return
                found.opened += 1
                async with asyncio.timeout_at(asyncio.get_running_loop().time() + until - time.monotonic()):
                    async for line in answer.aiter_lines():
                        if line.startswith("id:"):
                            found.late_s.setdefault(line, []).append(time.monotonic())
                        elif line.startswith("event: rnic_state"):
                            events += 1
                        elif line.startswith("event: resync"):
                            found.resyncs += 1
                    found.ended_early += 1
        except TimeoutError:
            pass
        finally:
            found.events.append(events)

    async def sleeper() -> None:
        async with client.stream("GET", "/api/v1/stream") as answer:
            found.refused += answer.status_code != 200
            await asyncio.sleep(max(until - time.monotonic(), 0))

    async def page() -> None:
        while time.monotonic() < until:
            await ask(client, "/api/v1/fleet", answers)
            await asyncio.sleep(1)

    await asyncio.gather(page(), *(sleeper() for _ in range(slow)), *(reader() for _ in range(clients)))
    spread = [max(at) - min(at) for at in found.late_s.values() if len(at) > clients // 2]
    return {
        "opened": found.opened,
        "refused": found.refused,
        "resyncs": found.resyncs,
        "ended_early": found.ended_early,
        "events_min": min(found.events, default=0),
        "events_max": max(found.events, default=0),
        "spread_s_p95": percentile(spread, 0.95) if spread else None,
        **answers.summary(),
    }


async def main(url: str, token: str, plan: dict[str, Any]) -> dict[str, Any]:
    """Run the plan."""
    if plan.pop("what") == "requests":
        return await requests(url, token, **plan)
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    async with httpx.AsyncClient(
        base_url=url, headers={"Authorization": f"Bearer {token}"}, limits=limits, timeout=120, verify=False
    ) as client:
        return await streams(client, **plan)


if __name__ == "__main__":
    sys.stdout.write(json.dumps(uvloop.run(main(sys.argv[1], sys.argv[2], json.loads(sys.argv[3])))) + "\n")
