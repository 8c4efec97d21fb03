"""Gives endpoints the settings of the process."""

from typing import Annotated

from fastapi import Depends, Request

from wallwatch_backend.settings import Settings


async def _settings_of(request: Request) -> Settings:
    settings: Settings = request.app.state.settings
    return settings


TheSettings = Annotated[Settings, Depends(_settings_of)]
