"""Addresses of clouds where a machine finds its own credentials or its cloud's services. No receiver of events has one of them.

Link-local addresses (169.254.0.0/16, fe80::/10) are refused as such and are not listed: the metadata of AWS, Azure, Google, Oracle,
DigitalOcean, Hetzner, IBM and others at 169.254.169.254, of OpenStack at fe80::a9fe:a9fe too, the credentials of containers of AWS at
169.254.170.2 and 169.254.170.23, Scaleway's at 169.254.42.42, Tencent's at 169.254.0.23.
"""

from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import NamedTuple


class MetadataService(NamedTuple):
    """An address, and the document that names it.

    Attributes
    ----------
    address : IPv4Address or IPv6Address
        Where the service answers.
    cloud, purpose : str
        Whose it is and what it gives.
    source : str
        Title of the document. Its publisher is the cloud's operator unless the title says otherwise.
    is_confirmed : bool
        Whether the address was found in that document. Otherwise it is only said to be there.
    """

    address: IPv4Address | IPv6Address
    cloud: str
    purpose: str
    source: str
    is_confirmed: bool = True


def _at(address: str, cloud: str, purpose: str, source: str, *, is_confirmed: bool = True) -> MetadataService:
    return MetadataService(ip_address(address), cloud, purpose, source, is_confirmed)


SERVICES = (
    _at("fd00:ec2::254", "AWS", "metadata", "IPv6 on AWS: Supporting Amazon VPC services"),
    _at("fd00:ec2::253", "AWS", "name resolution", "IPv6 on AWS: Supporting Amazon VPC services"),
    _at("fd00:ec2::123", "AWS", "time", "Set the time reference on your EC2 instance to use the local Amazon Time Sync Service"),
    _at("fd00:ec2::23", "AWS", "credentials of pods", "Set up the Amazon EKS Pod Identity Agent"),
    _at("168.63.129.16", "Azure", "agents of the platform", "What is IP address 168.63.129.16?"),
    _at("fd20:ce::254", "Google", "metadata", "View and query VM metadata", is_confirmed=False),
    _at("fd00:c1::a9fe:a9fe", "Oracle", "metadata", "OCI Python SDK, instance_principals_security_token_signer.py"),
    _at("192.0.0.192", "Oracle", "metadata (Cloud at Customer, Classic)", "Retrieve Predefined Instance Metadata"),
    _at("100.100.100.200", "Alibaba", "metadata", "Elastic Compute Service: Instance metadata"),
    _at("fd00:100::100:200", "Alibaba", "metadata", "cloud-init (Canonical), tests of the data source AliYun", is_confirmed=False),
    _at("fd00:42::42", "Scaleway", "metadata", "cloud-init documentation (Canonical): Scaleway"),
    _at("fd00:a9fe:a9fe::1", "Akamai (Linode)", "metadata", "Use the Metadata service API"),
)

ADDRESSES = frozenset(service.address for service in SERVICES)
