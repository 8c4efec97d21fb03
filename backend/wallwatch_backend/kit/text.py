"""Text from outside: types for what goes to PostgreSQL, which cannot store the NUL character, and sentences with such text."""

from typing import Annotated

from pydantic import AfterValidator, StringConstraints


def _without_nul(value: str) -> str:
    if "\0" in value:
        raise ValueError("the NUL character is not allowed")
    value.encode()  # A lone surrogate cannot be stored either; UnicodeEncodeError is a ValueError.
    return value


def sentence(text: str) -> str:
    """End a text with one full stop; it may end with words of a user.

    >>> sentence("Ordered cordon-rnic reason = It drops packets."), sentence("Ordered remove-orphaned-filters ")
    ('Ordered cordon-rnic reason = It drops packets.', 'Ordered remove-orphaned-filters.')
    """
    text = text.rstrip()
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


StorableText = AfterValidator(_without_nul)
"""Put it last: constraints that come after a validator function are checked before white space is stripped."""

SafeText = Annotated[str, StorableText]
Line = Annotated[str, StringConstraints(min_length=1, max_length=200, strip_whitespace=True), StorableText]
Paragraph = Annotated[str, StringConstraints(min_length=1, max_length=4000, strip_whitespace=True), StorableText]
HostName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?$", max_length=253)]
PciAddress = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{4,8}:[0-9a-f]{2}:[0-1][0-9a-f]\.[0-7]$", max_length=16)]
"""As the kernel writes it, also in a domain above 0xffff. Parameters of remedies allow four digits of domain only, as agents do:
`FORMATS` of `wallwatch.domain.catalogue.remedy_models`."""
SymptomName = Annotated[str, StringConstraints(pattern=r"^([SB][1-8]|unexplained|silent|isolation)$")]
"""As findings name it."""
