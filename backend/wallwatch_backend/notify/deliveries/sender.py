"""Sends one request, to the address that was checked: the name may resolve to another one a moment later."""

import asyncio
import ssl
import time
from collections.abc import Awaitable, Callable
from datetime import datetime

import httpx
import structlog

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

    async def send(self, url: str, body: str, headers: dict[str, str], at: datetime) -> Outcome:
        """POST the body; every failure is an outcome, none raises."""
        started = time.monotonic()

        def outcome(status: int | None, error: str | None) -> Outcome:
            return Outcome(at, status, round((time.monotonic() - started) * 1000), error)

        private = True  # until its addresses are known
        try:
            async with asyncio.timeout(self._timeout_s * 2):
                addresses = await self._check(url, self._allow_private)
                private = any(map(urls.is_private, addresses))
                status = await self._post(addresses, url, body, headers)
        except BadUrl as error:
            return outcome(None, error.detail)
        except (httpx.HTTPError, httpx.InvalidURL, TimeoutError, OSError) as error:
            cause = f"{type(error).__name__}: {error}"[:300]
            if private:  # neither text nor duration may distinguish an open port of the internal network from a closed one
                log.warning("webhook_no_answer", url=urls.without_secret(url), error=cause)
                return Outcome(at, None, 0, NO_ANSWER)
            return outcome(None, cause)
        return outcome(status, None if 200 <= status < 300 else f"the receiver answered {status}")

    async def _post(self, addresses: list[Address], url: str, body: str, headers: dict[str, str]) -> int:
        for address in addresses:
            request = pinned(self._client, url, address, body, headers)
            try:
                response = await self._client.send(request, stream=True)
            except (httpx.ConnectError, httpx.ConnectTimeout):
                if address == addresses[-1]:
                    raise
                continue
            await response.aclose()  # the answer's body is not read: it may be endless
            return response.status_code
        raise BadUrl("The name has no address.")


def pinned(client: httpx.AsyncClient, url: str, address: Address, body: str, headers: dict[str, str]) -> httpx.Request:
    """A request to this address; the Host header, TLS server name and certificate verification use the URL's host name."""
    named = httpx.URL(url)
    return client.build_request(
        "POST",
        named.copy_with(host=str(address)),
        content=body.encode(),
        headers={**headers, "host": named.netloc.decode("ascii")},
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
