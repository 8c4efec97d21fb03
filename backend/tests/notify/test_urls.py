"""Which addresses a webhook may call, with and without the permission to call private ones."""

import ipaddress
from datetime import UTC, datetime

import pytest

from wallwatch_backend.notify.deliveries.sender import Sender, client
from wallwatch_backend.notify.webhooks import urls
from wallwatch_backend.notify.webhooks.errors import BadUrl

PRIVATE = [
    "127.0.0.1", "10.0.0.7", "172.16.0.1", "192.168.1.1", "100.64.0.1", "::1", "fd00::7", "::ffff:10.0.0.7", "64:ff9b::10.0.0.7",
    "2002:0a00:0007::1",
]  # fmt: skip
NEVER = ["169.254.169.254", "fe80::1", "::ffff:169.254.169.254", "64:ff9b::169.254.169.254", "224.0.0.1", "ff02::1", "0.0.0.0", "::"]
PUBLIC = ["1.1.1.1", "8.8.8.8", "2606:4700:4700::1111", "64:ff9b::1.1.1.1"]


def url_of(address: str) -> str:
    return f"http://[{address}]:8080/hook" if ":" in address else f"http://{address}:8080/hook"


@pytest.mark.parametrize("address", PRIVATE)
async def test_a_private_address_is_called_only_where_that_is_allowed(address: str) -> None:
    assert urls.refusal_reason(ipaddress.ip_address(address), allow_private=True) is None
    assert "WALLWATCH_WEBHOOK_ALLOW_PRIVATE" in str(urls.refusal_reason(ipaddress.ip_address(address), allow_private=False))
    assert await urls.check(url_of(address), allow_private=True) == [ipaddress.ip_address(address)]
    with pytest.raises(BadUrl, match="is private, and WALLWATCH_WEBHOOK_ALLOW_PRIVATE is false"):
        await urls.check(url_of(address), allow_private=False)


@pytest.mark.parametrize("allow_private", [True, False])
@pytest.mark.parametrize("address", NEVER)
async def test_what_is_no_receiver_is_never_called(address: str, allow_private: bool) -> None:
    with pytest.raises(BadUrl, match=r"is link-local|is not the address of a host"):
        await urls.check(url_of(address), allow_private)


@pytest.mark.parametrize("allow_private", [True, False])
@pytest.mark.parametrize("address", PUBLIC)
async def test_a_public_address_is_always_called(address: str, allow_private: bool) -> None:
    assert await urls.check(url_of(address), allow_private) == [ipaddress.ip_address(address)]


async def test_a_sender_that_may_not_call_private_addresses_sends_nothing_to_them() -> None:
    async with client(5) as http:
        outcome = await Sender(http, 5, allow_private=False).send("http://127.0.0.1:9/hook", "{}", {}, datetime(2026, 11, 21, tzinfo=UTC))
    assert outcome.status is None
    assert "127.0.0.1, which is private" in str(outcome.error)
