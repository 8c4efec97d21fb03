"""A host with one RNIC and one VF, two network namespaces, and a CNI chain that ends in wallwatch-cni, driven by cnitool."""

import json
import os
import shutil
import subprocess
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).parents[2]
TOOLS = REPOSITORY / ".local" / "tools" / "bin"
# Debian puts the reference plugins here.
PLUGINS = Path("/usr/lib/cni")
CNITOOL = "github.com/containernetworking/cni/cnitool@v1.3.1"
PHYSICAL, VIRTUAL = "0000:3b:00.0", "0000:3b:00.2"
VXLAN_NETWORK = 4097


@dataclass(frozen=True)
class Call:
    """What one call of cnitool came to."""

    code: int
    result: dict[str, Any]
    complaint: str
    plugin_answer: dict[str, Any]


@dataclass
class Chain:
    """One CNI network on one host, and one pod's network namespace."""

    folder: Path
    cnitool: Path
    network: str
    outside: str
    pod: str
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def cordon_file(self) -> Path:
        return self.folder / "cordon" / f"{PHYSICAL}.json"

    @property
    def answer_file(self) -> Path:
        return self.folder / "answer.json"

    @property
    def event_folder(self) -> Path:
        return self.folder / "events"

    def events(self) -> list[dict[str, Any]]:
        """What wallwatch-cni left for the collector, the oldest first."""
        return [json.loads(path.read_text()) for path in sorted(self.event_folder.glob("[!.]*.json"))]

    def end_pod(self) -> None:
        """The pod's network namespace goes before the runtime calls DEL, as after a crash of the pod's sandbox."""
        subprocess.run(["ip", "netns", "delete", self.pod], check=True, timeout=60)

    def cordon(self, reason: str) -> None:
        record = {"pci": PHYSICAL, "reason": reason, "remedy_id": "r1", "command_id": "c1", "at": "2026-11-21T03:00:00Z"}
        self.cordon_file.write_text(json.dumps(record))

    def pace(self, kind: str, pace: dict[str, int]) -> None:
        folder = self.folder / "pace"
        folder.mkdir(exist_ok=True)
        (folder / f"{PHYSICAL}.{kind}.json").write_text(json.dumps({"pci": PHYSICAL, **pace}))

    def release(self) -> None:
        self.cordon_file.unlink()

    def call(self, command: str, device: str | None = VIRTUAL) -> Call:
        """Run cnitool as a runtime on this host would, with the VF as the capability `deviceID`."""
        self.answer_file.unlink(missing_ok=True)
        capabilities = {"CAP_ARGS": json.dumps({"deviceID": device})} if device else {}
        done = subprocess.run(
            ["ip", "netns", "exec", self.outside, str(self.cnitool), command, self.network, f"/run/netns/{self.pod}"],
            env={**self.environment, **capabilities},
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
        answer = self.answer_file.read_text() if self.answer_file.exists() else ""
        printed = done.stdout[done.stdout.find("{") :] if "{" in done.stdout else ""
        return Call(done.returncode, json.loads(printed) if printed else {}, done.stderr, json.loads(answer) if answer else {})

    def addresses(self) -> list[str]:
        """IPv4 addresses on the pod's eth0."""
        shown = subprocess.run(
            ["ip", "-n", self.pod, "-j", "addr", "show", "dev", "eth0"], capture_output=True, text=True, timeout=60, check=False
        )
        if shown.returncode != 0:
            return []
        return [a["local"] for link in json.loads(shown.stdout) for a in link["addr_info"] if a["family"] == "inet"]

    def leases(self) -> list[str]:
        """Addresses that host-local has assigned and not released."""
        return [path.name for path in self.folder.glob(f"leases/{self.network}/*") if path.name[0].isdigit()]


def _go_build(output: Path, *arguments: str, **extra: str) -> Path:
    go = shutil.which("go") or "/usr/local/go/bin/go"
    subprocess.run(
        [go, *arguments], cwd=REPOSITORY / "collectors", env={**os.environ, **extra}, check=True, capture_output=True, timeout=280
    )
    return output


@pytest.fixture(scope="session")
def cnitool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`make setup` installs it; without that it is built here."""
    if (TOOLS / "cnitool").exists():
        return TOOLS / "cnitool"
    folder = tmp_path_factory.mktemp("cnitool")
    return _go_build(folder / "cnitool", "install", CNITOOL, GOBIN=str(folder), GOFLAGS="")


@pytest.fixture(scope="session")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Always built from this tree: an older binary would test an older plugin. It takes a second when nothing has changed."""
    output = tmp_path_factory.mktemp("plugin") / "wallwatch-cni"
    return _go_build(output, "build", "-o", str(output), "./cmd/wallwatch-cni")


@pytest.fixture(scope="session")
def external_input(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """inputs.cni_events as a plugin for a Telegraf that somebody already runs."""
    output = tmp_path_factory.mktemp("input") / "cni_events"
    return _go_build(output, "build", "-o", str(output), "./plugins/inputs/cni_events/cmd")


def _write_sysfs(root: Path) -> None:
    devices = root / "bus" / "pci" / "devices"
    (devices / PHYSICAL).mkdir(parents=True)
    (devices / VIRTUAL).mkdir()
    (devices / VIRTUAL / "physfn").symlink_to(f"../{PHYSICAL}")


def _write_network(folder: Path, network: str, first: dict[str, Any]) -> None:
    ipam = {"type": "host-local", "subnet": "10.213.0.0/24", "dataDir": str(folder / "leases")}
    wallwatch = {
        "type": "wallwatch-cni",
        "sysfsRoot": str(folder / "sys"),
        "cordonDir": str(folder / "cordon"),
        "eventDir": str(folder / "events"),
        "vxlanNetwork": VXLAN_NETWORK,
        "capabilities": {"deviceID": True},
    }
    chain = {"cniVersion": "1.0.0", "name": network, "plugins": [{**first, "ipam": ipam}, wallwatch]}
    (folder / "net.d").mkdir()
    (folder / "net.d" / "10-chain.conflist").write_text(json.dumps(chain))


def _write_plugins(folder: Path, plugin: Path, answer: Path) -> None:
    """Reference plugins as they are; ours behind a script that keeps its answer, since cnitool shows an error's text but not its code."""
    (folder / "bin").mkdir()
    for name in ("bridge", "ptp", "host-local"):
        (folder / "bin" / name).symlink_to(PLUGINS / name)
    script = folder / "bin" / "wallwatch-cni"
    script.write_text(f"#!/bin/sh\n'{plugin}' >'{answer}'\ncode=$?\ncat '{answer}'\nexit $code\n")
    script.chmod(0o755)


@pytest.fixture(params=["bridge", "ptp"])
def chain(request: pytest.FixtureRequest, tmp_path: Path, cnitool: Path, plugin: Path) -> Iterator[Chain]:
    """A chain behind `bridge` or `ptp`. "Outside" is a namespace of its own, so that the machine's own network is left alone."""
    if os.geteuid() != 0:
        pytest.skip("network namespaces need root")
    assert (PLUGINS / "host-local").exists(), f"{PLUGINS} has no CNI plugins: run 'make setup' (Debian: containernetworking-plugins)"
    mark = uuid.uuid4().hex[:8]
    made = Chain(tmp_path, cnitool, f"ww{mark}", f"wwout{mark}", f"wwpod{mark}")
    _write_sysfs(tmp_path / "sys")
    (tmp_path / "cordon").mkdir()
    made.event_folder.mkdir()
    first = {"type": "bridge", "bridge": "wwbr0", "isGateway": True} if request.param == "bridge" else {"type": "ptp"}
    _write_network(tmp_path, made.network, first)
    _write_plugins(tmp_path, plugin, made.answer_file)
    made.environment = {
        "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin",
        "NETCONFPATH": str(tmp_path / "net.d"),
        "CNI_PATH": str(tmp_path / "bin"),
        "CNI_IFNAME": "eth0",
    }
    try:
        for namespace in (made.outside, made.pod):
            subprocess.run(["ip", "netns", "add", namespace], check=True, timeout=60)
        yield made
        made.call("del")
    finally:
        for namespace in (made.pod, made.outside):
            subprocess.run(["ip", "netns", "delete", namespace], check=False, capture_output=True, timeout=60)
