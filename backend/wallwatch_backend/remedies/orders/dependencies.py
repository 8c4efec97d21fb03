"""Hands the process's intake of orders to endpoints."""

from typing import Annotated

from fastapi import Depends, Request

from wallwatch_backend.remedies.orders.intake import Intake


async def _intake_of(request: Request) -> Intake:
    intake: Intake = request.app.state.intake
    return intake


TheIntake = Annotated[Intake, Depends(_intake_of)]
