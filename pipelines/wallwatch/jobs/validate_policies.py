"""The policies that `validate` runs: the catalogue's cross-host policies, and the operators' changes to them in the database."""

from __future__ import annotations

import logging
from typing import Any

import psycopg
from pydantic import ValidationError

from wallwatch.domain.policies.load import policies
from wallwatch.domain.policies.models import Policy

log = logging.getLogger(__name__)

_IN_FORCE = "SELECT id, own, enabled, definition FROM policy_in_force"

_LAST_SAMPLES = """
SELECT asked, extract(epoch FROM coalesce((SELECT max(seen_at) FROM rnic_state WHERE host = asked), now()))::float8
FROM unnest(%s::text[]) AS asked
"""


def of_catalogue() -> list[Policy]:
    """The catalogue's cross-host policies."""
    return [policy for policy in policies().values() if policy.where == "server"]


def in_force(rows: list[tuple[str, bool, bool, Any]]) -> list[Policy]:
    """The catalogue's policies that are not disabled, and the operators' policies that are enabled; invalid ones are skipped and logged."""
    off = {id for id, own, enabled, _ in rows if not own and not enabled}
    found = [policy for policy in of_catalogue() if policy.id not in off]
    for id, own, enabled, definition in rows:
        if not own or not enabled or not definition or definition.get("where") != "server":
            continue
        try:
            found.append(Policy.model_validate(definition))
        except ValidationError as error:
            log.error("the policy %s is invalid and is skipped: %s", id, error.errors()[0]["msg"])
    return found


def last_samples(url: str, hosts: set[str]) -> dict[str, int]:
    """Host -> time of its newest sample in the store, us since 1970; now for a host that never sent one. Empty without an answer."""
    try:
        with psycopg.connect(url, connect_timeout=3, application_name="wallwatch-validate") as connection:
            rows = connection.execute(_LAST_SAMPLES, [sorted(hosts)]).fetchall()
    except (psycopg.OperationalError, psycopg.errors.UndefinedTable) as error:
        log.warning("cross-host violations wait, because the database cannot be queried: %s", str(error).strip())
        return {}
    return {host: round(at_s * 1e6) for host, at_s in rows}


def read(url: str) -> list[Policy] | None:
    """The active policies in the database; None when it does not answer, so the previous ones stay active."""
    try:
        with psycopg.connect(url, connect_timeout=3, application_name="wallwatch-validate") as connection:
            return in_force(connection.execute(_IN_FORCE).fetchall())
    except psycopg.errors.UndefinedTable:
        return of_catalogue()
    except psycopg.OperationalError as error:
        log.warning("policies cannot be read from the database, the previous ones stay active: %s", str(error).strip())
        return None
