"""The recipients of a webhook of the format `email`, as its `mailto:` URL has them."""

import re
from urllib.parse import unquote

from wallwatch_backend.notify.webhooks.errors import BadUrl

MAX_RECIPIENTS = 50
_SCHEME = "mailto:"
_ADDRESS = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*")


def is_mail(url: str) -> bool:
    """Whether a URL names recipients of e-mail."""
    return url.startswith(_SCHEME)


def recipients(url: str) -> list[str]:
    """Return the addresses of a `mailto:` URL.

    >>> recipients("mailto:ann@example.org,on%2Bcall@example.org")
    ['ann@example.org', 'on+call@example.org']

    Raises
    ------
    BadUrl
        When there is no address, too many, or one that is none.
    """
    addresses = [unquote(part) for part in url.removeprefix(_SCHEME).split(",") if part]
    if not is_mail(url) or not addresses:
        raise BadUrl("Name the recipients: mailto:ann@example.org,bob@example.org.")
    if len(addresses) > MAX_RECIPIENTS:
        raise BadUrl(f"There are {len(addresses)} recipients; at most {MAX_RECIPIENTS} are possible. Use the address of a list.")
    for address in addresses:
        if not _ADDRESS.fullmatch(address):
            raise BadUrl(f"{address!a} is not an e-mail address.")
    return addresses


def domains(url: str) -> str:
    """The domains of the recipients, which everyone may see.

    >>> domains("mailto:ann@example.org,bob@example.org,eve@example.net")
    'mailto:…@example.net,…@example.org'
    """
    names = {address.rpartition("@")[2] for address in url.removeprefix(_SCHEME).split(",")}
    return _SCHEME + ",".join(f"…@{name}" for name in sorted(names))
