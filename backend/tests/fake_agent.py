"""A host's agent for tests: enrols and speaks real OpAMP over a real WebSocket, and acts as the test says."""

import contextlib
import hashlib
import json
import threading
import warnings
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import httpx
from joserfc import jws
from joserfc.errors import SecurityWarning
from joserfc.jwk import OKPKey
from opentelemetry._opamp.messages import build_agent_description
from opentelemetry._opamp.proto import opamp_pb2
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

CAPABILITY = "com.wallwatch.remedy.v1"
Answer = Callable[[dict[str, Any]], dict[str, Any] | None]


def done(command: dict[str, Any]) -> dict[str, Any]:
    """Answer like an agent that did it."""
    operation = {"target": "Open_vSwitch.other_config:max-idle", "operation": "set", "before": "10000", "after": "60000", "text": "set"}
    return {
        "command_id": command["command_id"],
        "remedy_id": command["remedy_id"],
        "state": "done",
        "operations": [operation],
        "finished_at": datetime.now(UTC).isoformat(),
    }


class FakeAgent:
    """One agent; `answer` returns the result of a command, or None for no answer."""

    def __init__(self, credentials: dict[str, Any], host: str, answer: Answer = done) -> None:
        self.host, self.answer, self.credentials = host, answer, credentials
        self.commands: list[dict[str, Any]] = []
        self.attachments: list[tuple[dict[str, Any], bytes]] = []
        self.replies: list[opamp_pb2.ServerToAgent] = []
        self.instance_uid, self._sequence = uuid4(), 0
        self._open: Any = None
        self._socket: Any = None
        self._thread: threading.Thread | None = None

    @classmethod
    def enrol(cls, admin: httpx.Client, anonymous: httpx.Client, host: str, answer: Answer = done) -> "FakeAgent":
        token = admin.post("/api/v1/agents/enrolment-tokens", json={"host": host}).json()["token"]
        body = {"token": token, "host": host, "version": "1.2.3", "instance_uid": str(uuid4())}
        credentials = anonymous.post("/api/v1/agents/enrol", json=body)
        assert credentials.status_code == 201, credentials.text
        return cls(credentials.json(), host, answer)

    @property
    def authorization(self) -> str:
        return f"Bearer {self.credentials['agent_id']}.{self.credentials['secret']}"

    def __enter__(self) -> "FakeAgent":
        self._open = connect(self.credentials["opamp_url"], additional_headers={"Authorization": self.authorization}, open_timeout=60)
        self._socket = self._open.__enter__()
        self._thread = threading.Thread(target=self._read, args=(self._socket,), daemon=True)
        self._thread.start()
        self.say_hello()
        return self

    def __exit__(self, *_: object) -> None:
        self._open.__exit__(None, None, None)
        assert self._thread is not None
        self._thread.join(5)

    @property
    def kids(self) -> list[str]:
        """Ids of the pinned keys."""
        return [key["kid"] for key in self.credentials["command_keys"]]

    def say_hello(
        self,
        *,
        healthy: bool = True,
        error: str = "",
        capabilities: int = 1,
        config_hash: bytes = b"",
        kids: list[str] | None = None,
        refused: str = "",
    ) -> None:
        """Describe this agent; with `kids`, which command keys it trusts, as agents do that can be given new ones."""
        more = {"wallwatch.command_keys": " ".join(kids), "wallwatch.command_key_refused": refused} if kids is not None else {}
        message = opamp_pb2.AgentToServer(capabilities=capabilities)
        if config_hash:
            message.remote_config_status.last_remote_config_hash = config_hash
        message.agent_description.CopyFrom(
            build_agent_description(
                {"service.name": "wallwatch-agent", "service.version": "1.2.4", "service.instance.id": str(self.instance_uid)},
                {"host.name": self.host, **more},
            )
        )
        message.health.healthy, message.health.last_error = healthy, error
        message.custom_capabilities.capabilities.append(CAPABILITY)
        self.send(message)

    def send(self, message: opamp_pb2.AgentToServer) -> None:
        message.instance_uid, message.sequence_num = self.instance_uid.bytes, self._sequence
        self._sequence += 1
        self._socket.send(b"\x00" + message.SerializeToString())

    def send_raw(self, frame: bytes) -> None:
        self._socket.send(frame)

    def send_result(self, result: dict[str, Any] | bytes) -> None:
        message = opamp_pb2.AgentToServer()
        message.custom_message.capability, message.custom_message.type = CAPABILITY, "result"
        message.custom_message.data = result if isinstance(result, bytes) else json.dumps(result).encode()
        self.send(message)

    def acknowledged(self, command: dict[str, Any]) -> int:
        """How many results of a command the server has dealt with: it acknowledges each, also one that it does not believe."""
        acks = [reply.custom_message for reply in self.replies if reply.custom_message.type == "ack"]
        return sum(json.loads(ack.data)["command_id"] == command["command_id"] for ack in acks)

    def send_attachment(self, command: dict[str, Any], content: bytes, part_bytes: int = 500_000, **header: Any) -> None:
        """Send the attachment of a result, in parts."""
        chunks = [content[at : at + part_bytes] for at in range(0, len(content), part_bytes)]
        whole = {"command_id": command["command_id"], "name": "flows", "sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
        for number, chunk in enumerate(chunks, start=1):
            line = json.dumps({**whole, "part": number, "parts": len(chunks), **header})
            self.send_custom("attachment", line.encode() + b"\n" + chunk)

    def send_custom(self, kind: str, data: bytes) -> None:
        message = opamp_pb2.AgentToServer()
        message.custom_message.capability, message.custom_message.type, message.custom_message.data = CAPABILITY, kind, data
        self.send(message)

    def _read(self, socket: Any) -> None:
        with contextlib.suppress(ConnectionClosed):
            for frame in socket:
                assert frame[:1] == b"\x00"
                message = opamp_pb2.ServerToAgent.FromString(frame[1:])
                self.replies.append(message)
                if message.custom_message.type == "attachment":
                    line, _, content = message.custom_message.data.partition(b"\n")
                    self.attachments.append((json.loads(line), content))
                elif message.custom_message.type == "command":
                    command = self.verified(message.custom_message.data.decode())
                    self.commands.append(command)
                    result = self.answer(command)
                    if result is not None:
                        self.send_result(result)

    def verified(self, token: str) -> dict[str, Any]:
        """Check the signature of a command with the pinned key that it names."""
        command: dict[str, Any] = json.loads(self.check(token, "wallwatch-command+jws"))
        return command

    def check(self, token: str, kind: str) -> bytes:
        """Return the payload of what a pinned key has signed."""
        kid = jws.extract_compact(token.encode()).headers()["kid"]
        pinned = next(key for key in self.credentials["command_keys"] if key["kid"] == kid)
        key = OKPKey.import_key({"kty": "OKP", "crv": "Ed25519", "x": pinned["public_key"]})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SecurityWarning)  # the library prefers the name Ed25519 (RFC 9864)
            found = jws.deserialize_compact(token, key, algorithms=["EdDSA"])
        assert found.headers() == {"alg": "EdDSA", "kid": kid, "typ": kind}
        return bytes(found.payload)
