"""Hands the process's command signer and its intake of orders to endpoints."""

from typing import Annotated

from fastapi import Depends, Request

from wallwatch_backend.remedies.intake import Intake
from wallwatch_backend.remedies.signing import CommandSigner


async def _signer_of(request: Request) -> CommandSigner:
    signer: CommandSigner = request.app.state.signer
    return signer


async def _intake_of(request: Request) -> Intake:
    intake: Intake = request.app.state.intake
    return intake


TheSigner = Annotated[CommandSigner, Depends(_signer_of)]
TheIntake = Annotated[Intake, Depends(_intake_of)]
