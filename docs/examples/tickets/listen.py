"""The way back: what people do with a ticket happens to its incident. Receives webhooks of Jira, ServiceNow and GitHub.

A ticket that is taken up acknowledges its incident, one that is closed resolves it, one that is opened again reopens it. A symptom that
is still present reopens its incident with the next finding, and the connector then opens the ticket again: nobody closes a fault away.

WALLWATCH_URL and WALLWATCH_TOKEN (scope `incidents`) come from the environment, and TICKETS_SECRET, with which the ticket system signs.
Put a TLS proxy in front: `python listen.py --port 8099`.
"""

import argparse
import base64
import hashlib
import hmac
import json
import os
import re
import sys
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
from wallwatch_client import Wallwatch

LARGEST = 1 << 20
TIMEOUT_S = 30
_LABEL = re.compile(r"wallwatch-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})")
_ID = re.compile(_LABEL.pattern.removeprefix("wallwatch-"))
_ENDED = ("6", "7", "8")  # ServiceNow: resolved, closed, cancelled
_TAKEN_UP = "2"  # ServiceNow: in progress


@dataclass(frozen=True)
class Happened:
    """What somebody did with a ticket: `action` is what happens to the incident."""

    incident_id: str
    action: str
    comment: str


def is_signed(body: bytes, signature: str, secret: str) -> bool:
    """Whether a signature is the HMAC-SHA256 of the body, in hexadecimal (GitHub, Jira: `sha256=...`) or base64 (ServiceNow).

    >>> is_signed(b"{}", "sha256=" + hmac.new(b"secret", b"{}", "sha256").hexdigest(), "secret")
    True
    >>> is_signed(b"{ }", "sha256=" + hmac.new(b"secret", b"{}", "sha256").hexdigest(), "secret")
    False
    """
    expected = hmac.new(secret.encode(), body, hashlib.sha256).digest()
    given = signature.removeprefix("sha256=").encode()
    return any(hmac.compare_digest(given, form) for form in (expected.hex().encode(), base64.b64encode(expected)))


def read(event: dict[str, Any]) -> Happened | None:
    """Understand a webhook of one of the three systems; None if it means nothing for an incident."""
    if "webhookEvent" in event:
        return _jira(event)
    if "correlation_id" in event:
        return _servicenow(event)
    return _github(event) if "issue" in event else None


def _jira(event: dict[str, Any]) -> Happened | None:
    issue = event.get("issue", {})
    changed = {item.get("field") for item in event.get("changelog", {}).get("items", [])}
    fields = issue.get("fields", {})
    category = fields.get("status", {}).get("statusCategory", {}).get("key")
    action = {"done": "resolve", "indeterminate": "acknowledge", "new": "reopen"}.get(category)
    incident_id = _labelled(fields.get("labels", []))
    if "status" not in changed or action is None or incident_id is None:
        return None
    return Happened(incident_id, action, f"{issue.get('key')} was moved to {fields['status'].get('name')} by {_name(event.get('user'))}")


def _github(event: dict[str, Any]) -> Happened | None:
    issue = event["issue"]
    action = {"closed": "resolve", "reopened": "reopen", "assigned": "acknowledge"}.get(str(event.get("action")))
    incident_id = _labelled([label.get("name", "") for label in issue.get("labels", [])])
    if action is None or incident_id is None:
        return None
    return Happened(incident_id, action, f"#{issue.get('number')} was {event['action']} by {event.get('sender', {}).get('login')}")


def _servicenow(event: dict[str, Any]) -> Happened | None:
    state = str(event.get("state"))
    action = "resolve" if state in _ENDED else "acknowledge" if state == _TAKEN_UP else "reopen"
    incident_id = str(event["correlation_id"])
    if not _ID.fullmatch(incident_id):
        return None
    return Happened(incident_id, action, f"{event.get('number')} was changed to state {state} by {event.get('by')}")


def _labelled(labels: list[str]) -> str | None:
    found = [match[1] for label in labels if (match := _LABEL.fullmatch(label))]
    return found[0] if len(found) == 1 else None


def _name(user: Any) -> str:
    return str(user.get("displayName") or user.get("name") or "someone") if isinstance(user, dict) else "someone"


def apply(wallwatch: Wallwatch, happened: Happened) -> str:
    """Do it, unless the incident is in that state already: then the connector itself changed the ticket."""
    state = wallwatch.state(happened.incident_id)
    is_over = state == "resolved"
    reached = {"resolve": is_over, "acknowledge": is_over or state == "acknowledged", "reopen": not is_over}
    if reached[happened.action]:
        return f"is {state} already"
    wallwatch.act(happened.incident_id, happened.action, happened.comment)
    return happened.action


class Handler(BaseHTTPRequestHandler):
    """Takes a POST, checks its signature before anything else, and answers when Wallwatch has."""

    timeout = TIMEOUT_S
    wallwatch: Wallwatch
    secret: str

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length", "0"))
        if not 0 < length <= LARGEST:
            return self._answer(413, "too large, or empty")
        body = self.rfile.read(length)
        signature = self.headers.get("x-hub-signature-256") or self.headers.get("x-hub-signature") or ""
        if not is_signed(body, signature, self.secret):
            return self._answer(401, "the signature is wrong or missing")
        try:
            happened = read(json.loads(body))
            done = apply(self.wallwatch, happened) if happened is not None else "nothing to do"
        except (ValueError, KeyError, AttributeError, TypeError):
            return self._answer(400, "not understood")
        except httpx.HTTPStatusError as error:
            if error.response.status_code in (404, 409, 422):
                return self._answer(200, "there is no such incident, or it cannot be changed so")
            return self._answer(502, "Wallwatch refused it")  # the ticket system tries again
        except httpx.HTTPError:
            return self._answer(502, "Wallwatch does not answer")
        return self._answer(200, done)

    def _answer(self, status: int, text: str) -> None:
        print(f"{status} {text}", flush=True)
        content = text.encode()
        self.send_response(status)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing besides the answers."""


def main() -> int:
    """Listen until interrupted."""
    parser = argparse.ArgumentParser(description="Receives webhooks of ticket systems and changes Wallwatch's incidents.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8099)
    options = parser.parse_args()
    Handler.wallwatch = Wallwatch(os.environ["WALLWATCH_URL"], os.environ["WALLWATCH_TOKEN"])
    Handler.secret = os.environ["TICKETS_SECRET"]
    if len(Handler.secret) < 16:
        print("TICKETS_SECRET needs at least 16 characters.", file=sys.stderr)
        return 2
    server = ThreadingHTTPServer((options.host, options.port), Handler)
    print(f"listening on port {server.server_port}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
