"""ETag and If-Match: a write names the version that was read, and is refused when there is a newer one."""

from typing import Annotated

from fastapi import Header

from wallwatch_backend.kit.problems import WallwatchError


class VersionMismatch(WallwatchError):
    status, code, title = 412, "version_mismatch", "It has changed since you read it"


IfMatch = Annotated[
    str | None,
    Header(
        alias="If-Match",
        pattern=r'^(\*|"[0-9]{1,18}")$',
        description='The ETag that was read, such as `"3"`; refused with 412 when there is a newer version. Default: write in any case',
    ),
]


def etag(version: int) -> str:
    """Return the ETag of a version.

    >>> etag(3)
    '"3"'
    """
    return f'"{version}"'


def check(given: str | None, version: int) -> None:
    """Raise `VersionMismatch` when the caller read another version."""
    if given is not None and given not in ("*", etag(version)):
        raise VersionMismatch(f"You read version {given}; it is now {etag(version)}. Read it again, then repeat the change.")
