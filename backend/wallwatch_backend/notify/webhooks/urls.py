"""URLs to which events may be sent.

A webhook makes this server send requests, so its URL is checked when it is entered and again whenever it is used.
"""

import asyncio
import ipaddress
import socket
from urllib.parse import urlsplit

from wallwatch_backend.notify.webhooks import mail_addresses, metadata_services
from wallwatch_backend.notify.webhooks.errors import BadUrl
from wallwatch_backend.settings import Settings

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_TRANSLATED = (ipaddress.IPv6Network("64:ff9b::/96"), ipaddress.IPv6Network("64:ff9b:1::/48"))
"""NAT64 (RFC 6052, RFC 8215): the last 32 bits are an IPv4 address."""
_TUNNELS = (ipaddress.IPv6Network("2002::/16"), ipaddress.IPv6Network("2001::/32"))
"""6to4 and Teredo."""
_THIS_NETWORK = ipaddress.IPv4Network("0.0.0.0/8")


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
    judged = _embedded(address) or [address]
    if any(each.is_link_local for each in judged):
        return "is link-local"
    if any(each in metadata_services.ADDRESSES for each in judged):
        return "is a metadata service of a cloud"
    if any(each.is_multicast or each.is_unspecified or _is_reserved(each) for each in judged):
        return "is not the address of a host"
    if any(address in tunnel for tunnel in _TUNNELS if isinstance(address, ipaddress.IPv6Address)):
        return "is an address of 6to4 or Teredo, which no receiver has"
    if not allow_private and is_private(address):
        return "is private, and WALLWATCH_WEBHOOK_ALLOW_PRIVATE is false"
    return None


def is_private(address: Address) -> bool:
    """Whether an address, or an IPv4 address that it embeds, belongs to an internal network."""
    return any(not each.is_global for each in _embedded(address) or [address])


def _is_reserved(address: Address) -> bool:
    if isinstance(address, ipaddress.IPv4Address):
        return address.is_reserved or address in _THIS_NETWORK  # 240.0.0.0/4 has the broadcast address
    return address.is_reserved and not address.is_loopback


def _embedded(address: Address) -> list[Address]:
    """The IPv4 addresses in an IPv6 address: mapped, 6to4, Teredo, NAT64, ISATAP (RFC 5214), compatible."""
    if not isinstance(address, ipaddress.IPv6Address):
        return []
    found: list[Address] = [each for each in (address.ipv4_mapped, address.sixtofour, *(address.teredo or ())) if each is not None]
    last = ipaddress.IPv4Address(address.packed[-4:])
    is_isatap = address.packed[8:12] in (b"\x00\x00\x5e\xfe", b"\x02\x00\x5e\xfe")
    is_compatible = address.packed[:12] == bytes(12) and int(last) > 1
    is_translated = any(address in network for network in _TRANSLATED)
    return [*found, last] if is_translated or is_isatap or is_compatible else found


def without_secret(url: str) -> str:
    """The part of a URL that everyone may see and the audit log keeps: the path of a chat's URL is a secret.

    >>> without_secret("https://hooks.chat.example:8443/services/T0/B0/secret?x=1")
    'https://hooks.chat.example:8443/…'
    >>> without_secret("mailto:ann@example.org")
    'mailto:…@example.org'
    """
    if mail_addresses.is_mail(url):
        return mail_addresses.domains(url)
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
