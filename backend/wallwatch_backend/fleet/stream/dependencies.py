"""Gives endpoints the process's stream hub."""

from typing import Annotated

from fastapi import Depends, Request

from wallwatch_backend.fleet.stream.hub import StreamHub


async def _hub_of(request: Request) -> StreamHub:
    hub: StreamHub = request.app.state.hub
    return hub


TheHub = Annotated[StreamHub, Depends(_hub_of)]
