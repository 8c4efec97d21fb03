"""Models of a scenario's network functions: profiled on simulated cards by the product's own command, and uploaded as a user would."""

import json
import shlex
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from signal import SIGTERM
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import yaml

from wallwatch_local.errors import LocalStackError
from wallwatch_local.paths import binary
from wallwatch_local.processes import die_with_parent

QUOTA = 50
NOISE = 0.01
TIMEOUT_S = 300
NOTE = "Profiled at the start of the demo by wallwatch nf profile, on a simulated card with 1% noise"


@dataclass(frozen=True)
class Terms:
    """How a function uses the accelerator, and what the demo promises it: the share of its solo throughput that it may lose."""

    sla_drop: float
    pattern: str = "pipeline"


TERMS = {
    # Broken by the scenario's drift: more flows on one card, more matches on the other.
    "flowmonitor": Terms(0.14),
    "flowstats": Terms(0.25),
    "nat": Terms(0.3),
    "nids": Terms(0.4, "run_to_completion"),
    "acl": Terms(0.1),
    "iptunnel": Terms(0.1),
}
DEFAULT_TERMS = Terms(0.2)
CORES = 2


def functions_of(scenario: Path) -> tuple[list[str], list[str]]:
    """Kinds of network functions of a scenario, and the card models of its fleet; both empty where no function runs."""
    content = yaml.safe_load(scenario.read_text())
    kinds = sorted({str(function["kind"]) for function in content.get("functions") or []})
    return kinds, sorted(content["topology"]["models"]) if kinds else []


class FunctionModels:
    """Makes the models that do not exist yet.

    Parameters
    ----------
    folder
        Of the profiles: a profile that exists, in whole or in part, is continued rather than measured again.
    api
        Address of the API.
    token
        Returns a token of an operator.
    """

    def __init__(self, folder: Path, api: str, token: Callable[[], str]) -> None:
        self._folder = folder
        self._api = f"{api}/api/v1"
        self._new_token = token
        self._token = ""

    def make(self, kinds: list[str], nic_models: list[str], say: Callable[[str], None]) -> None:
        """Profile, upload and promote. Says what happens, also when something fails: the demo goes on without models."""
        try:
            self._token = self._new_token()
            there = {(each["function"], each["nic_model"]) for each in self._ask("GET", "/nf-models")["items"]}
            missing = {kind: [model for model in nic_models if (kind, model) not in there] for kind in kinds}
            for kind in [kind for kind, models in missing.items() if models]:
                self._profile(kind)
                for nic_model in missing[kind]:
                    self._upload(kind, nic_model)
                say(f"model of {kind}: profiled with {QUOTA} tests, trained and promoted")
        except (LocalStackError, OSError, subprocess.TimeoutExpired) as error:
            say(f"models of network functions could not be made: {error}")

    def _profile(self, kind: str) -> None:
        device = shlex.join([str(binary("fleetsim")), "dut", "--function", kind, "--noise", str(NOISE)])
        command = [str(Path(sys.executable).with_name("wallwatch")), "nf", "profile", "--dut", device, "--quota", str(QUOTA)]
        ran = subprocess.run(
            die_with_parent([*command, "--out", str(self._folder / kind), "--nf", kind], SIGTERM),
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
        )
        if ran.returncode != 0:
            raise LocalStackError(f"profile of {kind}: {ran.stderr.strip()}")

    def _upload(self, kind: str, nic_model: str) -> None:
        terms = TERMS.get(kind, DEFAULT_TERMS)
        files = [{"name": file.name, "text": file.read_text()} for file in sorted((self._folder / kind).glob(f"{kind}_*"))]
        body = {"function": kind, "nic_model": nic_model, "pattern": terms.pattern, "files": files, "note": NOTE}
        version = self._ask("POST", "/nf-models", body)
        self._ask("PUT", f"/nf-functions/{kind}", {"cores": CORES, "sla_drop": terms.sla_drop})
        self._ask("POST", f"/nf-models/{version['id']}/promote", {"reason": "first model of the demo"})

    def _ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        request = Request(  # noqa: S310  # our own address
            self._api + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"},
        )
        try:
            with urlopen(request, timeout=TIMEOUT_S) as answer:  # noqa: S310  # our own address
                return json.load(answer)
        except HTTPError as error:
            raise LocalStackError(f"{method} {path}: {error.code} {error.read().decode(errors='replace')[:500]}") from error
        except URLError as error:
            raise LocalStackError(f"{method} {path}: {error.reason}") from error
