"""To whom incidents can be assigned: accounts that can sign in, so that nothing is given to a name that nobody has.

An account that is disabled later keeps what it was assigned, as history; the filter `unassigned` finds these incidents.
"""

from difflib import get_close_matches

from wallwatch_backend.accounts.users import repository as users
from wallwatch_backend.incidents.errors import UnknownAssignee
from wallwatch_backend.incidents.listing.schemas import Assignees
from wallwatch_backend.kit.database import ReadSession

_COMPARED = 2_000


async def listed(session: ReadSession, containing: str, limit: int) -> Assignees:
    names = await users.assignable_names(session, containing, limit + 1)
    return Assignees(items=list(names[:limit]), more=len(names) > limit)


async def require(session: ReadSession, name: str) -> None:
    """Raise `UnknownAssignee`, which says what to do, unless the account exists and can sign in."""
    if await users.can_sign_in(session, name):
        return
    near = get_close_matches(name, await users.assignable_names(session, "", _COMPARED), n=1)
    meant = f" Did you mean {near[0]}?" if near else ""
    raise UnknownAssignee(
        f"There is no account {name!r} that can sign in.{meant} "
        "GET /api/v1/incidents/assignees lists the names; an administrator can create or enable an account, "
        "and a comment can name somebody who has none."
    )
