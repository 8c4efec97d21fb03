"""The application: `uvicorn --factory wallwatch_backend.app:create_app`."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import structlog
from fastapi import FastAPI
from starlette.middleware.gzip import GZipMiddleware

from wallwatch_backend import __version__, background, ui
from wallwatch_backend.agents.conduct import Conduct
from wallwatch_backend.agents.opamp import Connections
from wallwatch_backend.agents.opamp import router as opamp
from wallwatch_backend.agents.policies import PolicyFile
from wallwatch_backend.agents.port import AgentPort
from wallwatch_backend.agents.turned_away import TurnedAway
from wallwatch_backend.api import new_api
from wallwatch_backend.health.service import KafkaProbe
from wallwatch_backend.kit import logs, problem_handlers
from wallwatch_backend.kit.body_limit import BodyLimit
from wallwatch_backend.kit.database import Database
from wallwatch_backend.kit.middleware import AnswerHeaders
from wallwatch_backend.policies.standing import Standing
from wallwatch_backend.remedies.intake import Intake
from wallwatch_backend.remedies.signing import CommandSigner
from wallwatch_backend.session.authenticate import authenticate
from wallwatch_backend.settings import Settings
from wallwatch_backend.stream.hub import StreamHub
from wallwatch_backend.webhooks.cipher import SecretCipher

MAX_BODY_BYTES = 1_000_000
"""The largest honest request is a remedy or webhook of some kilobytes."""

log = structlog.get_logger(__name__)


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    settings: Settings = app.state.settings
    app.state.signer = CommandSigner.load(settings.secrets_dir)
    app.state.cipher = SecretCipher.load(settings.secrets_dir)
    app.state.connections = Connections(app.state.database)
    app.state.intake = Intake(app.state.database, settings, app.state.signer)
    app.state.policy_file = PolicyFile(app.state.database)
    app.state.conduct = Conduct(app.state.database)
    app.state.turned_away = TurnedAway()
    app.state.policy_standing = Standing(app.state.database)
    app.state.hub = StreamHub(app.state.database, settings)
    app.state.agent_port = None
    if settings.agent_port is not None:
        app.state.agent_port = AgentPort(app, app.state.database, app.state.cipher, settings, app.state.turned_away)
        await app.state.agent_port.open()
    async with background.running(app):
        log.info("started", version=__version__, signing_key=app.state.signer.kid)
        yield
    await app.state.database.dispose()


def create_app(settings: Settings | None = None) -> FastAPI:
    """Make the application; without settings they come from the environment."""
    settings = settings or Settings()
    logs.configure(settings.log_level)
    app = new_api(lifespan=_lifespan)
    app.state.settings = settings
    app.state.database = Database(settings)
    app.state.kafka_probe = KafkaProbe(settings.kafka_bootstrap)
    app.state.authenticate = authenticate
    app.include_router(opamp)
    problem_handlers.install(app)
    app.add_middleware(GZipMiddleware, minimum_size=1000, compresslevel=1)  # level 1: a wall of 4 MB in some 20 ms
    app.add_middleware(BodyLimit, max_bytes=MAX_BODY_BYTES)
    app.add_middleware(AnswerHeaders)
    ui.serve_ui(app, settings.ui_dir)
    return app
