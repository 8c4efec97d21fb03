"""What the claims of a verified ID token mean here: a name and a role."""

import re
from collections.abc import Mapping
from typing import Any

from wallwatch_backend.kit.roles import Role


def groups_of(claims: Mapping[str, Any], path: str) -> list[str]:
    """Return the groups of a claim; a name with dots may be one claim or a path into objects.

    >>> groups_of({"realm_access": {"roles": ["a", 1]}}, "realm_access.roles")
    ['a']
    >>> groups_of({"groups": "a"}, "groups"), groups_of({}, "groups")
    (['a'], [])
    """
    value: Any = claims
    for name in [path] if path in claims else path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    values = value if isinstance(value, list) else [value]
    return [group for group in values if isinstance(group, str)]


def role_of(groups: list[str], roles: Mapping[str, str], default: str | None) -> Role | None:
    """Return the highest role of these groups, the default, or None.

    >>> role_of(["ops", "staff"], {"ops": "operator", "staff": "viewer"}, None)
    <Role.operator: 'operator'>
    >>> role_of(["others"], {"ops": "operator"}, None) is None
    True
    """
    given = [Role(roles[group]) for group in groups if group in roles]
    if given:
        return max(given, key=list(Role).index)
    return Role(default) if default is not None else None


def username_of(claims: Mapping[str, Any], claim: str) -> str | None:
    """Return a name that an account may have, from the first claim that holds one.

    >>> username_of({"preferred_username": "Ana María"}, "preferred_username"), username_of({"sub": "0oa1"}, "preferred_username")
    ('ana-mar-a', '0oa1')
    """
    for name in (claim, "preferred_username", "email", "sub"):
        text = claims.get(name)
        if isinstance(text, str):
            cleaned = re.sub(r"[^a-z0-9._@-]+", "-", text.lower()).lstrip("._@-")[:100]
            if cleaned:
                return cleaned
    return None
