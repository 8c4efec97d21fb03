"""Roles of accounts and API tokens (viewer < operator < admin), and the scopes that narrow what a token may do with its role."""

from collections.abc import Collection
from enum import StrEnum


class Role(StrEnum):
    viewer = "viewer"
    operator = "operator"
    admin = "admin"

    def covers(self, needed: "Role") -> bool:
        """Return whether this role may do what `needed` may.

        >>> Role.admin.covers(Role.viewer), Role.viewer.covers(Role.operator)
        (True, False)
        """
        order = list(Role)
        return order.index(self) >= order.index(needed)

    def at_most(self, other: "Role") -> "Role":
        """Return the lesser of two roles.

        >>> Role.admin.at_most(Role.viewer), Role.viewer.at_most(Role.admin)
        (<Role.viewer: 'viewer'>, <Role.viewer: 'viewer'>)
        """
        return other if self.covers(other) else self


class TokenScope(StrEnum):
    """What a token may do; its role still has to allow it."""

    read = "read"
    incidents = "incidents"
    remedies = "remedies"
    lab = "lab"
    admin = "admin"


_OF_CHANGES = {
    "incidents": TokenScope.incidents,
    "silences": TokenScope.incidents,
    "views": TokenScope.incidents,
    "remedies": TokenScope.remedies,
    "plans": TokenScope.remedies,
    "lab": TokenScope.lab,
    "captures": TokenScope.incidents,
}
"""The scope of operations that change something, by their OpenAPI tag; the scope of all others is `admin`."""


def scope_needed(role: Role, changes: bool, tags: Collection[str]) -> TokenScope | None:
    """Return the scope of an operation: by the role that it requires, whether its method changes something, and its tags.

    None is for the session, which every token may ask for.

    >>> scope_needed(Role.viewer, False, ["incidents"]), scope_needed(Role.operator, True, ["incidents"])
    (<TokenScope.read: 'read'>, <TokenScope.incidents: 'incidents'>)
    >>> scope_needed(Role.operator, True, ["webhooks"]), scope_needed(Role.admin, False, ["tokens"])
    (<TokenScope.admin: 'admin'>, <TokenScope.admin: 'admin'>)
    """
    if "session" in tags:
        return None
    if role is Role.admin:
        return TokenScope.admin
    if not changes:
        return TokenScope.read
    # A POST that viewers may send only calculates, such as a policy's backtest, unless its tag says otherwise.
    otherwise = TokenScope.read if role is Role.viewer else TokenScope.admin
    return next((_OF_CHANGES[tag] for tag in tags if tag in _OF_CHANGES), otherwise)
