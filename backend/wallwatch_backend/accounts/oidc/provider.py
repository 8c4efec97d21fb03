"""Talks to the OpenID Connect provider: discovery document, keys, exchange of codes."""

import asyncio
import time
from typing import Any
from urllib.parse import quote_plus, urlencode, urlsplit

import httpx

from wallwatch_backend.accounts.oidc.attempt import Attempt
from wallwatch_backend.accounts.oidc.errors import InvalidToken, OidcRefused, ProviderUnreachable
from wallwatch_backend.accounts.oidc.id_token import Expected, Keys, find_key, key_id, verified_claims
from wallwatch_backend.settings import Settings

CALLBACK = "/api/v1/session/oidc/callback"
_DOCUMENT_LIFE_S = 3600
_KEYS_AT_MOST_EVERY_S = 10  # tokens with invented key ids must not make us flood the provider
_TIMEOUT_S = 10
_LARGEST = 1_000_000


class Provider:
    """One per process. Raises `OidcRefused` with what to show and what to audit."""

    def __init__(self, settings: Settings, issuer: str) -> None:
        self._settings, self._issuer = settings, issuer
        self._document: tuple[float, dict[str, Any]] | None = None
        self._keys: tuple[float, Keys] | None = None
        self._lock = asyncio.Lock()

    @property
    def redirect_uri(self) -> str:
        return str(self._settings.public_url).rstrip("/") + CALLBACK

    async def authorization_url(self, attempt: Attempt) -> str:
        query = {
            "response_type": "code",
            "client_id": self._settings.oidc_client_id,
            "redirect_uri": self.redirect_uri,
            "scope": self._settings.oidc_scopes,
            "state": attempt.state,
            "nonce": attempt.nonce,
            "code_challenge": attempt.challenge,
            "code_challenge_method": "S256",
        }
        return _with_query(await self._endpoint("authorization_endpoint"), query)

    async def sign_out_url(self, id_token: str | None) -> str | None:
        """Return where the provider ends its session (RP-initiated logout), if it offers that; without the token it may ask first."""
        if not (await self._discovered()).get("end_session_endpoint"):
            return None
        query = {"client_id": self._settings.oidc_client_id, "post_logout_redirect_uri": str(self._settings.public_url)}
        if id_token is not None:
            query["id_token_hint"] = id_token
        return _with_query(await self._endpoint("end_session_endpoint"), query)

    async def check_answer_issuer(self, given: str | None) -> None:
        """Refuse the answer of another provider (mix-up, RFC 9207)."""
        always = (await self._discovered()).get("authorization_response_iss_parameter_supported") is True
        if (given is not None or always) and given != self._issuer:
            raise InvalidToken("wrong_answer_issuer")

    async def exchange(self, code: str, attempt: Attempt) -> tuple[dict[str, Any], str]:
        """Exchange a code; return the claims of its verified ID token, and the token."""
        form = {"grant_type": "authorization_code", "code": code, "redirect_uri": self.redirect_uri, "code_verifier": attempt.verifier}
        answer = await self._request("POST", await self._endpoint("token_endpoint"), form)
        token, access = answer.get("id_token"), answer.get("access_token")
        if not isinstance(token, str):
            raise InvalidToken("no_id_token")
        expected = Expected(self._issuer, self._settings.oidc_client_id, attempt.nonce, access if isinstance(access, str) else None)
        return verified_claims(token, await self._key(key_id(token)), expected, time.time()), token

    async def _key(self, kid: str | None) -> dict[str, Any]:
        async with self._lock:
            now = time.monotonic()
            key = find_key(self._keys[1], kid) if self._keys is not None else None
            if (
                self._keys is None
                or now - self._keys[0] > _DOCUMENT_LIFE_S
                or (key is None and now - self._keys[0] > _KEYS_AT_MOST_EVERY_S)
            ):
                answer = await self._request("GET", await self._endpoint("jwks_uri"))
                keys = [key for key in answer.get("keys") or [] if isinstance(key, dict)]
                self._keys = (now, keys)
                key = find_key(keys, kid)
        if key is None:
            raise InvalidToken("unknown_key")
        return key

    async def _discovered(self) -> dict[str, Any]:
        now = time.monotonic()
        if self._document is None or now - self._document[0] > _DOCUMENT_LIFE_S:
            document = await self._request("GET", self._issuer.rstrip("/") + "/.well-known/openid-configuration")
            if document.get("issuer") != self._issuer:
                raise ProviderUnreachable("The provider calls itself by another name than WALLWATCH_OIDC_ISSUER; set that name exactly.")
            self._document = (now, document)
        return self._document[1]

    async def _endpoint(self, name: str) -> str:
        address = (await self._discovered()).get(name)
        if not isinstance(address, str) or not address:
            raise ProviderUnreachable(f"The provider's discovery document names no {name}.")
        if urlsplit(address).scheme != "https" and urlsplit(self._issuer).scheme == "https":
            raise ProviderUnreachable(f"The provider's {name} is not an https:// address.")
        return address

    async def _request(self, method: str, address: str, form: dict[str, str] | None = None) -> dict[str, Any]:
        credentials = None
        if form is not None:
            credentials = self._client_secret()
            if credentials is None:
                form = form | {"client_id": self._settings.oidc_client_id}
        try:
            async with httpx.AsyncClient(timeout=_TIMEOUT_S, follow_redirects=False) as client:
                answer = await client.request(method, address, data=form, auth=credentials, headers={"Accept": "application/json"})
                body = answer.json() if len(answer.content) <= _LARGEST else None
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            raise ProviderUnreachable("The sign-in provider does not answer. Try again later.") from error
        if form is not None and 400 <= answer.status_code < 500:
            reason = body.get("error") if isinstance(body, dict) else None
            text = "The provider no longer accepts this sign-in. Sign in again."
            raise OidcRefused(f"code_refused:{str(reason)[:60]}", text)
        if answer.status_code != httpx.codes.OK or not isinstance(body, dict):
            raise ProviderUnreachable(f"The sign-in provider answered {answer.status_code}. Try again later.")
        return body

    def _client_secret(self) -> httpx.BasicAuth | None:
        file = self._settings.oidc_client_secret_file
        if file is None:
            return None
        try:
            secret = file.read_text(encoding="utf-8").strip()
        except OSError as error:
            raise ProviderUnreachable("The file WALLWATCH_OIDC_CLIENT_SECRET_FILE cannot be read by the server.") from error
        # Encoded as a form encodes them (RFC 6749, section 2.3.1): otherwise `+` and `%` in a secret mean something else there.
        return httpx.BasicAuth(quote_plus(self._settings.oidc_client_id), quote_plus(secret))


def _with_query(address: str, query: dict[str, str]) -> str:
    return address + ("&" if "?" in address else "?") + urlencode(query)
