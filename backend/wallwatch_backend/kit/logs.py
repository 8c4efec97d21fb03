"""Logs: one JSON object per line on standard error."""

import logging
import sys

import structlog

_SECRET_KEYS = frozenset({"password", "secret", "token", "authorization", "cookie", "csrf_token", "database_url"})


def _without_secrets(_: object, __: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    for key in _SECRET_KEYS & event.keys():
        event[key] = "(left out)"
    return event


def configure(level: str) -> None:
    """Send structlog and the standard library's logging through the same processors."""
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _without_secrets,
        structlog.processors.format_exc_info,
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, structlog.processors.JSONRenderer()],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level.upper())
    for name in ("uvicorn", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [], True
        logger.setLevel(logging.NOTSET)  # the root's; uvicorn sets its own
    # No line per request: it costs as much as answering a small one, and its address may carry the code of a sign-in.
    access = logging.getLogger("uvicorn.access")
    access.handlers, access.propagate = [], False
    logging.getLogger("httpx").setLevel(logging.WARNING)  # it logs whole URLs, which may carry a receiver's key
