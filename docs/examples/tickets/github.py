"""Issues of a repository on GitHub, or on a server of GitHub Enterprise.

WALLWATCH_URL, WALLWATCH_TOKEN, GITHUB_TOKEN (may write issues) and GITHUB_REPOSITORY (OWNER/NAME) come from the environment. For
GitHub Enterprise, set GITHUB_API_URL, too (https://github.example/api/v3).
"""

import os
import sys

import httpx
from sync import Ticket, main

PUBLIC_API = "https://api.github.com"
CRITICAL = "critical"


class GitHub:
    """A label with the incident's id finds the issue again; it has 46 of the 50 characters that a label may have."""

    name = "github"

    def __init__(self, api: str, token: str, repository: str) -> None:
        api = api.rstrip("/")
        self._pages = "https://github.com" if api == PUBLIC_API else api.removesuffix("/api/v3")
        self._repository = repository
        headers = {"Authorization": f"Bearer {token}", "Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}
        self._http = httpx.Client(base_url=f"{api}/repos/{repository}", headers=headers, timeout=30)

    def find(self, incident_id: str) -> str | None:
        query: dict[str, str] = {"labels": f"wallwatch-{incident_id}", "state": "all", "per_page": "1"}
        issues = self._http.get("/issues", params=query).raise_for_status().json()
        return str(issues[0]["number"]) if issues else None

    def create(self, ticket: Ticket) -> str:
        issue = {"title": ticket.title, "body": ticket.text, "labels": _labels(ticket, [])}
        return str(self._http.post("/issues", json=issue).raise_for_status().json()["number"])

    def bring_into_form(self, key: str, ticket: Ticket) -> bool:
        issue = self._http.get(f"/issues/{key}").raise_for_status().json()
        present = sorted(label["name"] for label in issue["labels"])
        wanted = {"title": ticket.title, "body": ticket.text, "labels": _labels(ticket, present)}
        if ticket.resolved and issue["state"] != "closed":
            wanted |= {"state": "closed", "state_reason": "completed"}
        elif not ticket.resolved and issue["state"] == "closed":
            wanted |= {"state": "open", "state_reason": "reopened"}
        is_now = {**issue, "labels": present}
        changed = {name: value for name, value in wanted.items() if is_now.get(name) != value}
        if changed:
            self._http.patch(f"/issues/{key}", json=changed).raise_for_status()
        return bool(changed)

    def url(self, key: str) -> str:
        return f"{self._pages}/{self._repository}/issues/{key}"


def _labels(ticket: Ticket, present: list[str]) -> list[str]:
    """The labels that people gave it stay."""
    own = {f"wallwatch-{ticket.incident_id}", *([CRITICAL] if ticket.critical else [])}
    return sorted((set(present) - {CRITICAL}) | own)


if __name__ == "__main__":
    env = os.environ
    sys.exit(main(GitHub(env.get("GITHUB_API_URL", PUBLIC_API), env["GITHUB_TOKEN"], env["GITHUB_REPOSITORY"])))
