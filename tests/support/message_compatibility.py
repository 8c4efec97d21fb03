"""What a new schema of a message may not do to those who read messages of the old one.

Readers rely on every property that the old schema has: on its place, its type, on its presence where it is required, and on the set of
values where that is closed for what they read. New properties are no break: readers ignore what they do not know.
"""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]


def breaks(old: Schema, new: Schema) -> list[str]:
    """Return what would break readers, one line each.

    >>> old = {"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}}
    >>> breaks(old, {"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}})
    []
    >>> breaks(old, {"type": "object", "properties": {"a": {"type": "number"}}})
    ['message.a: was required', 'message.a: the type number is new']
    """
    return list(dict.fromkeys(_breaks(old, new, old, new, "message", 0)))


_DEEP = 12
"""Schemas that refer to themselves end here."""


def _breaks(old: Schema, new: Schema, old_root: Schema, new_root: Schema, place: str, depth: int) -> list[str]:
    old_variants, new_variants = _variants(old, old_root), _variants(new, new_root)
    found = [f"{place}: the type {kind} is new" for kind in sorted(_types(new_variants) - _types(old_variants)) if _types(old_variants)]
    if depth == _DEEP:
        return found
    for one in old_variants:
        if "properties" in one:
            found += _object(one, new_variants, old_root, new_root, place, depth)
        for key, step in (("items", "[]"), ("additionalProperties", ".*")):
            if isinstance(one.get(key), dict):
                others = [other[key] for other in new_variants if isinstance(other.get(key), dict)]
                found += _nearest(one[key], others, old_root, new_root, f"{place}{step}", depth)
    return found


def _object(one: Schema, candidates: list[Schema], old_root: Schema, new_root: Schema, place: str, depth: int) -> list[str]:
    """Against the variant that breaks least: an object may have become one of several."""
    objects = [other for other in candidates if "properties" in other]
    if not objects:
        return [f"{place}: is no object with properties any more"]
    results = []
    for other in objects:
        found: list[str] = []
        for name, schema in one["properties"].items():
            if name in one.get("required", ()) and name not in other.get("required", ()):
                found.append(f"{place}.{name}: was required")
            if name not in other["properties"]:
                found.append(f"{place}.{name}: is gone")
            else:
                found += _breaks(schema, other["properties"][name], old_root, new_root, f"{place}.{name}", depth + 1)
        results.append(found)
    return min(results, key=len)


def _nearest(old: Schema, others: list[Schema], old_root: Schema, new_root: Schema, place: str, depth: int) -> list[str]:
    results = [_breaks(old, other, old_root, new_root, place, depth + 1) for other in others]
    return min(results, key=len) if results else [f"{place}: is gone"]


def _variants(schema: Schema, root: Schema) -> list[Schema]:
    """The schema without references, or each of those that it is one of."""
    if "$ref" in schema:
        return _variants(root["$defs"][schema["$ref"].rpartition("/")[2]], root)
    for word in ("anyOf", "oneOf"):
        if word in schema:
            return [variant for each in schema[word] for variant in _variants(each, root)]
    return [schema]


def _types(variants: list[Schema]) -> set[str]:
    found = set()
    for each in variants:
        kinds = each.get("type", [])
        found |= {kinds} if isinstance(kinds, str) else set(kinds)
    return found
