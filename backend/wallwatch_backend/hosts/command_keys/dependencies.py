"""Hands the process's command signer to endpoints."""

from typing import Annotated

from fastapi import Depends, Request

from wallwatch_backend.hosts.command_keys.signing import CommandSigner


async def _signer_of(request: Request) -> CommandSigner:
    signer: CommandSigner = request.app.state.signer
    return signer


TheSigner = Annotated[CommandSigner, Depends(_signer_of)]
