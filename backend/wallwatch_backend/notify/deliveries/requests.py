"""The HTTP request that a delivery becomes: its address, its body and what authenticates the sender."""

from dataclasses import dataclass
from datetime import datetime
from urllib.parse import quote, urlsplit, urlunsplit
from uuid import UUID

import orjson
from standardwebhooks import Webhook as Signer

from wallwatch_backend import __version__
from wallwatch_backend.notify.schemas import Format


@dataclass(frozen=True)
class Request:
    """What is posted, and where."""

    url: str
    body: str
    headers: dict[str, str]


def request_of(format: Format, url: str, body: str, credential: str | None, secret: str, delivery_id: UUID, at: datetime) -> Request:
    """Complete a stored body with the receiver's key, and sign it.

    >>> close = '{"action":"close","alias":"a/1","fields":{}}'
    >>> address = "https://api.opsgenie.com/v2/alerts"
    >>> request = request_of(Format.opsgenie, address, close, "key", "whsec_c2VjcmV0", UUID(int=1), datetime(2026, 1, 1))
    >>> request.url.removeprefix(address), request.body, request.headers["authorization"]
    ('/a%2F1/close?identifierType=alias', '{}', 'GenieKey key')
    """
    own: dict[str, str] = {}
    if format is Format.pagerduty:
        body = orjson.dumps({**orjson.loads(body), "routing_key": credential or ""}).decode()
    elif format is Format.opsgenie:
        url, body = _opsgenie(url, body)
        own = {"authorization": f"GenieKey {credential or ''}"}
    headers = {
        "content-type": "application/json",
        "user-agent": f"wallwatch/{__version__}",
        "webhook-id": str(delivery_id),  # the same for each attempt, so that a receiver can drop repeats
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": Signer(secret).sign(str(delivery_id), at, body),
    }
    return Request(url, body, {**headers, **own})


def _opsgenie(url: str, body: str) -> tuple[str, str]:
    """Address and body of an action. Alerts are created at the address itself, all else is below it."""
    stored = orjson.loads(body)
    fields = orjson.dumps(stored["fields"]).decode()
    if stored["action"] == "create":
        return url, fields
    parts = urlsplit(url)
    path = f"{parts.path.rstrip('/')}/{quote(stored['alias'], safe='')}/{stored['action']}"
    return urlunsplit((parts.scheme, parts.netloc, path, "identifierType=alias", "")), fields
