"""Somebody between the real backend and the real agent of a host, maybe with the key: nothing is carried out, all is audited."""

import json
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from signal import SIGKILL, SIGTERM
from typing import Any
from uuid import uuid4

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from wallwatch.domain.masks.dump import Flow, read_dump
from wallwatch.domain.masks.space import HeaderSpace
from wallwatch.domain.planning.operations import digest, identity, packed
from wallwatch_backend.hosts.command_keys.signing import FIRST_KEY, CommandSigner
from wallwatch_local.hosts import hand_over_token, render
from wallwatch_local.paths import REPOSITORY, binary
from wallwatch_local.processes import die_with_parent, running
from wallwatch_testing import ovs
from wallwatch_testing.confined import command as command_confined
from wallwatch_testing.hostile_server import SIGNED, UNSIGNED, Forge, Forger, at
from wallwatch_testing.opamp_middle import Middle, between, payload_of

HOST, PCI = "host01", "0000:3b:00.0"
NOBODY = 65534
"""The agent has no root here and no capability, and only the system calls of the shipped profile: these remedies need no more."""

ONLY_CLAIMED = ("bad_signature", "unknown_key", "malformed")


@pytest.fixture(scope="module")
def backend_settings() -> dict[str, object]:
    return {"command_ttl_s": 300, "command_grace_s": 0, "remedy_max_fleet_percent": 100, "remedy_watch_s": 1}


@dataclass
class Attacked:
    """A host with a real switch and a real agent, and who stands between it and the backend."""

    folder: Path
    switch: ovs.OpenVSwitch
    middle: Middle
    forger: Forger
    agent: ExitStack = field(default_factory=ExitStack)

    def start_agent(self) -> None:
        command = [str(binary("wallwatch-agent")), "run", "--config", "agent.yaml"]
        log, before = self.folder / "agent.log", self.middle.connections
        confined = command_confined(REPOSITORY / "docker/host/seccomp.json", NOBODY, ["env", f"--chdir={self.folder}", *command])
        started = die_with_parent(confined, SIGTERM)
        self.process = self.agent.enter_context(running("agent", started, log, lambda: self.middle.connections > before, SIGTERM))

    def kill_agent(self) -> None:
        """As a power cut would: nothing more is written."""
        self.process.send_signal(SIGKILL)
        self.process.wait()
        self.agent.close()

    def idle(self) -> str:
        """What the switch has for max-idle; empty where it is unset."""
        return self.switch.vsctl("--if-exists", "get", "Open_vSwitch", ".", "other_config:max-idle").strip().strip('"')

    def journal(self, kind: str) -> list[dict[str, Any]]:
        records = [json.loads(line) for line in (self.folder / "agent/journal.jsonl").read_text().splitlines()]
        return [record for record in records if record["kind"] == kind]

    def send(self, message: bytes) -> dict[str, Any]:
        """Send a message to the agent; return its answer, not a repeated answer to an earlier message."""
        try:
            named = payload_of(message)["command_id"]
        except (ValueError, IndexError, KeyError, TypeError, RecursionError):
            named = None
        self.middle.inject(message)
        while (answer := self.middle.answer())["command_id"] not in (named, "") and named is not None:
            pass
        return answer


def make_card(sysfs: Path) -> None:
    """One RNIC whose uplink is p0 and whose representors are p0_0 and p0_1."""
    (sysfs / f"bus/pci/devices/{PCI}/net/p0").mkdir(parents=True)
    for entry in ("class/infiniband/mlx5_0", "class/net/p0"):
        (sysfs / entry).mkdir(parents=True)
        (sysfs / entry / "device").symlink_to(f"../../../bus/pci/devices/{PCI}")
    for name, port in (("p0", "p0"), ("p0_0", "pf0vf0"), ("p0_1", "pf0vf1")):
        (sysfs / f"class/net/{name}").mkdir(exist_ok=True)
        (sysfs / f"class/net/{name}/phys_switch_id").write_text("aabb\n")
        (sysfs / f"class/net/{name}/phys_port_name").write_text(port + "\n")


def hand_to_nobody(folder: Path) -> None:
    """As on a host where a group may use the sockets of Open vSwitch, and the agent is in it."""
    for path in (
        folder,
        folder / "ovs",
        *(folder / "agent").rglob("*"),
        folder / "agent",
        *folder.glob("agent.*"),
        *folder.glob("*token*"),
    ):
        os.chown(path, NOBODY, NOBODY)
    for socket in (*(folder / "ovs").glob("*.sock"), *(folder / "ovs").glob("*.ctl")):
        os.chown(socket, 0, NOBODY)
        socket.chmod(0o770)


@pytest.fixture(scope="module")
def attacked(backend: Any, admin: httpx.Client) -> Iterator[Attacked]:
    assert not ovs.missing(), f"Open vSwitch is not installed ({', '.join(ovs.missing())}): run 'make setup'"
    token = admin.post("/api/v1/agents/enrolment-tokens", json={"host": HOST}).json()["token"]
    with tempfile.TemporaryDirectory(prefix="ww", dir="/tmp") as place:  # short, since it holds sockets
        folder = Path(place)
        (folder / "agent").mkdir(mode=0o700)
        make_card(folder / "sys")
        key = CommandSigner.load(backend.settings.secrets_dir)
        private = Ed25519PrivateKey.from_private_bytes((backend.settings.secrets_dir / FIRST_KEY).read_bytes())
        with ovs.start(folder / "ovs") as switch, between(backend.url.replace("http", "ws") + "/v1/opamp") as middle:
            (folder / "agent.yaml").write_text(render("agent.yaml", {"host": HOST, "server_url": backend.url, "opamp_url": middle.url}))
            hand_over_token(folder, token)
            hand_to_nobody(folder)
            one = Attacked(folder, switch, middle, Forger(HOST, private, key.kid))
            one.start_agent()
            try:
                yield one
            finally:
                one.agent.close()


@pytest.fixture
def requested(operator: httpx.Client, eventually: Any) -> Callable[..., dict[str, Any]]:
    """A function that requests a remedy and returns it in the state that it reaches."""

    def request(*states: str, **params: Any) -> dict[str, Any]:
        body = {"action": "tune-revalidator", "host": HOST, "params": params, "mode": "apply"}
        answer = operator.post("/api/v1/remedies", json=body)
        assert answer.status_code == 201, answer.text
        path = f"/api/v1/remedies/{answer.json()['id']}"
        found: dict[str, Any] = eventually(lambda: (r := operator.get(path).json())["state"] not in ("approved", "running") and r)
        assert found["state"] in states, found
        return found

    return request


@pytest.fixture
def undone(operator: httpx.Client, eventually: Any) -> Callable[[dict[str, Any]], None]:
    def undo(remedy: dict[str, Any]) -> None:
        path = f"/api/v1/remedies/{remedy['id']}"
        assert operator.post(f"{path}/undo").status_code == 202
        eventually(lambda: operator.get(path).json()["state"] == "undone")

    return undo


def refusals(admin: httpx.Client) -> list[dict[str, Any]]:
    """What the audit log has of the host's agent."""
    entries = admin.get("/api/v1/audit", params={"actor": f"agent:{HOST}", "limit": 500}).json()["items"]
    return [entry["detail"] for entry in entries if entry["outcome"] == "refused"]


def test_the_agent_under_attack_has_no_root_and_no_capability_and_is_confined(attacked: Attacked) -> None:
    status = dict(line.split(":\t", 1) for line in Path(f"/proc/{attacked.process.pid}/status").read_text().splitlines() if ":\t" in line)
    assert status["Name"].startswith("wallwatch-agent"[:15])
    assert (status["Uid"].split()[0], int(status["CapEff"], 16), status["NoNewPrivs"], status["Seccomp"]) == (str(NOBODY), 0, "1", "2")


@pytest.mark.parametrize(("forge", "code"), UNSIGNED.values(), ids=UNSIGNED.keys())
def test_what_the_key_did_not_sign_is_rejected(attacked: Attacked, forge: Forge, code: str) -> None:
    answer = attacked.send(forge(attacked.forger))
    assert (answer["state"], answer["operations"]) == ("refused", [])
    assert answer["code"] in ([code] if code else ONLY_CLAIMED), answer


@pytest.mark.parametrize(("forge", "code"), SIGNED.values(), ids=SIGNED.keys())
def test_what_a_stolen_key_signed_is_refused_unless_it_is_an_order_for_now_and_here(attacked: Attacked, forge: Forge, code: str) -> None:
    answer = attacked.send(forge(attacked.forger))
    assert (answer["state"], answer["code"], answer["operations"]) == ("refused", code, []), answer
    assert len(answer["message"]) < 1000


def test_none_of_these_attacks_changed_anything_and_each_kind_is_audited(attacked: Attacked, admin: httpx.Client, eventually: Any) -> None:
    codes = {code for _, code in (UNSIGNED | SIGNED).values() if code}
    claimed = codes.intersection(ONLY_CLAIMED)
    eventually(lambda: codes <= {detail.get("code") for detail in refusals(admin)})
    assert {detail["reason"] for detail in refusals(admin)} == {*(f"rejected_{code}" for code in claimed), "unknown_command"}
    assert attacked.journal("started") == []
    assert attacked.idle() == ""
    assert not any((attacked.folder / "agent").glob("cordon/*"))
    assert attacked.process.poll() is None
    log = (attacked.folder / "agent.log").read_text()
    assert all(f'"code":"{code}"' in log for code in codes)
    secret = json.loads((attacked.folder / "agent/credentials.json").read_text())["secret"]
    assert secret not in log


def test_a_key_that_ours_did_not_introduce_is_not_trusted(attacked: Attacked, admin: httpx.Client, eventually: Any) -> None:
    mine = Forger(HOST, Ed25519PrivateKey.generate(), "mine")
    introduction = {"kid": "mine", "public_key": "A" * 43, "issued_at": at(), "expires_at": at(hours=1), "retires": []}
    attacked.middle.inject(mine.sign(introduction, typ="wallwatch-key+jws"), "key")
    refused = eventually(lambda: admin.get("/api/v1/audit", params={"action": "command_key.introduce"}).json()["items"])
    assert (refused[0]["outcome"], refused[0]["detail"]["reason"][:11]) == ("refused", "unknown_key")
    assert attacked.send(mine.sign())["code"] == "unknown_key"


def test_a_repeated_command_runs_once_even_after_a_restart_and_with_other_content(attacked: Attacked, requested: Any, undone: Any) -> None:
    remedy = requested("verifying", "confirmed", max_idle_ms=20_000)
    attacked.middle.answer()
    command = attacked.middle.commands[-1]
    started = attacked.journal("started")
    other = attacked.forger.changed(**payload_of(command) | {"params": {"max_idle_ms": 500}})
    assert [attacked.send(again)["repeated"] for again in (command, command, other)] == [True] * 3
    attacked.kill_agent()
    attacked.start_agent()
    assert [attacked.send(again)["repeated"] for again in (command, other)] == [True] * 2
    assert attacked.journal("started") == started
    assert attacked.idle() == "20000"
    undone(remedy)
    attacked.middle.answer()
    assert attacked.send(command)["repeated"], "what was undone must not come back"
    assert attacked.idle() == ""


def test_a_damaged_copy_that_arrives_first_does_not_settle_the_command(
    attacked: Attacked, requested: Any, undone: Any, admin: httpx.Client
) -> None:
    def copy_first(command: bytes) -> bytes:
        attacked.middle.inject(command[:-4] + b"AAAA")
        return command

    attacked.middle.change = copy_first
    try:
        remedy = requested("verifying", "confirmed", max_idle_ms=30_000)
    finally:
        attacked.middle.change = None
    assert [attacked.middle.answer()["code"], attacked.middle.answer()["code"]] == ["bad_signature", ""]
    assert attacked.idle() == "30000"
    undone(remedy)
    attacked.middle.answer()
    assert attacked.idle() == ""


def test_a_command_damaged_in_transit_expires_with_the_reason(
    attacked: Attacked, operator: httpx.Client, backend: Any, eventually: Any
) -> None:
    attacked.middle.change = lambda command: command[:-4] + b"AAAA"
    try:
        order = {"action": "tune-revalidator", "host": HOST, "params": {"max_idle_ms": 30_000}, "mode": "apply"}
        path = f"/api/v1/remedies/{operator.post('/api/v1/remedies', json=order).json()['id']}"
        eventually(lambda: operator.get(path).json()["commands"][-1]["code"] == "bad_signature")
        with backend.connect() as connection:  # time passes
            connection.execute("UPDATE remedy_command SET expires_at = now() WHERE remedy_id = %s", [path.rpartition("/")[2]])
        remedy = eventually(lambda: (found := operator.get(path).json())["state"] == "expired" and found)
    finally:
        attacked.middle.change = None
    assert attacked.middle.answer()["code"] == remedy["code"] == "bad_signature"
    assert "rejected a message that named this command" in remedy["message"]
    assert attacked.idle() == ""


def test_a_connection_that_breaks_before_the_result_arrives_changes_nothing_about_it(
    attacked: Attacked, operator: httpx.Client, undone: Any, eventually: Any
) -> None:
    attacked.middle.holds_results = True
    order = {"action": "tune-revalidator", "host": HOST, "params": {"max_idle_ms": 40_000}, "mode": "apply"}
    remedy = operator.post("/api/v1/remedies", json=order).json()
    identity = attacked.middle.answer()["command_id"]
    attacked.middle.holds_results = False
    attacked.middle.cut()
    repeated = attacked.middle.answer()
    assert (repeated["command_id"], repeated["state"]) == (identity, "done")
    eventually(lambda: operator.get(f"/api/v1/remedies/{remedy['id']}").json()["state"] in ("verifying", "confirmed"))
    assert [record["command_id"] for record in attacked.journal("started")].count(identity) == 1
    undone(remedy)
    attacked.middle.answer()


@pytest.fixture
def flows(attacked: Attacked, eventually: Any) -> Iterator[Callable[[], list[Flow]]]:
    """Twelve flows in the real switch, and a function that reads them."""
    switch = attacked.switch
    switch.vsctl("set", "Open_vSwitch", ".", "other_config:max-idle=3600000")
    switch.add_dummy_bridge("br0", ("p0_0", "p0_1"))
    eventually((switch.folder / "br0.mgmt").exists)
    for n in range(1, 13):
        switch.add_flow("br0", f"in_port=p0_0,ip,nw_src=10.{n}.0.0/16,actions=output:p0_1")
        switch.receive("p0_0", f"10.{n}.7.7", "192.0.2.1")

    def read() -> list[Flow]:
        return list(read_dump(switch.appctl("dpctl/dump-flows", "-m", "--no-names"), HeaderSpace()).flows)

    eventually(lambda: len(read()) == 12)
    yield read
    switch.vsctl("del-br", "br0", "--", "remove", "Open_vSwitch", ".", "other_config", "max-idle")


def test_an_agent_killed_in_the_middle_of_a_plan_reports_it_does_not_run_it_again_and_rolls_it_back(
    attacked: Attacked, flows: Callable[[], list[Flow]], eventually: Any
) -> None:
    before = flows()
    plan, remedy = str(uuid4()), str(uuid4())
    content, sha256 = packed(
        {
            "version": 1,
            "plan": plan,
            "host": HOST,
            "pci": PCI,
            "pace_per_s": 3,
            "contested": False,
            "flows": {identity(flow): digest(flow) for flow in before},
            "steps": [["move", "del", f"ufid:{flow.ufid}", ""] for flow in before]
            + [["move", "add", f"ufid:{flow.ufid},{flow.match}", flow.written] for flow in before],
        }
    )
    header = {"command_id": str(uuid4()), "name": "operations", "sha256": sha256, "bytes": len(content), "part": 1, "parts": 1}
    attacked.middle.inject(json.dumps(header).encode() + b"\n" + content, "attachment")
    params = {"pci": PCI, "plan": plan, "operations_sha256": sha256}
    apply = attacked.forger.changed(command_id=header["command_id"], remedy_id=remedy, action="apply-mask-plan", params=params)
    attacked.middle.inject(apply)
    eventually(lambda: len(flows()) < len(before), every_s=0.01)
    attacked.kill_agent()
    assert len(flows()) < len(before)
    attacked.start_agent()
    assert attacked.send(apply)["code"] == "interrupted"
    assert [record["command_id"] for record in attacked.journal("started")].count(header["command_id"]) == 1
    undone = attacked.send(attacked.forger.changed(remedy_id=remedy, action="apply-mask-plan", operation="undo", params={}))
    assert undone["state"] == "done", undone
    # Nothing of the plan is left. What it had deleted when the agent died comes again with its first packet.
    were, are = ({(flow.match, flow.written) for flow in found} for found in (before, flows()))
    assert are <= were


def test_a_retired_stolen_key_is_refused(attacked: Attacked, admin: httpx.Client, requested: Any, undone: Any, eventually: Any) -> None:
    rotated = admin.post("/api/v1/command-keys/rotate", json={"overlap_s": 0})
    assert rotated.status_code == 200, rotated.text
    eventually(lambda: admin.get("/api/v1/command-keys").json()["behind_total"] == 0)
    assert attacked.send(attacked.forger.sign())["code"] == "retired_key"
    remedy = requested("verifying", "confirmed", max_idle_ms=50_000)
    attacked.middle.answer()
    undone(remedy)
