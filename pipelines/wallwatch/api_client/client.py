"""Requests to the API with a token: JSON in, JSON out, each failure as an error of `errors.py`."""

from __future__ import annotations

import ssl
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any, NamedTuple
from uuid import uuid4

import httpx

from wallwatch.api_client.errors import NotPermitted, Unreachable, WrongUsage, of_answer
from wallwatch.api_client.profiles import Profile

API = "/api/v1"
TIMEOUT_S = 30.0
PAGE = 200

Query = Mapping[str, Any]


class Answer(NamedTuple):
    """A body, and the version that it has (its ETag)."""

    body: Any
    etag: str | None


class Client:
    """The API of one server.

    A context manager: leaving it closes its connections. `pages` goes through a list whose answers come in pages.
    """

    def __init__(self, profile: Profile, timeout_s: float = TIMEOUT_S) -> None:
        self.profile = profile
        headers = {"Accept": "application/json"}
        if profile.token is not None:
            if not profile.token.isascii() or not profile.token.isprintable():
                raise WrongUsage("The token has characters that no token has; was it copied whole?")
            headers["Authorization"] = f"Bearer {profile.token}"
        self._http = httpx.Client(base_url=profile.url, headers=headers, timeout=timeout_s, verify=_verification(profile))

    def __enter__(self) -> Client:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._http.close()

    def get(self, path: str, query: Query | None = None) -> Any:
        """Return the body of a GET below /api/v1."""
        return self.request("GET", API + path, query=query).body

    def read(self, path: str) -> Answer:
        """Return a body with its ETag."""
        return self.request("GET", API + path)

    def send(self, method: str, path: str, body: Any = None, etag: str | None = None) -> Any:
        """Send a change below /api/v1, and return the answer's body."""
        return self.request(method, API + path, body=body, etag=etag).body

    def pages(self, path: str, query: Query | None = None, most: int | None = None) -> Iterator[Any]:
        """Yield the items of a list, page by page, at most `most` of them."""
        given = 0
        cursor: str | None = None
        while most is None or given < most:
            limit = PAGE if most is None else min(PAGE, most - given)
            page = self.get(path, {**(query or {}), "limit": limit, "cursor": cursor})
            for item in page["items"]:
                given += 1
                yield item
            cursor = page["next_cursor"]
            if cursor is None:
                return

    def request(self, method: str, path: str, *, query: Query | None = None, body: Any = None, etag: str | None = None) -> Answer:
        """Send any request; parameters that are None are left out."""
        headers = {} if etag is None else {"If-Match": etag}
        if method == "POST":
            headers["Idempotency-Key"] = str(uuid4())
        parameters = {key: value for key, value in (query or {}).items() if value is not None}
        try:
            answer = self._http.request(method, path, params=parameters, json=body, headers=headers)
        except httpx.TimeoutException as error:
            raise Unreachable(f"{self.profile.url} did not answer in time.") from error
        except httpx.HTTPError as error:
            raise Unreachable(f"{self.profile.url} cannot be reached: {error}") from error
        except httpx.InvalidURL as error:
            raise WrongUsage(f"{path!a} is not a path: {error}") from error
        if answer.is_success:
            return Answer(_body(answer), answer.headers.get("ETag"))
        if answer.is_redirect:
            raise Unreachable(f"{self.profile.url} redirects to another address; use that one in the profile.")
        if answer.status_code == 401 and self.profile.token is None:
            raise NotPermitted(f"{self.profile.url} requires a token: set WALLWATCH_TOKEN, or store one with `wallwatch profile set`.")
        raise of_answer(answer.status_code, _problem(answer))


def _verification(profile: Profile) -> ssl.SSLContext | bool:
    """The authorities to trust. Plain HTTP needs none, and loading them takes longer than most requests."""
    if not profile.url.startswith("https:"):
        return False
    if profile.ca_file is None:
        return True
    try:
        return ssl.create_default_context(cafile=profile.ca_file)
    except (OSError, ssl.SSLError) as error:
        raise WrongUsage(f"The file of authorities {profile.ca_file} cannot be used: {error}") from error


def _body(answer: httpx.Response) -> Any:
    if not answer.content:
        return None
    kind = answer.headers.get("Content-Type", "").partition(";")[0]
    try:
        if kind == "text/html":
            raise ValueError(kind)
        return answer.json() if kind.endswith("json") else answer.text
    except ValueError as error:
        raise Unreachable(f"{answer.url} is a page, not an answer of the API; is this a Wallwatch server?") from error


def _problem(answer: httpx.Response) -> Any:
    try:
        return answer.json()
    except ValueError:
        return None
