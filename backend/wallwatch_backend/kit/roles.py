"""Roles of accounts and API tokens: viewer < operator < admin."""

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
