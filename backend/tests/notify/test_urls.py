"""Which addresses a webhook may call, with and without the permission to call private ones."""

import asyncio
import ipaddress
import socket
from datetime import UTC, datetime

import pytest

from wallwatch_backend.notify.deliveries.sender import Sender, client
from wallwatch_backend.notify.webhooks import metadata_services, urls
from wallwatch_backend.notify.webhooks.errors import BadUrl
from wallwatch_backend.notify.webhooks.metadata_services import MetadataService
from wallwatch_local.paths import REPOSITORY

SECURITY = REPOSITORY / "docs/security.md"

PRIVATE = [
    "127.0.0.1", "10.0.0.7", "172.16.0.1", "192.168.1.1", "100.64.0.1", "::1", "fd00::7", "::ffff:10.0.0.7", "64:ff9b::10.0.0.7",
]  # fmt: skip
NEVER = ["169.254.169.254", "fe80::1", "::ffff:169.254.169.254", "64:ff9b::169.254.169.254", "224.0.0.1", "ff02::1", "0.0.0.0", "::",
    "fd00:ec2::254", "168.63.129.16", "192.0.0.192", "100.100.100.200", "::ffff:100.100.100.200", "fd20:ce::254",
    "2002:a9fe:a9fe::1", "2002:0a00:0007::1", "2001:0:a9fe:a9fe::1", "2001:0:102:304:0:0:0:1", "64:ff9b:1::168.63.129.16",
    "169.254.170.2", "169.254.170.23", "169.254.42.42", "169.254.0.23", "fe80::a9fe:a9fe", "fd00:c1::a9fe:a9fe", "fd00:ec2::253",
    "fd00:ec2::123", "fd00:a9fe:a9fe::1", "fd00:100::100:200", "64:ff9b::100.100.100.200",
    "2001:db8::5efe:a9fe:a9fe", "::169.254.169.254", "255.255.255.255", "240.0.0.1", "0.1.2.3",
]  # fmt: skip
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
    with pytest.raises(BadUrl, match=r"is link-local|is not the address of a host|is a metadata service|is an address of 6to4"):
        await urls.check(url_of(address), allow_private)


@pytest.mark.parametrize("service", metadata_services.SERVICES, ids=lambda service: str(service.address))
def test_each_metadata_service_of_a_cloud_is_refused_names_its_document_and_is_written_down(service: MetadataService) -> None:
    assert urls.refusal_reason(service.address, allow_private=True) == "is a metadata service of a cloud"
    assert len(service.source) > 10
    assert not service.address.is_link_local, "those are refused without a list"
    row = next(line for line in SECURITY.read_text().splitlines() if line.startswith(f"| `{service.address}` |"))
    assert service.cloud in row
    assert service.source in row
    assert ("not confirmed" in row) != service.is_confirmed


@pytest.mark.parametrize("address", ["fd00:ec2::22", "fd00:ec2::255", "fd20:ce::253", "100.100.100.201", "fd00:42::43"])
def test_the_neighbour_of_a_metadata_service_is_a_private_address_like_others(address: str) -> None:
    assert urls.refusal_reason(ipaddress.ip_address(address), allow_private=True) is None
    assert "is private" in str(urls.refusal_reason(ipaddress.ip_address(address), allow_private=False))


@pytest.mark.parametrize("allow_private", [True, False])
@pytest.mark.parametrize("address", PUBLIC)
async def test_a_public_address_is_always_called(address: str, allow_private: bool) -> None:
    assert await urls.check(url_of(address), allow_private) == [ipaddress.ip_address(address)]


async def test_a_sender_that_may_not_call_private_addresses_sends_nothing_to_them() -> None:
    async with client(5) as http:
        outcome = await Sender(http, 5, allow_private=False).send("http://127.0.0.1:9/hook", "{}", {}, datetime(2026, 11, 21, tzinfo=UTC))
    assert outcome.status is None
    assert "127.0.0.1, which is private" in str(outcome.error)


async def test_the_delivery_log_does_not_distinguish_open_from_closed_ports_of_private_addresses() -> None:
    async def not_http(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"SSH-2.0-server\r\n")
        writer.close()

    silent = await asyncio.start_server(not_http, "127.0.0.1", 0)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        closed_port = taken.getsockname()[1]
    async with silent, client(5) as http:
        sender, at = Sender(http, 5, allow_private=True), datetime(2026, 11, 21, tzinfo=UTC)
        ports = (silent.sockets[0].getsockname()[1], closed_port)
        outcomes = [await sender.send(f"http://127.0.0.1:{port}/", "{}", {}, at) for port in ports]
    assert outcomes[0] == outcomes[1]
    assert outcomes[0].status is None
