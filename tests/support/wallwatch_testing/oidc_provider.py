"""An OpenID Connect provider on loopback that can be made to lie: what the backend must refuse, a real one never sends."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote_plus, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

Claims = dict[str, Any]


def _as_it_is(value: Any) -> Any:
    return value


@dataclass
class LyingProvider:
    """Signs in whoever asks as `person`; `change_claims` and `make_token` replace what an honest provider would send."""

    client_id: str = "wallwatch"
    client_secret: str = "a secret + 100% of the client: /?&="
    person: Claims = field(default_factory=lambda: {"sub": "1", "preferred_username": "ana", "groups": ["ops"]})
    change_claims: Callable[[Claims], Claims] = _as_it_is
    make_token: Callable[[Claims], str] | None = None
    document_changes: Claims = field(default_factory=dict)
    key: RSAKey = field(default_factory=lambda: RSAKey.generate_key(2048, {"kid": "first"}))
    key_requests: int = 0
    codes: dict[str, dict[str, str]] = field(default_factory=dict)

    def __enter__(self) -> LyingProvider:
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                pass

            def do_GET(self) -> None:
                self._answer(*provider.get(self.path))

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                self._answer(*provider.exchange(body, self.headers.get("Authorization", "")))

            def _answer(self, status: int, value: Claims) -> None:
                content = json.dumps(value).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.issuer = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def get(self, path: str) -> tuple[int, Claims]:
        if path == "/.well-known/openid-configuration":
            names = ("authorization_endpoint", "token_endpoint", "jwks_uri", "end_session_endpoint")
            return 200, {"issuer": self.issuer, **{name: f"{self.issuer}/{name}" for name in names}, **self.document_changes}
        if path == "/jwks_uri":
            self.key_requests += 1
            return 200, {"keys": [self.key.as_dict(private=False)]}
        return 404, {}

    def authorize(self, address: str) -> dict[str, str]:
        """Do what the browser and the person would do at the provider; return the parameters of the way back."""
        query = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        assert query["code_challenge_method"] == "S256"
        code = f"code-{len(self.codes)}"
        self.codes[code] = query
        return {"code": code, "state": query["state"]}

    def exchange(self, body: str, authorization: str) -> tuple[int, Claims]:
        form = {name: values[0] for name, values in parse_qs(body).items()}
        request = self.codes.pop(form["code"], None)  # each code once
        if self._credentials(authorization) != (self.client_id, self.client_secret):
            return 401, {"error": "invalid_client"}
        challenge = base64.urlsafe_b64encode(hashlib.sha256(form["code_verifier"].encode()).digest()).rstrip(b"=").decode()
        if request is None or request["code_challenge"] != challenge or request["redirect_uri"] != form["redirect_uri"]:
            return 400, {"error": "invalid_grant"}
        now = int(time.time())
        claims = {"iss": self.issuer, "aud": self.client_id, "iat": now, "exp": now + 300, "nonce": request["nonce"], **self.person}
        claims = self.change_claims(claims)
        token = self.make_token(claims) if self.make_token else jwt.encode({"alg": "RS256", "kid": self.key.kid}, claims, self.key)
        return 200, {"access_token": "access", "token_type": "Bearer", "id_token": token}

    @staticmethod
    def _credentials(authorization: str) -> tuple[str, ...]:
        """Id and secret of a client, each encoded as in a form before both went into Basic (RFC 6749, section 2.3.1)."""
        encoded = base64.b64decode(authorization.removeprefix("Basic ")).decode()
        return tuple(unquote_plus(part, errors="strict") for part in encoded.split(":"))
