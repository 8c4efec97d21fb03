"""The part of Wallwatch's API that a ticket connector uses: the change feed, and linking the ticket."""

from collections.abc import Iterator
from typing import Any

import httpx

Incident = dict[str, Any]


class Wallwatch:
    """The API, with a token of the role operator (writing `external_refs` is an operator's right)."""

    def __init__(self, url: str, token: str) -> None:
        self.url = url.rstrip("/")
        self._http = httpx.Client(base_url=f"{self.url}/api/v1", headers={"Authorization": f"Bearer {token}"}, timeout=30)

    def changes(self, since: int, wait_s: int = 0) -> Iterator[tuple[Incident, int]]:
        """Yield each incident that changed after `since`, with the position to continue from once it is handled.

        If nothing has changed yet, the server answers as soon as something does, or after `wait_s`.
        """
        while True:
            parameters = {"since": since, "wait_s": wait_s}
            page = self._http.get("/incidents/changes", params=parameters, timeout=30 + wait_s).raise_for_status().json()
            wait_s = 0  # of the first request only: the rest is what there is
            for incident in page["items"]:
                yield incident, incident["seq"]
            if not page["items"] or page["next_since"] == since:
                return
            since = page["next_since"]

    def explanation(self, incident: Incident) -> str:
        """The sentences that are meant for a ticket."""
        full = self._http.get(f"/incidents/{incident['id']}").raise_for_status().json()
        return full.get("explanation") or full["summary"]

    def link(self, incident: Incident, system: str, key: str, url: str) -> None:
        """Add the ticket to the incident's `external_refs`, next to those of other systems.

        Someone else may have changed the incident meanwhile: If-Match refuses what was made from an old version, and the loop reads again.
        """
        for _ in range(5):
            answer = self._http.get(f"/incidents/{incident['id']}").raise_for_status()
            refs = answer.json()["external_refs"]
            wanted = [ref for ref in refs if ref["system"] != system] + [{"system": system, "key": key, "url": url}]
            if wanted == refs:
                return
            headers = {"If-Match": answer.headers["ETag"]}
            done = self._http.patch(f"/incidents/{incident['id']}", json={"external_refs": wanted}, headers=headers)
            if done.status_code != httpx.codes.PRECONDITION_FAILED:
                done.raise_for_status()
                return
        raise RuntimeError(f"incident {incident['id']} changes too fast to be linked to {key}")

    def state(self, incident_id: str) -> str:
        """The incident's state; of one that was merged into another, of that."""
        incident = self._http.get(f"/incidents/{incident_id}").raise_for_status().json()
        return self.state(incident["merged_into"]) if incident.get("merged_into") else incident["state"]

    def act(self, incident_id: str, action: str, comment: str) -> None:
        """Acknowledge, resolve or reopen an incident, and say in its timeline why."""
        self._http.post(f"/incidents/{incident_id}/{action}").raise_for_status()
        self._http.post(f"/incidents/{incident_id}/comments", json={"text": comment[:1000]}).raise_for_status()
