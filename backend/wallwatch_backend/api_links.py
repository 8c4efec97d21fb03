"""Links of the API's description: with what an answer has, these operations can go on (OpenAPI 3.1, Link Object).

They follow from the paths. What `POST /webhooks` creates, or `GET /webhooks` lists first, is what the operations on
`/webhooks/{webhook_id}` are about.
"""

import re
from typing import Any

_PARAMETER = re.compile(r"\{(\w+)\}")


def add_links(document: dict[str, Any]) -> None:
    """Add the links to a description, in place."""
    paths = document["paths"]
    for path, operations in paths.items():
        for method, status, where in (("post", "201", "id"), ("get", "200", "items/0/id")):
            response = operations.get(method, {}).get("responses", {}).get(status)
            if response is None or not _has(document, response, where.split("/")):
                continue
            links = {
                operation["operationId"]: {"operationId": operation["operationId"], "parameters": parameters}
                for below, others in paths.items()
                if (parameters := _parameters(path, below, f"$response.body#/{where}"))
                for operation in others.values()
            }
            if links:
                response["links"] = links


def _parameters(path: str, below: str, value: str) -> dict[str, str]:
    """The parameters of an operation on a thing of this path, or nothing for what is no such operation.

    >>> _parameters("/hooks", "/hooks/{hook_id}/test", "$response.body#/id")
    {'hook_id': '$response.body#/id'}
    >>> _parameters("/hooks", "/hooks/schema", "v"), _parameters("/hooks", "/hooks/{hook_id}/log/{entry_id}", "v")
    ({}, {})
    >>> _parameters("/hooks/{hook_id}/log", "/hooks/{hook_id}/log/{entry_id}", "v")
    {'hook_id': '$request.path.hook_id', 'entry_id': 'v'}
    """
    rest = below.removeprefix(f"{path}/")
    if rest == below or not rest.startswith("{"):
        return {}
    own, *more = _PARAMETER.findall(rest)
    return {} if more else {**{name: f"$request.path.{name}" for name in _PARAMETER.findall(path)}, own: value}


def _has(document: dict[str, Any], response: dict[str, Any], where: list[str]) -> bool:
    """Whether the description of the answer has this value."""
    schema = response.get("content", {}).get("application/json", {}).get("schema", {})
    for step in where:
        schema = _resolved(document, schema)
        schema = schema.get("items", {}) if step == "0" else schema.get("properties", {}).get(step, {})
    return bool(schema)


def _resolved(document: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return schema
