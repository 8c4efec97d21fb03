"""A runner and a device that it offers."""

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from wallwatch_testing.lab_runner import Runner


@pytest.fixture
def runner(backend: Any) -> Iterator[Runner]:
    with psycopg.connect(backend.dsn, autocommit=True) as connection:
        yield Runner(connection)


@pytest.fixture
def device(runner: Runner) -> str:
    return runner.offer(f"dut-{uuid4().hex[:8]}", model="CX-6")
