"""Hands the process's secret cipher to endpoints."""

from typing import Annotated

from fastapi import Depends, Request

from wallwatch_backend.webhooks.cipher import SecretCipher


async def _cipher_of(request: Request) -> SecretCipher:
    cipher: SecretCipher = request.app.state.cipher
    return cipher


TheCipher = Annotated[SecretCipher, Depends(_cipher_of)]
