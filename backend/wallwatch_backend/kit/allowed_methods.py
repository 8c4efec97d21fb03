"""The methods that a path has, for the header Allow of answers 405."""

import re
from collections.abc import Mapping
from typing import Any

_METHODS = ("get", "post", "put", "patch", "delete")


def allowed_methods(document: Mapping[str, Any], path: str) -> list[str]:
    """Return the methods that an OpenAPI document has for a path; of several templates that match, the one with fewest parameters counts.

    >>> document = {"paths": {"/a/{id}": {"get": {}, "delete": {}}, "/a/counts": {"get": {}}}}
    >>> allowed_methods(document, "/a/7"), allowed_methods(document, "/a/counts"), allowed_methods(document, "/b")
    (['GET', 'DELETE'], ['GET'], [])
    """
    matching = [template for template in document["paths"] if _matches(template, path)]
    if not matching:
        return []
    operations = document["paths"][min(matching, key=lambda template: template.count("{"))]
    return [method.upper() for method in _METHODS if method in operations]


def _matches(template: str, path: str) -> bool:
    parts = re.split(r"\{[^}]*\}", template)
    return re.fullmatch("[^/]+".join(re.escape(part) for part in parts), path) is not None
