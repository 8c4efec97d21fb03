"""The demo's models of network functions, against an API that only records what it is asked."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from wallwatch_local import function_models
from wallwatch_local.function_models import TERMS, FunctionModels, functions_of
from wallwatch_local.hosts import SCENARIOS


class Api(BaseHTTPRequestHandler):
    """Answers as the API does, and keeps what came."""

    asked: list[tuple[str, str, Any]]
    there: list[dict[str, str]]

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.asked.append((self.command, self.path, json.loads(body) if body else None))
        answer = {"items": self.there} if self.command == "GET" else {"id": "v1"}
        status = 200 if self.headers["Authorization"] == "Bearer t" else 401
        text = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_POST = do_PUT = _answer  # names that http.server prescribes

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def api() -> Iterator[tuple[type[Api], str]]:
    handler = type("Recorded", (Api,), {"asked": [], "there": []})
    server = HTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield handler, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def profiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    kinds: list[str] = []

    def measure(models: FunctionModels, kind: str) -> None:
        kinds.append(kind)
        folder = models._folder / kind
        folder.mkdir(parents=True)
        (folder / f"{kind}_mem_train").write_text("rows")
        (folder / "journal.jsonl").write_text("{}")

    monkeypatch.setattr(FunctionModels, "_profile", measure)
    return kinds


def test_every_function_of_a_scenario_has_terms() -> None:
    kinds, models = functions_of(SCENARIOS / "contention.yaml")
    assert set(kinds) == set(TERMS)
    assert models == yaml.safe_load((SCENARIOS / "contention.yaml").read_text())["topology"]["models"]
    assert functions_of(SCENARIOS / "demo.yaml") == ([], [])


def test_what_is_missing_is_profiled_uploaded_and_promoted(api: tuple[type[Api], str], profiled: list[str], tmp_path: Path) -> None:
    handler, address = api
    handler.there.append({"function": "acl", "nic_model": "BF-3"})
    said: list[str] = []
    FunctionModels(tmp_path, address, lambda: "t").make(["acl", "nids"], ["BF-3"], said.append)
    assert profiled == ["nids"]
    assert [(method, path) for method, path, _ in handler.asked] == [
        ("GET", "/api/v1/nf-models"),
        ("POST", "/api/v1/nf-models"),
        ("PUT", "/api/v1/nf-functions/nids"),
        ("POST", "/api/v1/nf-models/v1/promote"),
    ]
    uploaded = handler.asked[1][2]
    assert uploaded["files"] == [{"name": "nids_mem_train", "text": "rows"}]
    assert (uploaded["nic_model"], uploaded["pattern"]) == ("BF-3", "run_to_completion")
    assert said == [f"model of nids: profiled with {function_models.QUOTA} tests, trained and promoted"]


def test_a_refusal_is_said_and_does_not_end_the_demo(api: tuple[type[Api], str], profiled: list[str], tmp_path: Path) -> None:
    said: list[str] = []
    FunctionModels(tmp_path, api[1], lambda: "wrong").make(["nids"], ["BF-3"], said.append)
    assert profiled == []
    assert len(said) == 1
    assert "401" in said[0]
