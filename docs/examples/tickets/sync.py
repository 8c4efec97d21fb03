"""Keeps tickets in sync with incidents: the part that all ticket systems share.

For each change, the ticket is brought into the wanted form; a ticket that has it already stays unchanged. So a change may be handled
twice, and a killed connector simply runs again. Two things prevent a second ticket: `external_refs` of the incident, and a search for
the incident's id in the ticket system, in case the connector died between opening the ticket and linking it.
"""

import argparse
import json
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import httpx
from wallwatch_client import Incident, Wallwatch


@dataclass(frozen=True)
class Ticket:
    """What a ticket should say."""

    incident_id: str
    title: str
    text: str
    critical: bool
    resolved: bool


class TicketSystem(Protocol):
    """The operations that differ between ticket systems."""

    name: str

    def find(self, incident_id: str) -> str | None:
        """Key of the ticket that was opened for an incident, if there is one."""

    def create(self, ticket: Ticket) -> str:
        """Open a ticket and return its key."""

    def bring_into_form(self, key: str, ticket: Ticket) -> bool:
        """Change what differs from the wanted form, the state included; say whether anything did."""

    def url(self, key: str) -> str:
        """Where people see it."""


def wanted(wallwatch: Wallwatch, incident: Incident) -> Ticket:
    """The ticket that an incident should have."""
    resolved = incident["state"] == "resolved"
    lines = [
        wallwatch.explanation(incident),
        "",
        f"Where: {incident['subject'] or incident['host']} (hosts: {', '.join(incident['hosts'])})",
        f"Likely cause: {incident['cause'] or 'unknown'}",
        f"Wallwatch: {wallwatch.url}/incidents/{incident['id']}",
    ]
    if incident.get("merged_into"):
        lines.append(f"Merged into {wallwatch.url}/incidents/{incident['merged_into']}")
    return Ticket(
        incident_id=incident["id"],
        title=f"{incident['symptom']} {incident['title']}: {incident['subject'] or incident['host']}"[:160],
        text="\n".join(lines),
        critical=incident["severity"] == "critical",
        resolved=resolved,
    )


DELETED = (404, 410)
"""Answers that say that there is no such ticket any more."""


def apply(wallwatch: Wallwatch, tickets: TicketSystem, incident: Incident) -> str:
    """Bring one incident's ticket up to date; return what was done."""
    key = next((ref["key"] for ref in incident["external_refs"] if ref["system"] == tickets.name), None)
    linked = key is not None
    key = key or tickets.find(incident["id"])
    if key is None and incident["state"] in ("resolved", "suppressed"):
        return "needs no ticket"
    ticket = wanted(wallwatch, incident)
    if key is None:
        key, done = tickets.create(ticket), "created"
    else:
        try:
            done = "updated" if tickets.bring_into_form(key, ticket) else "unchanged"
        except httpx.HTTPStatusError as error:
            if error.response.status_code not in DELETED:
                raise
            return f"{key} was deleted by someone, so it is not updated"
    if not linked:
        wallwatch.link(incident, tickets.name, key, tickets.url(key))
    return f"{key} {done}"


REFUSED = (400, 409, 413, 422)
"""Answers that blame the request: the same request would be refused again, so it must not hold up all others."""


WAIT_S = 30
"""How long a request waits for the next change. The server takes up to 50; proxies often end what is silent for 60."""


def run_once(wallwatch: Wallwatch, tickets: TicketSystem, position: Path, wait_s: int = 0) -> bool:
    """Handle every change since the last run; say whether all went well. The position is written after each incident, never before."""
    well = True
    since = json.loads(position.read_text())["since"] if position.exists() else 0
    for incident, seq in wallwatch.changes(since, wait_s):
        try:
            done = apply(wallwatch, tickets, incident)
        except httpx.HTTPStatusError as error:
            if error.response.status_code not in REFUSED:
                raise
            well, done = False, f"REFUSED, next attempt when the incident changes: {error.response.text[:500]}"
        print(f"{incident['id']} {incident['state']}: {done}", flush=True)
        new = position.with_suffix(".new")
        new.write_text(json.dumps({"since": seq}))
        new.replace(position)
    return well


def main(tickets: TicketSystem) -> int:
    """Run once with --once, else whenever something changes."""
    parser = argparse.ArgumentParser(description=f"Opens, updates and closes tickets in {tickets.name} for incidents of Wallwatch.")
    parser.add_argument("--once", action="store_true", help="handle all changes, then exit")
    parser.add_argument("--every", type=float, default=1, metavar="SECONDS", help="pause between two requests (default 1)")
    parser.add_argument(
        "--position", type=Path, default=Path(f"{tickets.name}-position.json"), help="file that stores the position in the feed"
    )
    options = parser.parse_args()
    wallwatch = Wallwatch(os.environ["WALLWATCH_URL"], os.environ["WALLWATCH_TOKEN"])
    while True:
        well = False
        try:
            well = run_once(wallwatch, tickets, options.position, 0 if options.once else WAIT_S)
        except httpx.HTTPError as error:
            detail = error.response.text[:500] if isinstance(error, httpx.HTTPStatusError) else ""
            print(f"{error} {detail}", file=sys.stderr, flush=True)  # the next request does the rest
        if options.once:
            return 0 if well else 1
        time.sleep(options.every)
