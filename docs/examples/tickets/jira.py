"""Tickets in a system with Jira's REST API (version 2).

WALLWATCH_URL, WALLWATCH_TOKEN, JIRA_URL, JIRA_TOKEN and JIRA_PROJECT come from the environment. JIRA_SEARCH is the path of the
search: /rest/api/2/search (Data Center, the default) or /rest/api/2/search/jql (Cloud).
"""

import os
import sys
from typing import Any

import httpx
from sync import Ticket, main


class Jira:
    """The incident's id is a label, so that its issue can be found again."""

    name = "jira"

    def __init__(self, url: str, token: str, project: str, search: str = "/rest/api/2/search") -> None:
        self._url, self._project, self._search = url.rstrip("/"), project, search
        self._http = httpx.Client(base_url=self._url, headers={"Authorization": f"Bearer {token}"}, timeout=30)

    def find(self, incident_id: str) -> str | None:
        query = {"jql": f'project = "{self._project}" AND labels = "wallwatch-{incident_id}"', "fields": "summary", "maxResults": 1}
        issues = self._http.get(self._search, params=query).raise_for_status().json()["issues"]
        return issues[0]["key"] if issues else None

    def create(self, ticket: Ticket) -> str:
        fields = {
            "project": {"key": self._project},
            "issuetype": {"name": "Incident"},
            "labels": ["wallwatch", f"wallwatch-{ticket.incident_id}"],
            **_fields(ticket),
        }
        return self._http.post("/rest/api/2/issue", json={"fields": fields}).raise_for_status().json()["key"]

    def bring_into_form(self, key: str, ticket: Ticket) -> bool:
        issue = self._http.get(f"/rest/api/2/issue/{key}").raise_for_status().json()["fields"]
        changed = {name: value for name, value in _fields(ticket).items() if not _same(issue.get(name), value)}
        if changed:
            self._http.put(f"/rest/api/2/issue/{key}", json={"fields": changed}).raise_for_status()
        is_done = issue["status"]["statusCategory"]["key"] == "done"
        if is_done != ticket.resolved:
            self._move(key, done=ticket.resolved)
        return bool(changed) or is_done != ticket.resolved

    def _move(self, key: str, done: bool) -> None:
        """Transitions differ from project to project: take the first that leads into, or out of, the category "done"."""
        path = f"/rest/api/2/issue/{key}/transitions"
        for transition in self._http.get(path).raise_for_status().json()["transitions"]:
            if (transition["to"]["statusCategory"]["key"] == "done") == done:
                self._http.post(path, json={"transition": {"id": transition["id"]}}).raise_for_status()
                return
        print(f"{key}: its workflow has no transition {'to' if done else 'from'} done; move it by hand", file=sys.stderr)

    def url(self, key: str) -> str:
        return f"{self._url}/browse/{key}"


def _fields(ticket: Ticket) -> dict[str, Any]:
    return {"summary": ticket.title, "description": ticket.text, "priority": {"name": "Highest" if ticket.critical else "Medium"}}


def _same(found: Any, wanted: Any) -> bool:
    """An object such as a priority has more properties than those that were set."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        return all(found.get(name) == value for name, value in wanted.items())
    return found == wanted


if __name__ == "__main__":
    env = os.environ
    sys.exit(main(Jira(env["JIRA_URL"], env["JIRA_TOKEN"], env["JIRA_PROJECT"], env.get("JIRA_SEARCH", "/rest/api/2/search"))))
