"""Fixtures of the tests about incidents."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx
import pytest

from wallwatch_testing.incidents import API

NOW = datetime.now(UTC).replace(microsecond=0)


@pytest.fixture
def opened(operator: httpx.Client, findings: Any, apply_findings: Any, request: pytest.FixtureRequest) -> Any:
    """A function that opens incidents, one per host, each on a new host, and returns them as the list has them."""

    def make(count: int = 1, **more: Any) -> list[dict[str, Any]]:
        tag = uuid4().hex[:8]
        hosts = [f"{tag}-{i}" for i in range(count)]
        apply_findings(*(findings.finding(host=h, started=NOW - timedelta(seconds=i), **more) for i, h in enumerate(hosts)))
        by_host = {one["host"]: one for one in operator.get(API, params={"q": tag, "limit": 500}).json()["items"]}
        return [by_host[host] for host in hosts]

    return make
