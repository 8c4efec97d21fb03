"""Which policies run over all hosts."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from wallwatch.domain.policies.load import policies
from wallwatch.jobs.validate_policies import in_force, last_samples, of_catalogue

ADDRESS = policies()["address-one-container"]
OWN: dict[str, Any] = {**ADDRESS.model_dump(mode="json", exclude_none=True), "id": "own-one"}


def ids(*rows: tuple[str, bool, bool, Any]) -> list[str]:
    return [policy.id for policy in in_force(list(rows))]


def test_those_of_the_catalogue_that_cross_hosts_run() -> None:
    assert ids() == [policy.id for policy in of_catalogue()] == ["address-one-container"]


def test_a_disabled_policy_is_not_active() -> None:
    assert ids(("address-one-container", False, False, None)) == []


@pytest.mark.parametrize(
    ("enabled", "definition", "runs"),
    [(True, OWN, True), (False, OWN, False), (True, {**OWN, "where": "edge"}, False), (True, {**OWN, "formula": "G("}, False)],
)
def test_operators_own_ones_run_where_they_are_enabled_cross_hosts_and_can_be_used(
    enabled: bool, definition: dict[str, Any], runs: bool
) -> None:
    assert ids(("own-one", True, enabled, definition)) == ["address-one-container", *(["own-one"] if runs else [])]


def test_a_host_last_reported_when_its_newest_sample_was_taken(migrated_url: str) -> None:
    url = migrated_url.replace("postgresql+psycopg", "postgresql")
    with psycopg.connect(url) as connection:
        for number, seconds in ((1, 100), (2, 200)):
            query = "INSERT INTO rnic_state (rnic_id, host, pci, change_seq, seen_at) VALUES (%s, 'a', %s, %s, to_timestamp(%s))"
            connection.execute(query, (number, f"pci {number}", number, seconds))
    found = last_samples(url, {"a", "without-rnics"})
    assert found["a"] == 200_000_000
    assert found["without-rnics"] > 1_700_000_000_000_000, "one that never sent a sample is not waited for"
    assert last_samples("postgresql://127.0.0.1:1/none", {"a"}) == {}
