"""The job `lab`: offers the devices of its settings, takes campaigns from the database and runs each as a process of its own.

A campaign is held by a heartbeat. A runner that is stopped lets go of its campaigns at once, one that dies loses them after half a minute;
the next one resumes them from the folder, or from the journal in the database when the folder was on another machine.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg

from wallwatch.jobs.lab_run import JOURNAL, PROGRAM, CampaignProcess, CommandChanged, Ended, restore
from wallwatch.jobs.metrics import CAMPAIGNS, LAB_RUNNING, LAB_TESTS, serve
from wallwatch.settings import LabDevice, Settings
from wallwatch.store import lab as store
from wallwatch.store.lab import CampaignState

log = logging.getLogger(__name__)

TURN_S = 1.0
OFFER_EVERY_S = 10.0
DESCRIBE_AGAIN_S = 30.0
"""A device that did not describe itself is asked again after so long."""
DESCRIBE_S = 60.0
RETRY_S = 5.0
RELEASE_S = 6.0
"""How long a stopped runner waits for its campaigns to finish their running test: supervisors kill it after ten seconds."""


def key_of(command: str) -> str:
    """A fingerprint of a command: the database shows when it changed, and does not have the command."""
    return hashlib.sha256(command.encode()).hexdigest()[:16]


class Offers:
    """The devices of this runner: which answered, and which do not."""

    def __init__(self, devices: Mapping[str, LabDevice], runner: str, program: Sequence[str]) -> None:
        self._devices, self._runner, self._program = devices, runner, program
        self._ask_at: dict[str, float] = dict.fromkeys(devices, 0.0)
        self._seen_at = 0.0

    def refresh(self, connection: store.Connection, busy: set[str], now: float) -> None:
        """Describe devices that have not answered yet, and say that the others are still here; busy ones are left alone."""
        for name, device in self._devices.items():
            at = self._ask_at[name]
            if at > now or name in busy:
                continue
            description, problem = self._describe(device.command)
            if problem is not None:
                log.warning("device %s: %s", name, problem)
            self._ask_at[name] = float("inf") if problem is None else now + DESCRIBE_AGAIN_S
            place = {"model": device.model, "host": device.host, "pci": device.pci}
            key = key_of(device.command)
            store.offer(connection, self._runner, name=name, command_key=key, place=place, description=description, problem=problem)
        if now >= self._seen_at:
            self._seen_at = now + OFFER_EVERY_S
            store.still_offered(connection, self._runner, list(self._devices))

    def ready(self) -> list[str]:
        """Devices that have described themselves."""
        return [name for name, at in self._ask_at.items() if at == float("inf")]

    def _describe(self, command: str) -> tuple[dict[str, Any] | None, str | None]:
        try:
            done = subprocess.run(  # noqa: S603 - the command is a setting of this process
                [*self._program, "describe", "--dut", command, "--json"], capture_output=True, text=True, timeout=DESCRIBE_S, check=False
            )
        except subprocess.TimeoutExpired:
            return None, f"It did not describe itself within {DESCRIBE_S:.0f} s."
        if done.returncode != 0:
            said = done.stderr.strip().splitlines()
            return None, said[-1].removeprefix("wallwatch lab: ") if said else f"It ended with exit code {done.returncode}."
        try:
            found = json.loads(done.stdout)
        except ValueError as error:
            return None, f"Its description is no JSON: {error}"
        return (found, None) if isinstance(found, dict) else (None, "Its description is no JSON object.")


class LabJob:
    """The running job; `run` returns after `stop`."""

    def __init__(self, settings: Settings, program: Sequence[str] = PROGRAM) -> None:
        self._settings, self._program = settings, program
        self._stop = threading.Event()
        self.runner = f"{socket.gethostname()}:{os.getpid()}"
        self._offers = Offers(settings.lab_devices, self.runner, program)
        self._running: dict[str, tuple[UUID, CampaignProcess]] = {}

    def stop(self) -> None:
        self._stop.set()

    def run(self) -> None:
        """Run until `stop`; while the database is unreachable, campaigns continue and their journals wait in their folders."""
        serve(self._settings.metrics_port)
        if not self._settings.lab_devices:
            log.warning("no device is set: give WALLWATCH_LAB_DEVICES a JSON object of names and commands")
        while not self._stop.is_set():
            try:
                with psycopg.connect(
                    self._settings.libpq_url, connect_timeout=5, autocommit=True, application_name="wallwatch-lab"
                ) as connection:
                    while not self._stop.is_set():
                        self.turn(connection)
                        self._stop.wait(TURN_S)
                    self._release(connection)
            except psycopg.OperationalError as error:
                log.warning("the database does not answer, waiting: %s", str(error).strip())
                self._stop.wait(RETRY_S)
        for _, process in self._running.values():
            process.end_within("The runner was stopped.", RELEASE_S)

    def turn(self, connection: store.Connection) -> None:
        """One second's work: follow what runs, then take what waits."""
        for device in list(self._running):
            self._follow(connection, device)
        self._offers.refresh(connection, set(self._running), time.monotonic())
        while free := [name for name in self._offers.ready() if name not in self._running]:
            claimed = store.claim(connection, self.runner, free)
            if claimed is None:
                break
            self._begin(connection, claimed)
        LAB_RUNNING.set(len(self._running))

    def _folder(self, campaign: UUID) -> Path:
        return self._settings.state_dir / "lab" / str(campaign)

    def _begin(self, connection: store.Connection, claimed: store.Claimed) -> None:
        folder, command = self._folder(claimed.id), self._settings.lab_devices[claimed.device].command
        log.info("campaign %s on %s %s", claimed.id, claimed.device, "is resumed" if claimed.resumed else "begins")
        if claimed.resumed and not (folder / JOURNAL).exists():
            lines = store.journal(connection, claimed.id)
            if lines:
                restore(folder, lines, command)
        try:
            process = CampaignProcess(folder, claimed.device, command, claimed.options, self._program)
        except (CommandChanged, OSError) as error:
            self._end(connection, claimed.id, Ended(CampaignState.failed, str(error), None), None)
            return
        self._running[claimed.device] = (claimed.id, process)

    def _follow(self, connection: store.Connection, device: str) -> None:
        campaign, process = self._running[device]
        ended = process.ended()  # before its last lines are read: nothing follows them
        lines = process.unsent_lines()
        held = store.heartbeat(connection, self.runner, campaign, process.tally.to_json() if lines else None, lines)
        if held is None:
            log.warning("campaign %s is no longer this runner's", campaign)
            process.stop("Another runner continues the campaign.")
            if ended is not None:
                del self._running[device]
            return
        process.sent(len(lines))
        LAB_TESTS.inc(sum(1 for _, line in lines if line.get("kind") in ("test", "reset")))
        if ended is not None:
            self._end(connection, campaign, ended, process.tally.to_json())
            del self._running[device]
        elif held.stop is not None:
            process.stop(held.stop)

    def _end(self, connection: store.Connection, campaign: UUID, ended: Ended, progress: dict[str, Any] | None) -> None:
        log.info("campaign %s %s%s", campaign, ended.state, f": {ended.message}" if ended.message else "")
        CAMPAIGNS.labels(ended.state).inc()
        if store.end(connection, self.runner, campaign, ended.state, ended.message, ended.report, progress):
            shutil.rmtree(self._folder(campaign), ignore_errors=True)  # journal and report are in the database

    def _release(self, connection: store.Connection) -> None:
        """Stop after the running tests; what is in the journals by then is kept, and the next runner continues."""
        for campaign, process in self._running.values():
            process.end_within("The runner was stopped.", RELEASE_S)
            store.heartbeat(connection, self.runner, campaign, process.tally.to_json(), process.unsent_lines())
            store.release(connection, self.runner, campaign)
