"""A simulated fleet that advances on command: `fleetsim drive` at the other end of two pipes."""

import json
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any


@dataclass(frozen=True)
class Fleet:
    """One running fleet. Its time is virtual: nothing moves between two calls."""

    requests: IO[bytes]
    answers: IO[bytes]

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        self.requests.write(json.dumps(request).encode() + b"\n")
        self.requests.flush()
        line = self.answers.readline()
        if not line:
            raise RuntimeError("fleetsim has ended")
        answer: dict[str, Any] = json.loads(line)
        if answer.get("error"):
            raise RuntimeError(answer["error"])
        return answer

    def step(self, seconds: float) -> float:
        """Let time go on; the virtual time afterwards, in seconds."""
        return float(self._ask({"step": seconds})["now_s"])

    def look(self) -> dict[str, dict[str, Any]]:
        """Possible and actual performance of each host's RNIC in the last step, by host."""
        return {host["name"]: host for host in self._ask({"look": True})["hosts"]}

    def dump(self, host: str) -> str:
        """The flows of a host, as the agent reads them."""
        return str(self.type(host, [["dpctl/dump-flows", "-m", "--no-names"]])[0]["text"])

    def type(self, host: str, commands: Sequence[Sequence[str]]) -> list[dict[str, str]]:
        """What the host's switch says to some commands, one after another in no time: `text` and `error`."""
        found: list[dict[str, str]] = self._ask({"host": host, "commands": commands})["answers"]
        return found


@contextmanager
def fleet(program: Path, scenario: str, folder: Path) -> Iterator[Fleet]:
    """Run the fleet of a scenario's text for the length of the block."""
    file = folder / "scenario.yaml"
    file.write_text(scenario, encoding="utf-8")
    process = subprocess.Popen([program, "drive", "--scenario", str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin
    assert process.stdout
    try:
        yield Fleet(process.stdin, process.stdout)
    finally:
        process.stdin.close()
        process.wait(timeout=60)
