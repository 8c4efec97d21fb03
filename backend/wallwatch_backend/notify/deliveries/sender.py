"""Sends one request, to the address that was checked: the name may resolve to another one a moment later."""

import asyncio
import ssl
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import datetime

import httpx
import structlog

from wallwatch_backend.notify.deliveries import answers
from wallwatch_backend.notify.deliveries.answers import Answer
from wallwatch_backend.notify.deliveries.outcome import Outcome
from wallwatch_backend.notify.webhooks import urls
from wallwatch_backend.notify.webhooks.errors import BadUrl
from wallwatch_backend.notify.webhooks.urls import Address

log = structlog.get_logger(__name__)
Check = Callable[[str, bool], Awaitable[list[Address]]]


NO_ANSWER = "no HTTP answer from a private address; the server's log has the cause"


class Sender:
    """Sends requests to URLs that people entered."""

    def __init__(self, client: httpx.AsyncClient, timeout_s: float, allow_private: bool, check: Check = urls.check) -> None:
        self._client, self._timeout_s, self._allow_private, self._check = client, timeout_s, allow_private, check

    async def send(self, url: str, body: str, headers: dict[str, str], at: datetime, secrets: Sequence[str] = ()) -> Outcome:
        """POST the body; every failure is an outcome, none raises. Of an answer that repeats a secret, the log shows the rest."""
        started = time.monotonic()

        def outcome(status: int | None, error: str | None) -> Outcome:
            return Outcome(at, status, round((time.monotonic() - started) * 1000), error)

        private = True  # until its addresses are known
        try:
            async with asyncio.timeout(self._timeout_s * 2):
                addresses = await self._check(url, self._allow_private)
                private = any(map(urls.is_private, addresses))
                answer = await self._post(addresses, url, body, headers, at, [*secrets, *answers.secrets_in(url)])
        except BadUrl as error:
            return outcome(None, error.detail)
        except (httpx.HTTPError, httpx.InvalidURL, TimeoutError, OSError) as error:
            cause = f"{type(error).__name__}: {error}"[:300]
            if private:  # neither text nor duration may distinguish an open port of the internal network from a closed one
                log.warning("webhook_no_answer", url=urls.without_secret(url), error=cause)
                return Outcome(at, None, 0, NO_ANSWER)
            return outcome(None, cause)
        if answer.accepted:
            return outcome(answer.status, None)
        if private and answer.words:  # what services of the internal network say is not for everybody who reads the delivery log
            log.warning("webhook_refused", url=urls.without_secret(url), status=answer.status, answer=answer.words)
        failed = outcome(answer.status, described(answer, private))
        return replace(failed, refused=answer.refused, retry_after_s=answer.retry_after_s)

    async def _post(
        self, addresses: list[Address], url: str, body: str, headers: dict[str, str], at: datetime, secrets: Sequence[str]
    ) -> Answer:
        for address in addresses:
            request = pinned(self._client, url, address, body, headers)
            try:
                response = await self._client.send(request, stream=True)
            except (httpx.ConnectError, httpx.ConnectTimeout):
                if address == addresses[-1]:
                    raise
                continue
            try:
                return await answers.read(response, at, secrets)
            finally:
                await response.aclose()
        raise BadUrl("The name has no address.")


def described(answer: Answer, private: bool) -> str:
    """A failure in words, with those of the receiver.

    >>> described(Answer(400, words="no such severity"), private=False)
    'the receiver refused it, so it is not sent again: no such severity'
    >>> described(Answer(400, words="no such severity"), private=True)
    "the receiver refused it, so it is not sent again; its answer is in the server's log"
    >>> described(Answer(503), private=False)
    'the receiver answered 503'
    """
    text = "the receiver refused it, so it is not sent again" if answer.refused else f"the receiver answered {answer.status}"
    if not answer.words:
        return text
    return f"{text}; its answer is in the server's log" if private else f"{text}: {answer.words}"


def pinned(client: httpx.AsyncClient, url: str, address: Address, body: str, headers: dict[str, str]) -> httpx.Request:
    """A request to this address; the Host header, TLS server name and certificate verification use the URL's host name."""
    named = httpx.URL(url)
    return client.build_request(
        "POST",
        named.copy_with(host=str(address)),
        content=body.encode(),
        headers={**headers, "host": named.netloc.decode("ascii"), "accept-encoding": "identity"},  # a compressed answer could be endless
        extensions={"sni_hostname": named.host},
    )


def client(timeout_s: float, verify: ssl.SSLContext | bool = True) -> httpx.AsyncClient:
    """A client that follows no redirects and uses no proxy.

    No connection is reused: they are pooled by address, and the certificate was verified for one name only.
    """
    return httpx.AsyncClient(
        timeout=httpx.Timeout(timeout_s),
        limits=httpx.Limits(max_keepalive_connections=0),
        follow_redirects=False,
        trust_env=False,
        verify=verify,
    )
