"""Run the real `wallwatch-telegraf` on a folder that represents a host."""

import json
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from signal import SIGTERM
from typing import Any

from wallwatch_local.paths import binary
from wallwatch_local.processes import die_with_parent, running

AGENT = """
[global_tags]
  rack = "r1"
[agent]
  hostname = "{host}"
  interval = "{interval}"
  round_interval = false
  flush_interval = "200ms"
  precision = "1ns"
  metric_buffer_limit = 100000
  {more}
"""
INPUTS = """
[[inputs.rnic]]
  sysfs_root = "sys"
[[inputs.vf_traffic]]
  sysfs_root = "sys"
  proc_root = "proc"
  netlink = "netlink"
  probe_file = "probes.json"
[[inputs.ovs_offload]]
  unixctl = "ovs/vswitchd.ctl"
  ovsdb = "ovs/db.sock"
  sysfs_root = "sys"
"""
FREQUENT_MASKS = '  mask_interval = "2s"\n'
"""Behind `INPUTS`."""
FILE_OUTPUT = """
[[outputs.file]]
  files = ["{path}"]
  data_format = "json"
  json_timestamp_units = "1ns"
"""
KAFKA_OUTPUT = """
[[outputs.kafka]]
  brokers = ["{bootstrap}"]
  topic = "wallwatch."
  routing_tag = "host"
  required_acks = -1
  data_format = "json"
  json_timestamp_units = "1ns"
  [outputs.kafka.topic_suffix]
    method = "measurement"
    separator = ""
"""


@dataclass(frozen=True)
class Message:
    """One metric as it goes to Kafka."""

    name: str
    timestamp_ns: int
    tags: dict[str, str]
    fields: dict[str, Any]


def message(decoded: dict[str, Any]) -> Message:
    """A metric from its decoded JSON."""
    return Message(decoded["name"], decoded["timestamp"], decoded["tags"], decoded["fields"])


def messages(path: Path) -> list[Message]:
    """The metrics in the file of the output `file`; a line that is still being written is not one yet."""
    lines = path.read_text().splitlines(keepends=True) if path.exists() else []
    return [message(json.loads(line)) for line in lines if line.endswith("\n")]


def configuration(host: str, inputs: str, outputs: str, interval: str = "1s", more: str = "") -> str:
    """Text of a telegraf.conf."""
    return AGENT.format(host=host, interval=interval, more=more) + inputs + outputs


def gather_once(folder: Path, host: str, inputs: str) -> list[Message]:
    """What one gathering of the given inputs emits; paths in `inputs` count from the folder."""
    output = folder / "once.json"
    file = folder / "once.conf"
    file.write_text(configuration(host, inputs, FILE_OUTPUT.format(path=output)))
    command = [str(binary("wallwatch-telegraf")), "--config", str(file), "--once"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    # An input that reports an error makes the exit code 1; what it emitted counts all the same.
    assert done.returncode == 0 or "input plugins recorded" in done.stderr, done.stderr
    return messages(output)


@contextmanager
def collecting(
    folder: Path, host: str, inputs: str, outputs: str, interval: str = "1s", more: str = "", within: Sequence[str] = ()
) -> Iterator["subprocess.Popen[bytes]"]:
    """The collector runs in the folder for the length of the block; `within` is the beginning of its command, as `with_port` makes it."""
    file = folder / "telegraf.conf"
    file.write_text(configuration(host, inputs, outputs, interval, more))
    command = die_with_parent([*within, str(binary("wallwatch-telegraf")), "--config", file.name], SIGTERM)
    with running_in(folder, command) as process:
        yield process


def with_port(name: str) -> list[str]:
    """Start a command in its own network namespace with a device of this name, because TC requires real devices."""
    return ["unshare", "--net", "--", "sh", "-c", f'ip link add {name} type veth peer name other && exec "$@"', "sh"]


@contextmanager
def running_in(folder: Path, command: list[str]) -> Iterator["subprocess.Popen[bytes]"]:
    """A process with the folder as its working directory, so that socket paths stay short."""
    here = ["env", f"--chdir={folder}", *command]
    with running("wallwatch-telegraf", here, folder / "telegraf.log", lambda: True, SIGTERM) as process:
        yield process
