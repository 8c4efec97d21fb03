"""URLs to which events may be sent.

A webhook makes this server send requests, so its URL is checked when it is entered and again whenever it is used.
"""

import asyncio
import ipaddress
import socket
from urllib.parse import urlsplit

from wallwatch_backend.notify.webhooks.errors import BadUrl
from wallwatch_backend.settings import Settings

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_TRANSLATED = ipaddress.IPv6Network("64:ff9b::/96")  # NAT64: the last 32 bits are an IPv4 address


def public_address(settings: Settings) -> str | None:
    """Base URL of links to this server; None unless WALLWATCH_PUBLIC_URL is set."""
    return str(settings.public_url).rstrip("/") if settings.public_url else None


def host_and_port(url: str) -> tuple[str, int]:
    """Return host and port of an acceptable URL, or raise `BadUrl`.

    >>> host_and_port("https://tickets.example/hook")
    ('tickets.example', 443)
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise BadUrl("The URL is invalid; the format is https://host[:port]/path.") from error
    if parts.scheme not in ("http", "https"):
        raise BadUrl("Only http and https are supported.")
    if not parts.hostname:
        raise BadUrl("The URL has no host; the format is https://host[:port]/path.")
    if parts.username is not None or parts.password is not None:
        raise BadUrl("The URL must not contain a user name or password: signatures authenticate the sender.")
    if not url.isascii() or any(c.isspace() or ord(c) < 33 for c in url):
        raise BadUrl("The URL must be plain ASCII; encode other characters.")
    if port == 0:
        raise BadUrl("Port 0 is unreachable.")
    return parts.hostname, port or (443 if parts.scheme == "https" else 80)


def refusal_reason(address: Address, allow_private: bool) -> str | None:
    """Why an address must not be called, or None.

    Link-local addresses are those of cloud metadata services, never of receivers.

    >>> refusal_reason(ipaddress.ip_address("169.254.169.254"), True)
    'is link-local'
    >>> refusal_reason(ipaddress.ip_address("64:ff9b::169.254.169.254"), True)
    'is link-local'
    >>> refusal_reason(ipaddress.ip_address("10.0.0.7"), True) is None
    True
    """
    if isinstance(address, ipaddress.IPv6Address):
        inside = ipaddress.IPv4Address(address.packed[-4:]) if address in _TRANSLATED else None
        address = address.ipv4_mapped or address.sixtofour or inside or address
    if address.is_link_local:
        return "is link-local"
    if address.is_multicast or address.is_unspecified or (address.is_reserved and not address.is_private):
        return "is not the address of a host"
    if not allow_private and not address.is_global:
        return "is private, and WALLWATCH_WEBHOOK_ALLOW_PRIVATE is false"
    return None


def without_secret(url: str) -> str:
    """The part of a URL that everyone may see and the audit log keeps: the path of a chat's URL is a secret.

    >>> without_secret("https://hooks.chat.example:8443/services/T0/B0/secret?x=1")
    'https://hooks.chat.example:8443/…'
    """
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}/…"


async def check(url: str, allow_private: bool) -> list[Address]:
    """Resolve the host, reject addresses that must not be called and return the others.

    Raises
    ------
    BadUrl
        When the URL or one of the host's addresses is not allowed, or the name does not resolve.
    """
    host, port = host_and_port(url)
    try:
        answers = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise BadUrl(f"The name {host} does not resolve.") from error
    addresses = [ipaddress.ip_address(str(answer[4][0]).split("%")[0]) for answer in answers]
    for address in addresses:
        reason = refusal_reason(address, allow_private)
        if reason is not None:
            raise BadUrl(f"{host} has the address {address}, which {reason}.")
    return addresses
