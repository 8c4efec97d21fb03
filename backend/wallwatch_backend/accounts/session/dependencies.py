"""Gives endpoints the process's watch over open answers."""

from typing import Annotated

from fastapi import Depends, Request

from wallwatch_backend.accounts.session.watch import AccessWatch


async def _watch_of(request: Request) -> AccessWatch:
    watch: AccessWatch = request.app.state.access_watch
    return watch


TheAccessWatch = Annotated[AccessWatch, Depends(_watch_of)]
