"""Hands the process's command signer to endpoints."""

from typing import Annotated

from fastapi import Depends, Request

from wallwatch_backend.remedies.signing import CommandSigner


def _signer_of(request: Request) -> CommandSigner:
    signer: CommandSigner = request.app.state.signer
    return signer


TheSigner = Annotated[CommandSigner, Depends(_signer_of)]
