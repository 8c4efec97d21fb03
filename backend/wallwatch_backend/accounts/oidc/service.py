"""Turns a verified person of the provider into a session: creates the account, assigns the role, refuses with a reason."""

from typing import Any

from sqlalchemy.exc import IntegrityError

from wallwatch_backend.accounts.audit import service as audit
from wallwatch_backend.accounts.oidc.claims import groups_of, role_of, username_of
from wallwatch_backend.accounts.oidc.errors import OidcRefused
from wallwatch_backend.accounts.session.service import OpenedSession, open_session
from wallwatch_backend.accounts.users import repository as users
from wallwatch_backend.accounts.users.models import UserRow
from wallwatch_backend.kit.database import Database, WriteSession
from wallwatch_backend.kit.roles import Role
from wallwatch_backend.settings import Settings

SIGN_IN = "session.sign_in_oidc"
"""Not the action of local sign-ins: what fails at the provider must not use up their limit."""


async def end_sessions_of(database: Database, issuer: str, subject: str) -> None:
    """Somebody who lost every group must not go on with an earlier session."""
    async with database.write() as writing:
        account = await users.by_identity_locked(writing, issuer, subject)
        if account is not None:
            await users.end_sessions(writing, account.id)


async def sign_in(database: Database, settings: Settings, claims: dict[str, Any], address: str | None) -> OpenedSession:
    """Open a session for the person of these verified claims, or raise `OidcRefused`."""
    issuer, subject = str(claims["iss"]), str(claims["sub"])
    if settings.oidc_groups_claim in (claims.get("_claim_names") or {}):  # Entra ID leaves out more than 200 groups
        raise OidcRefused("too_many_groups", "Your account has more groups than the provider sends. Use application roles instead.")
    role = role_of(groups_of(claims, settings.oidc_groups_claim), settings.oidc_roles, settings.oidc_default_role)
    if role is None:
        await end_sessions_of(database, issuer, subject)
        raise OidcRefused("no_role", "Your account is in no group that may use Wallwatch. Ask an administrator for one.")
    try:
        async with database.write() as writing:
            account = await users.by_identity_locked(writing, issuer, subject)
            if account is None:
                account = await _add(writing, settings, claims, role, address)
            if account.disabled:
                raise OidcRefused("disabled", "Your account is disabled in Wallwatch. Ask an administrator to enable it.")
            if account.role != role:
                audit.record(
                    writing,
                    account.username,
                    "user.role_from_provider",
                    account.username,
                    address=address,
                    was=account.role,
                    role=str(role),
                )
                account.role = str(role)
            opened = open_session(writing, settings, account, address)
            audit.record(writing, account.username, SIGN_IN, account.username, address=address, issuer=issuer, role=str(role))
    except IntegrityError as error:  # a concurrent first sign-in
        raise OidcRefused(
            "concurrent_sign_in", "Your account was created by another sign-in just now. Sign in again.", status=409
        ) from error
    return opened


async def _add(writing: WriteSession, settings: Settings, claims: dict[str, Any], role: Role, address: str | None) -> UserRow:
    username = username_of(claims, settings.oidc_username_claim)
    if username is None:
        raise OidcRefused("no_username", "The provider sends no name from which an account can be named.")
    if await users.by_name(writing, username) is not None:
        # Never linked by name: whoever chooses a name at the provider would get that account.
        text = f"Another account of Wallwatch is named {username}. Ask an administrator to create a different name at the provider."
        raise OidcRefused("name_taken", text, status=409)
    row = UserRow(
        username=username, password_hash=None, role=str(role), disabled=False, oidc_issuer=claims["iss"], oidc_subject=claims["sub"]
    )
    await users.add(writing, row)
    audit.record(writing, username, "user.create", username, address=address, role=str(role), issuer=claims["iss"])
    return row
