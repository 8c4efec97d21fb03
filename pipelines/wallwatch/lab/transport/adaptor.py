"""Client of an adaptor that runs transport tests: one JSON object per line each way (docs/transport.md)."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import Any

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from wallwatch.lab.faults import DeviceFault
from wallwatch.lab.pipe import LinePipe

TIMEOUT_S = 600.0
"""A run on real hosts sets them up first."""


class AdaptorError(Exception):
    """The adaptor cannot be started, broke off, or refused the test; the text says why."""


class Outcome(BaseModel):
    """What one test gave.

    Attributes:
        message_completion_us: for each connection, its messages in order.
        capture: where the adaptor wrote the capture, if one was asked for.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    connections: list[dict[str, Any]]
    requester_counters: dict[str, int]
    responder_counters: dict[str, int]
    message_completion_us: list[list[float]]
    failed_connections: list[int] = Field(default_factory=list)
    capture: str | None = None


@dataclass
class TransportAdaptor:
    """One process of the adaptor; a context manager."""

    command: str

    def __post_init__(self) -> None:
        try:
            self._pipe = LinePipe(shlex.split(self.command))
        except (OSError, ValueError) as error:
            raise AdaptorError(f"{self.command!r} cannot be started: {error}") from None

    def __enter__(self) -> TransportAdaptor:
        return self

    def __exit__(self, *_: object) -> None:
        self._pipe.close()

    def run(self, intent: dict[str, Any], seed: int, capture: str = "") -> Outcome:
        """Run one test.

        Raises:
            AdaptorError: no answer, or one that says why the test cannot be run.
        """
        question = {"intent": intent, "seed": seed, "capture": capture}
        try:
            answer = orjson.loads(self._pipe.ask(orjson.dumps(question) + b"\n", TIMEOUT_S))
        except (DeviceFault, orjson.JSONDecodeError) as error:
            raise AdaptorError(f"the adaptor {error}") from None
        if not isinstance(answer, dict) or answer.get("status") != "ok":
            raise AdaptorError(str(answer.get("reason", answer)) if isinstance(answer, dict) else f"no answer of an adaptor: {answer!r}")
        try:
            return Outcome.model_validate(answer)
        except ValidationError as error:
            raise AdaptorError(f"the adaptor's answer is not understood: {error.errors()[0]['loc']}: {error.errors()[0]['msg']}") from None
