"""What goes to the log, and what does not."""

import json
import logging
from collections.abc import Callable, Iterator

import pytest
import structlog

from wallwatch_backend.kit import logs

_NAMES = (None, "uvicorn", "uvicorn.error", "uvicorn.access", "httpx")


@pytest.fixture
def logged(capsys: pytest.CaptureFixture[str]) -> Iterator[Callable[[str], list[str]]]:
    """A function that configures logging for a level and says which of the server's loggers write at INFO and WARNING."""
    before = [(logger, list(logger.handlers), logger.propagate, logger.level) for logger in map(logging.getLogger, _NAMES)]
    kept = structlog.get_config()

    def written(level: str) -> list[str]:
        logs.configure(level)
        for name in ("uvicorn.access", "uvicorn.error"):
            logging.getLogger(name).info("%s at info", name)
            logging.getLogger(name).warning("%s at warning", name)
        lines = [json.loads(line) for line in capsys.readouterr().err.splitlines() if line.startswith("{")]
        return [line["event"] for line in lines if line["logger"].startswith("uvicorn")]

    yield written
    structlog.configure(**kept)
    for logger, handlers, propagate, number in before:
        logger.handlers, logger.propagate = handlers, propagate
        logger.setLevel(number)


def test_no_request_is_logged_because_its_address_may_carry_the_code_of_a_sign_in(logged: Callable[[str], list[str]]) -> None:
    assert logged("DEBUG") == ["uvicorn.error at info", "uvicorn.error at warning"]


def test_the_level_of_the_settings_counts_for_the_server_s_own_messages_too(logged: Callable[[str], list[str]]) -> None:
    logging.getLogger("uvicorn.error").setLevel(logging.INFO)  # as uvicorn sets it before it loads the application
    assert logged("WARNING") == ["uvicorn.error at warning"]
