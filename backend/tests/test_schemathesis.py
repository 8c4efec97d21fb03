"""Every endpoint, with generated input, against the real backend: no crash, and no answer that the description does not know.

schemathesis runs its phases examples, coverage and fuzzing for each endpoint, and its phase stateful along the links of the description.
`make schemathesis` does more of each than a run of all tests has time for.
"""

import json
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from hypothesis.errors import Flaky
from schemathesis.core.failures import Failure, FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    ensure_resource_availability,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
    use_after_free,
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
OF_OWN_TESTS = ["openStream", "getReady"]
SCHEMA = schemathesis.openapi.from_dict(described()).exclude(operation_id=OF_OWN_TESTS)
EXAMPLES = int(os.environ.get("WALLWATCH_SCHEMATHESIS_EXAMPLES", "15"))
# Each request has the test's own token. A wrong one that was generated would be replaced, and the request be taken for wrong all the
# same: three in 40,000 were.
SCHEMA.config.generation.update(with_security_parameters=False)
ALWAYS = [schemathesis.checks.not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
CHECKS = [*ALWAYS, negative_data_rejection]
OF_SEQUENCES = [*ALWAYS, use_after_free, ensure_resource_availability]
CREATED_BY_GENERATED_INPUT = r"^/api/v1/(silences|views|automation-rules)"
"""Where sequences get furthest in a short time."""
PATIENCE_S = 180
"""Of each request; schemathesis would wait 10 s, which a busy machine needs at times."""
END_THE_RUN = ["deleteToken", "updateUser", "resetSecondFactor", "endOwnSession", "endSession"]
"""Of the token with which the sequences sign in, its owner's account or session."""


class Record:
    """What was tried, one line of JSON per test, written as each ends: a run that is stopped loses nothing."""

    def __init__(self) -> None:
        self.cases: Counter[str] = Counter()
        self.failures: Counter[str] = Counter()

    @staticmethod
    def of(case: Any) -> str:
        return f"{case.meta.phase.name.value if case.meta else 'unknown'} {case.operation.label}"

    def write(self, path: Path) -> None:
        with path.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps({"cases": self.cases, "failures": self.failures}) + "\n")


@pytest.fixture
def record() -> Iterator[Record]:
    record = Record()
    yield record
    if path := os.environ.get("WALLWATCH_SCHEMATHESIS_RECORD"):
        record.write(Path(path))


@pytest.fixture(scope="module")
def backend_settings() -> dict[str, object]:
    return {"sign_in_failures_per_account": 100_000, "sign_in_failures_per_address": 100_000, "webhook_timeout_s": 1}


@pytest.fixture(scope="module")
def token(admin: httpx.Client) -> str:
    return str(admin.post("/api/v1/tokens", json={"name": "schemathesis", "role": "admin"}).json()["token"])


@SCHEMA.parametrize()
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize=True,
)
def test_an_endpoint_keeps_to_its_description(case: Any, backend: Any, token: str, record: Record) -> None:
    record.cases[record.of(case)] += 1
    headers = {"Authorization": f"Bearer {token}"}
    response = case.call(base_url=backend.url, headers=headers, timeout=PATIENCE_S)
    if response.status_code == 431:  # by the server, before any endpoint: its limit has tests of its own
        assert len(response.request.url) > 16_384
        return
    record.failures[record.of(case)] += 1
    case.validate_response(response, headers=headers, checks=CHECKS)
    record.failures[record.of(case)] -= 1


def test_operations_that_follow_links_keep_to_their_description(backend: Any, token: str, record: Record) -> None:
    """What was created can be read and changed; what was deleted is gone."""
    paths = os.environ.get("WALLWATCH_SCHEMATHESIS_PATHS", CREATED_BY_GENERATED_INPUT)
    schema = schemathesis.openapi.from_dict(described()).include(path_regex=paths).exclude(operation_id=[*OF_OWN_TESTS, *END_THE_RUN])
    schema.config.update(base_url=backend.url)
    schema.config.generation.update(modes=[schemathesis.GenerationMode.POSITIVE])
    headers = {"Authorization": f"Bearer {token}"}
    answered: set[int] = set()
    failures: list[str] = []

    class Sequences(schema.as_state_machine()):  # type: ignore[misc]  # the class is made from the description
        def get_call_kwargs(self, case: Any) -> dict[str, Any]:
            return {"headers": headers, "timeout": PATIENCE_S}

        def validate_response(self, response: Any, case: Any, **_: Any) -> None:
            answered.add(response.status_code)
            record.cases[f"stateful {case.operation.label}"] += 1
            if response.status_code == 431:  # by the server, before any endpoint: its limit has tests of its own
                return
            try:
                case.validate_response(response, checks=OF_SEQUENCES, headers=headers)
            except (Failure, FailureGroup) as failure:
                failures.append(f"{case.operation.label}: {failure}")
                record.failures[f"stateful {case.operation.label}"] += 1

    # Hypothesis ends early when what it may draw differs from the sequence before: what the server has by now decides that.
    with suppress(Flaky):
        Sequences.run(
            settings=settings(
                max_examples=int(os.environ.get("WALLWATCH_SCHEMATHESIS_SEQUENCES", "12")),
                stateful_step_count=6,
                phases=[Phase.generate],
                deadline=None,
                suppress_health_check=list(HealthCheck),
                derandomize=True,
            )
        )
    assert failures == []
    assert 200 in answered, f"nothing that was asked for was there: {sorted(answered)}"
