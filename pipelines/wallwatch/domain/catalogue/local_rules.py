"""Rules that an installation adds to `unexplained`: candidates from causes that its lab has found, and that an operator accepted.

They have the form of `also` in symptoms.yaml. This module reads and writes them as YAML, and holds those of this process.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import yaml
from pydantic import ValidationError

from wallwatch.domain.catalogue.models import AnotherRule, Entry
from wallwatch.domain.telemetry.registry import RegistryError

_RULE = re.compile(r"L[1-9][0-9]*/[1-9][0-9]*")


class _Force:
    rules: tuple[AnotherRule, ...] = ()
    is_read = False


class LocalRules(Entry):
    """Such rules, each with a name of its own."""

    rules: tuple[AnotherRule, ...] = ()


def use(rules: LocalRules) -> None:
    """Detect these, too, in this process. To be called before anything reads the catalogue's conditions, which happens once.

    Raises
    ------
    RegistryError
        When the conditions were read already.
    """
    if _Force.is_read:
        raise RegistryError("local rules must be set before the catalogue's conditions are read")
    _Force.rules = rules.rules


def in_force() -> tuple[AnotherRule, ...]:
    """The rules of this process; from now on they stay as they are."""
    _Force.is_read = True
    return _Force.rules


def parse(text: str) -> LocalRules:
    """Validate rules that were written as YAML; whether their signals exist: `local_rule_check`.

    Raises
    ------
    RegistryError
        When it is not YAML of this form, or two rules have one name.

    Examples
    --------
    >>> parse("rules: []").rules
    ()
    >>> parse("rules: 7")
    Traceback (most recent call last):
    wallwatch.domain.telemetry.registry.RegistryError: local rules: rules: Input should be a valid tuple
    """
    try:
        found = LocalRules.model_validate(yaml.safe_load(text))
    except yaml.YAMLError as problem:
        raise RegistryError(f"local rules: invalid YAML: {problem}") from problem
    except ValidationError as problem:
        first = problem.errors()[0]
        raise RegistryError(f"local rules: {'.'.join(map(str, first['loc'])) or 'the text'}: {first['msg']}") from problem
    names: set[str] = set()
    for rule in found.rules:
        name = rule.definition.rule
        if not _RULE.fullmatch(name):
            raise RegistryError(f"local rules: rule {name!r}: a local rule is called L, a number, / and its version, such as L1/1")
        if name in names:
            raise RegistryError(f"local rules: two rules are called {name}")
        if rule.definition.scope != "rnic":
            raise RegistryError(f"local rules: rule {name}: scope must be rnic")
        names.add(name)
    return found


def dump(rules: Sequence[AnotherRule], comments: Sequence[str] = ()) -> str:
    """These rules as YAML, below comments.

    >>> dump([], ["None yet."])
    '# None yet.\\nrules: []\\n'
    """
    written = [rule.model_dump(mode="json", by_alias=True, exclude_defaults=True) for rule in rules]
    head = "".join(f"# {line}\n" for comment in comments for line in comment.splitlines())
    return head + yaml.safe_dump({"rules": written}, sort_keys=False, allow_unicode=True, width=120)
