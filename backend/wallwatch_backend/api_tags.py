"""What the API's description says next to its operations: an introduction, and what each group of operations is about."""

from typing import Any

INTRODUCTION = (
    "Sign in by a session cookie, or by `Authorization: Bearer ww_...` with a token of your account. Errors are `application/problem+json` "
    "with a stable `code`. Lists have a cursor. A query parameter that an operation does not have is refused. "
    "Changes of what several people may change need `If-Match` with the version that was read."
)

TAGS = {
    "agents": "Hosts' agents: enrolment, certificates, and the keys that sign commands",
    "audit": "Who changed what",
    "captures": "Packet captures of RDMA traffic, and what was found in them",
    "catalogue": "Names, units and meanings of symptoms, signals, limits, causes and remedies",
    "contention": "Network functions on one host: what they cost each other, and where to put one",
    "fleet": "All RNICs at once: state, common causes, replay, search",
    "forecasts": "When an RNIC meets a limit, or its bandwidth declines, and how good earlier forecasts were",
    "health": "Whether the backend runs and can answer",
    "incidents": "Incidents: list, evidence, timeline, triage, changes since",
    "isolation": "What virtual functions are promised and get: SLOs, breakage, reports",
    "lab": "Campaigns that look for causes on a device of the lab, and the rules that follow",
    "metrics": "Prometheus and OpenMetrics",
    "plans": "Mask plans: other masks for the same flows",
    "policies": "Policies in temporal logic, their violations and where they are delivered",
    "profiles": "Limits of a model of RNICs, measured and assumed",
    "remedies": "Remedies, their approval and proof; automation and rollouts",
    "rnics": "One RNIC: values over time, masks, virtual functions, changes",
    "session": "Sign-in and your own account",
    "silences": "Silences and maintenance",
    "stream": "Server-sent events",
    "tokens": "API tokens",
    "users": "Accounts and second factors",
    "views": "Saved views of lists",
    "webhooks": "Webhooks, their deliveries and dead letters",
}


def describe(document: dict[str, Any]) -> None:
    """Name the groups that operations are in, and the items of tuples, which some generators of clients need."""
    used = {tag for path in document["paths"].values() for operation in path.values() for tag in operation.get("tags", ())}
    document["tags"] = [{"name": name, "description": TAGS[name]} for name in sorted(used)]
    _complete_tuples(document)


def _complete_tuples(value: object) -> None:
    """Add `items` to tuples that have none: what follows the items of a tuple is bounded by `maxItems` anyway.

    >>> pair = {"prefixItems": [{"type": "integer"}], "type": "array", "maxItems": 1}
    >>> _complete_tuples({"of": [pair]})
    >>> pair["items"]
    {}
    """
    if isinstance(value, dict):
        if value.get("type") == "array" and "prefixItems" in value:
            value.setdefault("items", {})
        for each in value.values():
            _complete_tuples(each)
    elif isinstance(value, list):
        for each in value:
            _complete_tuples(each)
