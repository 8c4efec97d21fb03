"""Starts services of docker-compose.yml without a container engine: runc, with the rights, limits and folders that Compose names.

Only the network is the machine's own, so that the processes reach the servers that a test has started.
"""

import json
import os
import re
import shutil
import stat
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from wallwatch_local.buildah import Buildah

Service = Mapping[str, Any]
"""A service as the reference implementation of the Compose Specification loads it."""

_PERIOD_US = 100_000
_HIDDEN = ["/proc/acpi", "/proc/kcore", "/proc/keys", "/proc/timer_list", "/proc/scsi", "/sys/firmware"]
_DEVICES = [{"allow": False, "access": "rwm"}]


@dataclass(frozen=True)
class Container:
    """A container, running or ended."""

    name: str
    runtime: Path
    log: Path
    process: subprocess.Popen[bytes]
    healthcheck: list[str]

    def execute(self, *command: str, user: str | None = None, given: str = "") -> subprocess.CompletedProcess[str]:
        """Run a command in it, as its own user unless another one is named; it reads what is `given`."""
        as_user = ["--user", user] if user is not None else []
        whole = ["runc", "--root", str(self.runtime), "exec", *as_user, self.name, *command]
        return subprocess.run(whole, input=given, capture_output=True, text=True, check=False)

    def is_healthy(self) -> bool:
        """Whether the health check of Compose succeeds."""
        assert self.healthcheck[0] == "CMD"
        assert self.process.poll() is None, f"{self.name} has ended:\n{self.text()[-3000:]}"
        return self.execute(*self.healthcheck[1:]).returncode == 0

    def text(self) -> str:
        """What it has printed."""
        return self.log.read_text(errors="replace")


@dataclass(frozen=True)
class Machine:
    """Where containers run: a store of images, and folders for volumes and logs."""

    buildah: Buildah
    folder: Path

    def volume(self, name: str) -> Path:
        """The folder of a named volume."""
        return self.folder / "volumes" / name

    @property
    def host(self) -> Path:
        """What containers see of the host: below it are the folders that Compose mounts from there."""
        return self.folder / "host"

    @contextmanager
    def started(self, name: str, service: Service, environment: Mapping[str, str] | None = None) -> Iterator[Container]:
        """Run a service for the length of the block. `environment` is added to the service's own."""
        identity = f"{name}-{uuid4().hex[:8]}"
        bundle, runtime = self.folder / identity, self.folder / "runtime"
        bundle.mkdir(parents=True)
        with self.buildah.mounted(service["image"]) as root:
            image = self.buildah.configuration(service["image"])["config"]
            settings = self._settings(service, image, root, dict(environment or {}), bundle)
            (bundle / "config.json").write_text(json.dumps(settings))
            command = ["runc", "--root", str(runtime), "run", "--bundle", str(bundle), identity]
            log = bundle / "log"
            with log.open("wb") as output:
                process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True)
            try:
                yield Container(identity, runtime, log, process, health(service))
            finally:
                subprocess.run(["runc", "--root", str(runtime), "delete", "--force", identity], capture_output=True, check=False)
                process.wait(timeout=120)

    def ended(self, name: str, service: Service, environment: Mapping[str, str] | None = None) -> tuple[int, str]:
        """Run a service to its end: exit code and what it printed."""
        with self.started(name, service, environment) as container:
            code = container.process.wait(timeout=600)
            return code, container.text()

    def _settings(self, service: Service, image: Mapping[str, Any], root: Path, more: dict[str, str], bundle: Path) -> dict[str, Any]:
        capabilities = [f"CAP_{one}" for one in service.get("cap_add") or []]
        assert service["cap_drop"] == ["ALL"]
        own = dict(entry.split("=", 1) for entry in image.get("Env") or [])
        environment = own | {name: value or "" for name, value in (service.get("environment") or {}).items()} | more
        user, _, group = (service.get("user") or image.get("User") or "0:0").partition(":")
        limits = service["deploy"]["resources"]["limits"]
        devices = [device(entry) for entry in service.get("devices") or [] if Path(entry["source"]).exists()]
        profiles = [option.partition(":")[2] for option in service["security_opt"] if option.startswith("seccomp:")]
        return {
            "ociVersion": "1.0.2",
            "hostname": "container",
            "root": {"path": str(root), "readonly": bool(service.get("read_only"))},
            "process": {
                "user": {"uid": int(user), "gid": int(group or user)},
                "args": [*(service.get("entrypoint") or []), *(service.get("command") or [])],
                "env": [f"{name}={value}" for name, value in environment.items()],
                "cwd": image.get("WorkingDir") or "/",
                "noNewPrivileges": "no-new-privileges:true" in service["security_opt"],
                "capabilities": dict.fromkeys(("bounding", "effective", "permitted", "inheritable"), capabilities),
            },
            "mounts": [*_system_mounts(bundle), *self._mounts(service, root)],
            "linux": {
                "namespaces": [{"type": kind} for kind in ("pid", "ipc", "uts", "mount")],
                "maskedPaths": _HIDDEN,
                "devices": [{**one, "fileMode": 0o666, "uid": 0, "gid": 0} for one in devices],
                "resources": {
                    "memory": {"limit": int(limits["memory"])},
                    "cpu": {"quota": int(float(limits["cpus"]) * _PERIOD_US), "period": _PERIOD_US},
                    "devices": _DEVICES
                    + [{"allow": True, "access": "r", **{key: one[key] for key in ("type", "major", "minor")}} for one in devices],
                },
                **({"seccomp": seccomp(Path(profiles[0]))} if profiles else {}),
            },
        }

    def _mounts(self, service: Service, root: Path) -> list[dict[str, Any]]:
        mounts = [
            {"destination": path, "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "nodev", "mode=1777"]}
            for path in service.get("tmpfs") or []
        ]
        for one in service.get("volumes") or []:
            if one["type"] == "volume":
                source = self.volume(one["source"])
                if not source.exists():
                    first_contents(source, root / one["target"].lstrip("/"))
            else:
                source = self.host / one["source"].lstrip("/")
                source.mkdir(parents=True, exist_ok=True)
            options = ["rbind", "ro" if one.get("read_only") else "rw"]
            mounts.append({"destination": one["target"], "type": "bind", "source": str(source), "options": options})
        return mounts


def first_contents(volume: Path, place: Path) -> None:
    """A new volume gets what the image has at its place, with its owner and mode."""
    volume.mkdir(parents=True)
    if place.is_dir():
        shutil.copytree(place, volume, dirs_exist_ok=True, symlinks=True)
        found = place.stat()
        os.chown(volume, found.st_uid, found.st_gid)
        volume.chmod(stat.S_IMODE(found.st_mode))
        for below in place.rglob("*"):
            details = below.lstat()
            os.chown(volume / below.relative_to(place), details.st_uid, details.st_gid, follow_symlinks=False)


def health(service: Service) -> list[str]:
    """The command of the health check; Compose writes a dollar sign twice."""
    return [word.replace("$$", "$") for word in (service.get("healthcheck") or {}).get("test") or []]


def device(entry: Mapping[str, str]) -> dict[str, Any]:
    """A device of the machine."""
    found = Path(entry["source"]).stat()
    kind = "c" if stat.S_ISCHR(found.st_mode) else "b"
    return {"path": entry["target"], "type": kind, "major": os.major(found.st_rdev), "minor": os.minor(found.st_rdev)}


def seccomp(profile: Path) -> dict[str, Any]:
    """Docker's form of a profile as runc wants it; conditions on capabilities or kernels are not among those that we use."""
    read = json.loads(profile.read_text())
    assert not any({"includes", "excludes"} & set(rule) for rule in read["syscalls"])
    rules = [{key: value for key, value in rule.items() if key in ("names", "action", "args", "errnoRet")} for rule in read["syscalls"]]
    return {key: read[key] for key in ("defaultAction", "defaultErrnoRet", "architectures") if key in read} | {"syscalls": rules}


def at_ports(service: Service, ports: Mapping[int, int]) -> Service:
    """The service with other ports, as several of a kind share the machine's network."""
    text = json.dumps(service)
    for port, other in ports.items():
        text, count = re.subn(rf"\b{port}\b", str(other), text)
        assert count, f"the service does not name port {port}"
    changed: Service = json.loads(text)
    return changed


def _system_mounts(bundle: Path) -> list[dict[str, Any]]:
    hosts = bundle / "hosts"
    hosts.write_text("127.0.0.1 localhost kafka timescaledb backend\n")
    plain = ["nosuid", "noexec", "nodev"]
    return [
        {"destination": "/proc", "type": "proc", "source": "proc"},
        {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "strictatime", "mode=755", "size=65536k"]},
        {"destination": "/dev/shm", "type": "tmpfs", "source": "shm", "options": [*plain, "mode=1777", "size=65536k"]},
        {"destination": "/sys", "type": "sysfs", "source": "sysfs", "options": [*plain, "ro"]},
        {"destination": "/etc/hosts", "type": "bind", "source": str(hosts), "options": ["rbind", "ro"]},
    ]
