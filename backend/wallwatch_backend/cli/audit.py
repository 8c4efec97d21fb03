"""`wallwatch audit`: the audit log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from wallwatch_backend.cli.running import fail, group, run

if TYPE_CHECKING:
    from wallwatch_backend.accounts.audit.verify import Broken, Verified
    from wallwatch_backend.kit.database import Database

app = group("The audit log.")


@app.command("verify")
def verify_audit(
    anchor: Annotated[str | None, typer.Option(help="SEQ:HASH that an earlier run printed; detects a log whose end was cut off.")] = None,
) -> None:
    """Recompute the audit log's chain of hashes. If something was changed or removed, print the first broken row and exit with 1."""
    from wallwatch_backend.accounts.audit import verify

    try:
        known = verify.Anchor.parse(anchor) if anchor is not None else None
    except ValueError as error:
        raise fail(f"{error}.") from error

    async def work(database: Database) -> Verified | Broken:
        async with database.read() as session:
            return await verify.verify(session, known)

    result = run(work)
    if isinstance(result, verify.Broken):
        raise fail(f"BROKEN after {result.held} good links: {result.why}")
    typer.echo(f"The audit log is intact: {result.seq} links. Keep this anchor outside the database:\n{result.seq}:{result.hash.hex()}")
