"""Tickets in a system with ServiceNow's Table API.

WALLWATCH_URL, WALLWATCH_TOKEN, SERVICENOW_URL, SERVICENOW_USER and SERVICENOW_PASSWORD come from the environment.
"""

import os
import sys

import httpx
from sync import Ticket, main

NEW, RESOLVED, CLOSED, CANCELLED = "1", "6", "7", "8"
"""Values of `state` in the table `incident` as it is delivered."""
ENDED = (RESOLVED, CLOSED, CANCELLED)


class ServiceNow:
    """The incident's id is the record's `correlation_id`, which the table has for this purpose."""

    name = "servicenow"

    def __init__(self, url: str, user: str, password: str) -> None:
        self._url = url.rstrip("/")
        self._http = httpx.Client(
            base_url=f"{self._url}/api/now/table", auth=(user, password), headers={"Accept": "application/json"}, timeout=30
        )

    def find(self, incident_id: str) -> str | None:
        query = {"sysparm_query": f"correlation_id={incident_id}", "sysparm_fields": "sys_id", "sysparm_limit": "1"}
        records = self._http.get("/incident", params=query).raise_for_status().json()["result"]
        return records[0]["sys_id"] if records else None

    def create(self, ticket: Ticket) -> str:
        record = {"correlation_id": ticket.incident_id, "correlation_display": "Wallwatch", "state": NEW, **_fields(ticket)}
        return self._http.post("/incident", json=record).raise_for_status().json()["result"]["sys_id"]

    def bring_into_form(self, key: str, ticket: Ticket) -> bool:
        record = self._http.get(f"/incident/{key}").raise_for_status().json()["result"]
        changed = {name: value for name, value in _fields(ticket).items() if record.get(name) != value}
        if ticket.resolved and record["state"] not in ENDED:
            changed |= {"state": RESOLVED, "close_code": "Resolved by monitoring", "close_notes": "Wallwatch: the incident is resolved."}
        elif not ticket.resolved and record["state"] == RESOLVED:  # a closed record can't be opened again
            changed |= {"state": NEW, "work_notes": "Wallwatch: the symptom is back."}
        if changed:
            self._http.patch(f"/incident/{key}", json=changed).raise_for_status()
        return bool(changed)

    def url(self, key: str) -> str:
        return f"{self._url}/nav_to.do?uri=incident.do?sys_id={key}"


def _fields(ticket: Ticket) -> dict[str, str]:
    level = "1" if ticket.critical else "3"  # priority is made from impact and urgency
    return {"short_description": ticket.title, "description": ticket.text, "impact": level, "urgency": level}


if __name__ == "__main__":
    env = os.environ
    sys.exit(main(ServiceNow(env["SERVICENOW_URL"], env["SERVICENOW_USER"], env["SERVICENOW_PASSWORD"])))
