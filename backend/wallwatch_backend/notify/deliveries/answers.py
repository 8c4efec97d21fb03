"""What the answer of a receiver means: accepted, refused for good, or worth another attempt, and when."""

import asyncio
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from urllib.parse import parse_qsl, urlsplit

import httpx

# Answers of the class "the client's mistake" that a later attempt can change: a time-out, a conflict with the present state, a connection
# to the wrong server, a lock, too early, too many requests.
_PASSING = frozenset({408, 409, 421, 423, 425, 429})
_READ_BYTES = 2048
_READ_S = 2.0  # the answer itself has come: its text is not worth a longer wait
_SHOWN = 300  # characters: two lines of the delivery log
_SECRET_LENGTH = 16  # tokens in URLs are longer than words of a path


@dataclass(frozen=True)
class Answer:
    """An HTTP answer, as far as it matters to a delivery."""

    status: int
    retry_after_s: float | None = None
    words: str = ""

    @property
    def accepted(self) -> bool:
        return 200 <= self.status < 300

    @property
    def refused(self) -> bool:
        """Whether the same request would be refused again.

        >>> [status for status in (200, 302, 400, 401, 404, 408, 410, 413, 422, 425, 429, 503) if Answer(status).refused]
        [400, 401, 404, 410, 413, 422]
        """
        return 400 <= self.status < 500 and self.status not in _PASSING


async def read(response: httpx.Response, now: datetime, secrets: Sequence[str]) -> Answer:
    """Read what matters of an answer. Its body may be endless: at most its first 2 kB are read, and only after a failure."""
    answer = Answer(response.status_code)
    if answer.accepted:
        return answer
    words = without(secrets, _plain(await _beginning(response))) if _is_text(response.headers) else ""
    return Answer(response.status_code, retry_after_s(response.headers.get("retry-after"), now), words[:_SHOWN])


def retry_after_s(value: str | None, now: datetime) -> float | None:
    """Seconds of a header Retry-After, which has seconds or a date; None if it is absent or neither.

    >>> noon = datetime(2026, 11, 21, 12, tzinfo=UTC)
    >>> [retry_after_s(text, noon) for text in ("90", "Sat, 21 Nov 2026 12:01:00 GMT", "Sat, 21 Nov 2026 11:00:00 GMT", "soon", None)]
    [90.0, 60.0, 0.0, None, None]
    >>> retry_after_s("Sat, 21 Nov 2026 12:01:00 +99999999999999999", noon)
    """
    if value is None:
        return None
    if re.fullmatch(r"[0-9]{1,9}", value.strip()):
        return float(value)
    try:
        at = parsedate_to_datetime(value)
    except (ValueError, OverflowError):
        return None
    return max((at.replace(tzinfo=at.tzinfo or UTC) - now).total_seconds(), 0.0)


def secrets_in(url: str) -> Iterator[str]:
    """The parts of a URL that may be tokens, the whole first.

    >>> list(secrets_in("https://hooks.example/services/T024/0123456789abcdef"))
    ['/services/T024/0123456789abcdef', '0123456789abcdef']
    """
    parts = urlsplit(url)
    if len(parts.path) > 1 or parts.query:
        yield parts.path + (f"?{parts.query}" if parts.query else "")
    for word in (*parts.path.split("/"), *(value for _, value in parse_qsl(parts.query))):
        if len(word) >= _SECRET_LENGTH:
            yield word


def without(secrets: Sequence[str], text: str) -> str:
    """A text in which no secret is left: receivers repeat what they refuse."""
    for secret in secrets:
        text = text.replace(secret, "…")
    return text


def _is_text(headers: httpx.Headers) -> bool:
    """Whether people can read the body as it is: no page of HTML, and not compressed."""
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    readable = kind == "text/plain" or kind == "application/json" or kind.endswith("+json")
    return readable and bool(headers.get("content-encoding", "identity") == "identity")


async def _beginning(response: httpx.Response) -> str:
    raw = b""
    try:
        async with asyncio.timeout(_READ_S):
            async for part in response.aiter_raw():
                raw += part
                if len(raw) >= _READ_BYTES:
                    break
    except (httpx.HTTPError, TimeoutError):
        pass  # what came until then is shown
    return raw[:_READ_BYTES].decode(errors="replace")


def _plain(text: str) -> str:
    """One line without control characters."""
    return " ".join("".join(character if character.isprintable() else " " for character in text).split())
