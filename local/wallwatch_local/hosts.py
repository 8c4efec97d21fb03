"""The simulated hosts of a scenario, and the two configuration files of each host's processes."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any

import yaml

from wallwatch_local.errors import LocalStackError
from wallwatch_local.kafka_security import Security
from wallwatch_local.paths import REPOSITORY

SCENARIOS = REPOSITORY / "tests" / "scenarios"


@dataclass(frozen=True)
class Host:
    """One simulated host; its folder is named after it."""

    name: str
    rack: str


def scenario_file(name: str) -> Path:
    """The file of a scenario, by name, such as ``demo``."""
    known = {path.stem: path for path in SCENARIOS.glob("*.yaml")}
    if name not in known:
        raise LocalStackError(f"unknown scenario {name!r} (make demo SCENARIO=name): choose one of\n\n{menu()}")
    return known[name]


def menu() -> str:
    """Every scenario with the comment on the first line of its file, which describes it."""
    files = sorted(SCENARIOS.glob("*.yaml"), key=lambda file: file.stem)
    width = max(len(file.stem) for file in files)
    return "\n".join(f"  {file.stem:<{width}}  {first_comment(file)}" for file in files)


def first_comment(file: Path) -> str:
    """Text of the comment that a scenario begins with."""
    with file.open() as lines:
        return lines.readline().removeprefix("#").strip()


def hosts_of(scenario: Path) -> list[Host]:
    """Hosts of a scenario, named and assigned to racks as fleetsim does: host01, host02, ... in blocks.

    Raises
    ------
    LocalStackError
        When the file has no usable topology (fleetsim itself checks the rest).
    """
    content: Any = yaml.safe_load(scenario.read_text())
    topology = content.get("topology") if isinstance(content, Mapping) else None
    count = topology.get("hosts") if isinstance(topology, Mapping) else None
    racks = topology.get("racks", 1) if isinstance(topology, Mapping) else None
    if not isinstance(count, int) or not isinstance(racks, int) or count < 1 or racks < 1:
        raise LocalStackError(f"{scenario} has an invalid topology: 'hosts' is required, 'racks' is optional")
    return [Host(f"host{index + 1:02d}", f"r{index * racks // count + 1}") for index in range(count)]


def render(template: str, values: Mapping[str, str]) -> str:
    """Fill a template; a name without a value is an error."""
    return Template(resources.files("wallwatch_local").joinpath("templates", template).read_text()).substitute(values)


def write_configuration(folder: Path, host: Host, kafka_bootstrap: str, agent_url: str, security: Security | None = None) -> None:
    """Write ``telegraf.conf`` and ``agent.yaml`` into a host's folder."""
    values = {
        "host": host.name,
        "rack": host.rack,
        "kafka_bootstrap": kafka_bootstrap,
        "kafka_security": security.telegraf() if security is not None else "",
        "server_url": agent_url,
        "opamp_url": agent_url.replace("http", "ws", 1) + "/v1/opamp",
    }
    # The simulator starts containers before the collector runs and creates the folder of their events.
    for part in ("telegraf-buffer", "agent", "cni/events"):
        (folder / part).mkdir(parents=True, exist_ok=True, mode=0o700)
    for template in ("telegraf.conf", "agent.yaml"):
        file = folder / template
        file.touch(mode=0o600)
        file.chmod(0o600)  # the collector's has a password
        file.write_text(render(template, values))


def is_enrolled(folder: Path) -> bool:
    """Whether the host's agent has a certificate; credentials of earlier releases have none."""
    try:
        return "certificate" in json.loads((folder / "agent" / "credentials.json").read_text())
    except (FileNotFoundError, ValueError):
        return False


def hand_over_token(folder: Path, token: str) -> None:
    """Put a single-use enrolment token where the host's agent reads it on its first start, that is, without credentials."""
    (folder / "agent" / "credentials.json").unlink(missing_ok=True)
    file = folder / "agent" / "enrolment-token"
    file.unlink(missing_ok=True)
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as handle:
        handle.write(token + "\n")


def hand_over_telemetry_key(folder: Path, key: str) -> None:
    """Put a telemetry key where the host's agent keeps it and its collector reads it."""
    file = folder / "agent" / "telemetry" / "key"
    file.parent.mkdir(exist_ok=True)
    new = file.with_suffix(".new")
    new.unlink(missing_ok=True)
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o640), "w") as handle:
        handle.write(key + "\n")
    new.replace(file)
