"""The values that an incident recommends: derived once, kept with their derivation, replaced only when somebody asks. Pure.

`Kept` is what an incident stores: action -> its measured parameters, how they follow from what was measured, and when they were derived.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from wallwatch.domain.catalogue.remedy_order import in_order

Suggestions = Sequence[dict[str, Any]]
"""Remedies of a finding as it stores them."""
Kept = dict[str, dict[str, Any]]


def derived(findings: Iterable[Suggestions], at: datetime) -> Kept:
    """The measured parameters of these findings' remedies; of an action that several suggest, the first one's."""
    found: Kept = {}
    for each in _each_once(findings):
        if derivations := each.get("derivations"):
            params = {name: each["params"][name] for name in derivations}
            found[each["action"]] = {"params": params, "derivations": derivations, "derived_at": at.isoformat()}
    return found


def with_new(kept: Kept, findings: Iterable[Suggestions], at: datetime) -> Kept:
    """What is kept, and what was derived for actions that have nothing kept."""
    return {**derived(findings, at), **kept}


def replaced(kept: Kept, newest: Kept) -> list[str]:
    """What deriving again changes, in words.

    >>> old = {"tune-revalidator": {"params": {"max_idle_ms": 160000}}}
    >>> new = {"tune-revalidator": {"params": {"max_idle_ms": 90000}, "derivations": {"max_idle_ms": "present max-idle 30,000 ms x 3"}}}
    >>> replaced(old, new), replaced(old, old)
    (['max_idle_ms of tune-revalidator from 160000 to 90000 (present max-idle 30,000 ms x 3)'], [])
    """
    changes = []
    for action, values in newest.items():
        before = kept.get(action, {}).get("params", {})
        for name, value in values["params"].items():
            if before.get(name) != value:
                changes.append(f"{name} of {action} from {before.get(name, 'none')} to {value} ({values['derivations'][name]})")
    return changes


def offered(kept: Kept, findings: Sequence[Suggestions], top_cause: str | None) -> list[dict[str, Any]]:
    """The remedies of an incident, each once, in the order in which they are offered, with the kept values.

    `newest` of a remedy is what deriving again would give; None where that is the same.
    """
    by_action = {each["action"]: each for each in _each_once(findings)}
    shown = []
    for action in in_order(by_action, [top_cause] if top_cause is not None else []):
        each = by_action[action]
        values = kept.get(action)
        newest = {
            "params": {name: each["params"][name] for name in each.get("derivations", {})},
            "derivations": each.get("derivations", {}),
        }
        if values is None:
            shown.append({**each, "derived_at": None, "newest": None})
            continue
        shown.append(
            {
                **each,
                "params": {**each["params"], **values["params"]},
                "derivations": values["derivations"],
                "derived_at": values["derived_at"],
                "newest": newest if newest["params"] != values["params"] else None,
            }
        )
    return shown


def _each_once(findings: Iterable[Suggestions]) -> list[dict[str, Any]]:
    first: dict[str, dict[str, Any]] = {}
    for suggestions in findings:
        for each in suggestions:
            first.setdefault(each["action"], each)
    return list(first.values())
