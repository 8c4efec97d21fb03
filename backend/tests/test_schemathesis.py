"""Every endpoint, with generated input, against the real backend: no crash, and no answer that the description does not know."""

import os
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
)

from wallwatch_backend.api import new_api

pytestmark = pytest.mark.long


def described() -> dict[str, Any]:
    """The API's description without the parameter that makes a request wait, which has tests of its own."""
    document = new_api().openapi()
    parameters = document["paths"]["/api/v1/incidents/changes"]["get"]["parameters"]
    parameters[:] = [parameter for parameter in parameters if parameter["name"] != "wait_s"]
    return document


# The stream has no end, so it has tests of its own.
SCHEMA = schemathesis.openapi.from_dict(described()).exclude(operation_id=["openStream", "getReady"])
CHECKS = [
    schemathesis.checks.not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    negative_data_rejection,
]


@pytest.fixture(scope="module")
def backend_settings() -> dict[str, object]:
    return {"sign_in_failures_per_account": 100_000, "sign_in_failures_per_address": 100_000, "webhook_timeout_s": 1}


@pytest.fixture(scope="module")
def token(admin: httpx.Client) -> str:
    return str(admin.post("/api/v1/tokens", json={"name": "schemathesis", "role": "admin"}).json()["token"])


@SCHEMA.parametrize()
@settings(
    max_examples=int(os.environ.get("WALLWATCH_SCHEMATHESIS_EXAMPLES", "15")),
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize=True,
)
def test_an_endpoint_keeps_to_its_description(case: Any, backend: Any, token: str) -> None:
    headers = {"Authorization": f"Bearer {token}"}
    response = case.call(base_url=backend.url, headers=headers)
    if response.status_code == 431:  # by the server, before any endpoint: its limit has tests of its own
        assert len(response.request.url) > 16_384
        return
    case.validate_response(response, headers=headers, checks=CHECKS)
