"""The server: uvicorn with `BoundedHttp`, so that no way of starting it is without the limits."""

import asyncio
import resource
from collections.abc import Callable
from functools import partial
from typing import Any, cast

import uvicorn

from wallwatch_backend.kit.serving.connections import LOOPBACK, Connections, Limits
from wallwatch_backend.kit.serving.protocol import BoundedHttp
from wallwatch_backend.settings import Settings

GRACE_S = 3
"""How long a stopping server waits for open event streams."""


def limits_of(settings: Settings) -> Limits:
    """Return the limits that the settings name, for either port."""
    return Limits(
        head_bytes=settings.http_header_bytes,
        headers=settings.http_headers,
        head_s=settings.http_header_s,
        body_s=settings.http_body_s,
        idle_s=settings.http_idle_s,
        connections=settings.http_connections,
        per_address=settings.http_connections_per_address,
        exempt=(*LOOPBACK, *settings.trusted_proxies),
    )


def configuration(app: Callable[..., Any] | str, settings: Settings, **more: Any) -> uvicorn.Config:
    """Return uvicorn's configuration. `more` goes to uvicorn: host, port, reload.

    Forwarded addresses and schemes are a matter of `kit.proxies`: uvicorn would believe them from this machine.
    """
    http = partial(BoundedHttp, Connections(limits_of(settings), "http"))
    defaults: dict[str, Any] = {
        "http": cast(type[asyncio.Protocol], http),  # called like a class
        "access_log": False,
        "timeout_graceful_shutdown": GRACE_S,
        "proxy_headers": False,
    }
    return uvicorn.Config(app, **{**defaults, **more})


def raise_file_limit() -> None:
    """Allow as many open files as the system permits: each connection is one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
