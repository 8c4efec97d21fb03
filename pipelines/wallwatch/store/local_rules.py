"""Rules that operators accepted (table `lab_rule`), for the job that detects them. It reads them once, when it starts."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import psycopg
from pydantic import ValidationError

from wallwatch.domain.catalogue.local_rule_check import problem_of
from wallwatch.domain.catalogue.local_rules import LocalRules, dump, parse
from wallwatch.domain.catalogue.models import AnotherRule
from wallwatch.domain.telemetry.registry import RegistryError

log = logging.getLogger(__name__)

CONNECT_S = 10

_ACCEPTED = "SELECT number, body FROM lab_rule WHERE state = 'accepted' ORDER BY number"


def accepted(connection: psycopg.Connection[Any]) -> LocalRules:
    """The accepted rules; one that this version cannot use is skipped and logged."""
    found = []
    for number, body in connection.execute(_ACCEPTED):
        try:
            rule = AnotherRule.model_validate(body)
            problem = problem_of(rule)
        except ValidationError as error:
            problem = str(error.errors()[0]["msg"])
        if problem is None:
            found.append(rule)
        else:
            log.warning("local rule L%s is not used: %s", number, problem)
    return LocalRules(rules=tuple(found))


def accepted_rules(libpq_url: str, copy: Path) -> LocalRules:
    """The accepted rules, or without the database those of the last start: `copy` is a file that keeps them."""
    try:
        with psycopg.connect(libpq_url, connect_timeout=CONNECT_S) as connection:
            found = accepted(connection)
    except psycopg.Error as problem:
        found = _last(copy)
        log.warning("local rules: the database cannot be read (%s); used are the %s of the last start", problem, len(found.rules))
        return found
    copy.write_text(dump(found.rules), encoding="utf-8")
    log.info("local rules: %s", ", ".join(rule.definition.rule for rule in found.rules) or "none")
    return found


def _last(copy: Path) -> LocalRules:
    try:
        return parse(copy.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return LocalRules()
    except (OSError, UnicodeDecodeError, RegistryError) as problem:
        log.warning("local rules: %s cannot be read: %s", copy, problem)
        return LocalRules()
