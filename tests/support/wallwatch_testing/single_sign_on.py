"""A second backend of a running stack, on which people sign in at an OpenID Connect provider: for the browser tests.

It shares the stack's database and leaves the background work to the first one, as a replica does.
The browser tests start the providers themselves, one after the other at the same address, because one test needs them to be down.
"""

import json
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from signal import SIGTERM

import httpx

from wallwatch.domain.telemetry.registry import KafkaRole
from wallwatch.store.roles import DatabaseRole
from wallwatch_local import ports, processes
from wallwatch_local.demo_programs import Layout
from wallwatch_local.paths import REPOSITORY

LABEL = "Example ID"
CLIENT = "wallwatch"
SECRET = "+/:% are encoded in the header that has this secret"
STRICT_PROVIDER = REPOSITORY / "tests" / "e2e" / "support" / "strictProvider.mjs"
PEOPLE = (
    {"sub": "1001", "preferred_username": "ana.sre", "groups": ["staff", "sre"]},
    {"sub": "1002", "preferred_username": "eve.sales", "groups": ["staff", "sales"]},
)
"""Claims of the people at the provider. Only the group `sre` has a role."""


@contextmanager
def running(layout: Layout) -> Iterator[dict[str, str]]:
    """Run the backend for the length of the block; yields the environment variables by which the browser tests find it.

    Raises
    ------
    LocalStackError
        When the backend does not start; the message has the end of its log.
    """
    [port] = ports.free_ports(1)
    # A name here and an IP address for the provider make two sites of them, so that the browser applies its rules for cookies.
    address = f"http://localhost:{port}"
    with _reserved_port() as provider_port:
        serve = [sys.executable, "-m", "wallwatch_backend.cli.serve", "--port", str(port)]
        command = processes.die_with_parent(serve, SIGTERM)
        environment = _environment(layout, port, address, f"http://127.0.0.1:{provider_port}")
        log = layout.folder / "logs" / "backend-single-sign-on.log"
        with processes.running(
            "the backend with single sign-on", command, log, lambda: _is_ready(address), SIGTERM, environment=environment
        ):
            commands = {"lenient": _lenient_provider(provider_port), "strict": _strict_provider(provider_port, address)}
            providers = {"address": f"http://127.0.0.1:{provider_port}", "commands": commands}
            yield {"E2E_SSO_BASE_URL": address, "E2E_SSO_PROVIDERS": json.dumps(providers)}


def _environment(layout: Layout, port: int, address: str, issuer: str) -> dict[str, str]:
    """Settings of the backend; a variable that is set to nothing counts as unset."""
    secret = layout.secrets / "oidc-client-secret"
    secret.write_text(SECRET)
    return {
        **layout.environment(layout.database_url(DatabaseRole.backend), KafkaRole.backend),
        "WALLWATCH_HTTP_PORT": str(port),
        "WALLWATCH_API_URL": address,
        "WALLWATCH_PUBLIC_URL": address,
        "WALLWATCH_BACKGROUND": "false",
        "WALLWATCH_AGENT_PORT": "",
        "WALLWATCH_AGENT_URL": "",
        "WALLWATCH_AGENT_SECRETS": "true",
        "WALLWATCH_OIDC_ISSUER": issuer,
        "WALLWATCH_OIDC_CLIENT_ID": CLIENT,
        "WALLWATCH_OIDC_CLIENT_SECRET_FILE": str(secret),
        "WALLWATCH_OIDC_ROLES": json.dumps({"sre": "operator"}),
        "WALLWATCH_OIDC_LABEL": LABEL,
        "WALLWATCH_LOCAL_SIGN_IN": "admins",
    }


def _lenient_provider(port: int) -> list[str]:
    """`oidc-provider-mock`, which accepts any client and any secret."""
    # It uses deprecated modules, whose warnings are not ours.
    command = [sys.executable, "-W", "ignore", "-m", "oidc_provider_mock", "--host", "127.0.0.1", "--port", str(port), "--require-nonce"]
    people = [argument for claims in PEOPLE for argument in ("--user-claims", json.dumps(claims))]
    return processes.die_with_parent([*command, *people], SIGTERM)


def _strict_provider(port: int, address: str) -> list[str]:
    """`oidc-provider`, which knows one client and requires PKCE."""
    client = {
        "client_id": CLIENT,
        "client_secret": SECRET,
        "redirect_uris": [f"{address}/api/v1/session/oidc/callback"],
        "post_logout_redirect_uris": [f"{address}/"],
    }
    settings = {"port": port, "client": client, "people": PEOPLE}
    return processes.die_with_parent(["node", str(STRICT_PROVIDER), json.dumps(settings)], SIGTERM)


@contextmanager
def _reserved_port() -> Iterator[int]:
    """A port that nobody else gets during the block, and that refuses connections until a server of the tests listens on it.

    Linux lets a server listen on the address of a bound socket if both set SO_REUSEADDR and the first one does not listen.
    """
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holder.bind((ports.LOOPBACK, 0))
        yield int(holder.getsockname()[1])


def _is_ready(address: str) -> bool:
    try:
        return httpx.get(f"{address}/-/ready", timeout=5).status_code == httpx.codes.OK
    except httpx.TransportError:
        return False
