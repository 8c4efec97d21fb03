"""The application; `python -m wallwatch_backend.cli.serve` serves it."""

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import structlog
from fastapi import FastAPI
from starlette.middleware.gzip import GZipMiddleware

from wallwatch_backend import __version__, background, ui, webhook_schema, wiring
from wallwatch_backend.accounts.session.authenticate import Authenticator
from wallwatch_backend.api import PREFIX, new_api
from wallwatch_backend.hosts.connections.opamp import router as opamp
from wallwatch_backend.kit import logs, problem_handlers
from wallwatch_backend.kit.body_limit import BodyLimit
from wallwatch_backend.kit.database import Database
from wallwatch_backend.kit.health.service import KafkaProbe
from wallwatch_backend.kit.host_names import HostNames, allowed_names
from wallwatch_backend.kit.json_answers import SharedJson
from wallwatch_backend.kit.middleware import AnswerHeaders
from wallwatch_backend.kit.proxies import TrustedProxies
from wallwatch_backend.kit.tracing import Traces
from wallwatch_backend.remedies import wiring as remedy_wiring
from wallwatch_backend.settings import Settings
from wallwatch_backend.state_tables import STATE_MACHINES

MAX_BODY_BYTES = 1_000_000
"""The largest legitimate request is a remedy or webhook of a few kilobytes."""
BEHIND_UPLOADS_BYTES = 1 << 24
"""More than one message of the server has."""

log = structlog.get_logger(__name__)


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    services = wiring.connect(app)
    if services.agent_port is not None:
        await services.agent_port.open()
    async with background.running(services):
        log.info("started", version=__version__, signing_key=services.signer.kid)
        yield
    await services.database.dispose()
    if app.state.traces is not None:
        await asyncio.to_thread(app.state.traces.shutdown)


def create_app(settings: Settings | None = None) -> FastAPI:
    """Create the application. The default settings are those of the environment."""
    settings = settings or Settings()
    logs.configure(settings.log_level)
    app = new_api(lifespan=_lifespan)
    remedy_wiring.connect()
    app.state.settings = settings
    app.state.state_machines = STATE_MACHINES
    traces = app.state.traces = Traces(str(settings.traces_endpoint), __version__) if settings.traces_endpoint is not None else None
    app.state.database = Database(settings, traces.subjects if traces is not None else None)
    app.state.kafka_probe = KafkaProbe(settings)
    app.state.authenticate = Authenticator(app.state.database)
    app.state.shared_json = SharedJson(app.state.database)
    app.state.webhook_schema = webhook_schema.document()
    app.include_router(opamp)
    problem_handlers.install(app)
    app.add_middleware(GZipMiddleware, minimum_size=1000, compresslevel=1)  # 4 MB of fleet state in about 20 ms
    # The endpoint of uploads counts while it writes and refuses in its own words; this limit is behind it.
    uploads = {f"{PREFIX}/captures": settings.capture_max_bytes + BEHIND_UPLOADS_BYTES}
    app.add_middleware(BodyLimit, max_bytes=MAX_BODY_BYTES, uploads=uploads)
    app.add_middleware(HostNames, names=allowed_names(settings))
    by_https = settings.public_url is not None and settings.public_url.scheme == "https"
    app.add_middleware(AnswerHeaders, hsts_s=settings.hsts_s, always_https=by_https)
    app.add_middleware(TrustedProxies, networks=settings.trusted_proxies)  # outermost: everything else sees the client
    ui.serve_ui(app, settings.ui_dir)
    if traces is not None:
        traces.instrument(app)
    return app


def create_served_app() -> FastAPI:
    """Create the application of a process that does nothing else.

    Routes and schemas are half a million objects, which live as long as the process. To look through them for garbage took 0.3 s
    each time, in which nobody was answered; frozen, they are left alone.
    """
    app = create_app()
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)
    return app
