"""All cases. Each module holds those of one subject; names say what the host does."""

from __future__ import annotations

from tests.raw_hosts.case import Case
from tests.raw_hosts.cases import contexts, kernel, liveness, masks, operations, pcie, table_work


def all_cases() -> list[Case]:
    """Every case, in a fixed order.

    Raises
    ------
    ValueError
        Where two have one name.
    """
    cases = [case for module in (liveness, table_work, masks, contexts, kernel, pcie, operations) for case in module.cases()]
    names = [case.name for case in cases]
    if len(set(names)) < len(names):
        raise ValueError(f"two cases are named {next(name for name in names if names.count(name) > 1)!r}")
    return cases
