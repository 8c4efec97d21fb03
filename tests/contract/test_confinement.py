"""The host's programs run with few rights: the systemd units are valid and strict, and the seccomp profile confines."""

import json
import platform
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from wallwatch_local.paths import REPOSITORY, binary
from wallwatch_testing import confined

UNITS = REPOSITORY / "collectors" / "systemd"
PROFILE = REPOSITORY / "docker" / "host" / "seccomp.json"
EXPOSURE = {"wallwatch-agent.service": 2.0, "wallwatch-telegraf.service": 2.5}
"""Most that systemd's own judgement (0 to 10) may say."""
NOBODY = 65534
DANGEROUS = re.findall(
    r"\w+",
    "mount umount2 pivot_root chroot setns unshare ptrace process_vm_readv process_vm_writev bpf perf_event_open keyctl add_key "
    "init_module finit_module delete_module kexec_load reboot swapon settimeofday clock_settime adjtimex iopl ioperm syslog "
    "setuid setgid setresuid setresgid setgroups capset userfaultfd io_uring_setup",
)


def analyse(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["systemd-analyze", *arguments], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", EXPOSURE)
def test_the_units_are_valid_to_systemd(name: str, tmp_path: Path) -> None:
    text = (UNITS / name).read_text()
    program = re.search(r"^ExecStart=(\S+/(\S+))", text, re.MULTILINE)
    assert program is not None
    (tmp_path / name).write_text(text.replace(program.group(1), str(binary(program.group(2)))))
    done = analyse("verify", "--man=no", str(tmp_path / name))
    ours = [line for line in done.stderr.splitlines() if name in line]
    assert ours == []


@pytest.mark.parametrize(("name", "most"), EXPOSURE.items())
def test_the_units_are_as_strict_as_they_say(name: str, most: float) -> None:
    done = analyse("security", "--offline=true", f"--threshold={round(most * 10)}", str(UNITS / name))
    assert done.returncode == 0, done.stdout


def test_the_agents_unit_has_no_capability_and_the_drop_in_adds_one() -> None:
    assert "\nCapabilityBoundingSet=\nAmbientCapabilities=\n" in (UNITS / "wallwatch-agent.service").read_text()
    assert "CapabilityBoundingSet=CAP_NET_ADMIN\n" in (UNITS / "wallwatch-agent.service.d" / "net-admin.conf").read_text()


CALL = """
import ctypes, sys
libc = ctypes.CDLL(None, use_errno=True)
answer = libc.syscall({number}, *[ctypes.c_long(0)] * 5)
sys.exit("refused" if answer == -1 and ctypes.get_errno() == 1 else 0)
"""


@pytest.mark.parametrize("attack", [["unshare", "--user", "true"], ["unshare", "--net", "true"], ["strace", "true"]], ids=" ".join)
def test_the_profile_refuses_programs_that_an_intruder_would_want(attack: list[str]) -> None:
    assert subprocess.run(attack, capture_output=True, check=False).returncode == 0, "possible without the profile"
    done = subprocess.run(confined.command(PROFILE, 0, attack), capture_output=True, text=True, check=False)
    assert done.returncode != 0


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the numbers of the system calls are those of x86-64")
@pytest.mark.parametrize(("name", "number"), [("bpf", 321), ("keyctl", 250), ("setns", 308), ("mount", 165), ("io_uring_setup", 425)])
def test_the_profile_refuses_system_calls_that_an_intruder_would_want(name: str, number: int) -> None:
    done = subprocess.run(
        confined.command(PROFILE, 0, [sys.executable, "-c", CALL.format(number=number)]), capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr.strip()) == (1, "refused"), name


def test_under_the_profile_the_collector_gathers_without_root(tmp_path: Path) -> None:
    folder = tmp_path / "host"
    folder.mkdir()
    (folder / "telegraf.conf").write_text(
        '[agent]\n  hostname = "h1"\n  omit_hostname = false\n'
        '[[inputs.rnic]]\n  sysfs_root = "/sys"\n  netlink = "none"\n[[outputs.file]]\n  files = ["stdout"]\n'
    )
    program = [str(binary("wallwatch-telegraf")), "--config", str(folder / "telegraf.conf"), "--once"]
    command = confined.command(PROFILE, NOBODY, program)
    for part in (folder, *folder.parents):  # the folders of tests are private
        if part == Path("/tmp") or part == Path("/"):
            break
        part.chmod(0o755)
    done = subprocess.run(command, cwd="/", capture_output=True, text=True, timeout=60, check=False)
    assert "permitted" not in done.stderr, done.stderr
    assert done.returncode == 0, done.stderr


def test_compose_uses_the_profile_for_both_programs_of_a_host(compose: dict[str, Any]) -> None:
    for name in ("telegraf", "agent"):
        assert "seccomp:docker/host/seccomp.json" in compose["services"][name]["security_opt"], name


def test_the_profile_allows_nothing_that_changes_the_machine() -> None:
    profile = json.loads(PROFILE.read_text())
    assert profile["defaultAction"] == "SCMP_ACT_ERRNO"
    allowed = {name for rule in profile["syscalls"] if rule["action"] == "SCMP_ACT_ALLOW" for name in rule["names"]}
    assert allowed.isdisjoint(DANGEROUS)
