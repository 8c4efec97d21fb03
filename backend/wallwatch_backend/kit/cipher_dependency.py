"""Gives endpoints the process's secret cipher."""

from typing import Annotated

from fastapi import Depends, Request

from wallwatch_backend.kit.cipher import SecretCipher


async def _cipher_of(request: Request) -> SecretCipher:
    cipher: SecretCipher = request.app.state.cipher
    return cipher


TheCipher = Annotated[SecretCipher, Depends(_cipher_of)]
