"""Flow dumps for benchmarks and tests: hosts whose tenants bring subnets of many lengths along, egress and ingress."""

import random
from ipaddress import IPv4Address

WILD = "skb_mark(0/0),ct_state(0/0),ct_zone(0/0),ct_mark(0/0),ct_label(0/0),recirc_id(0),dp_hash(0/0)"


def dump(flows: int, masks: int, seed: int = 1, addresses_exact: bool = True) -> str:
    """The text of `dpctl/dump-flows -m --names` of a host with the given numbers of flows and masks (at most 420 masks per direction).

    Some 40 containers talk to some 1,000; the first mask matches both addresses in full, the others are combinations of prefixes, and
    packets are uneven among flows. Without `addresses_exact` Ethernet addresses and the source port are wildcards, so that rules differ by
    their prefixes alone and overlap a lot (always with the same actions): the hardest case for a proof.
    """
    rng = random.Random(seed)
    lengths = [(32, 32), *((32 - at % 20, 31 - at // 20 % 21) for at in range(masks - 1))]
    own = [0x0A000000 | rng.getrandbits(24) for _ in range(40)]
    others = [0x0A000000 | rng.getrandbits(24) for _ in range(1000)]
    seen: set[str] = set()
    lines: list[str] = []
    while len(lines) < flows:
        at = min(int(rng.paretovariate(0.5)) - 1, masks - 1)
        source, destination = rng.choice(own), rng.choice(others)
        if not addresses_exact:
            source, destination = 0x0A000000 | rng.getrandbits(24), 0x0A000000 | rng.getrandbits(24)
        ingress = len(lines) % 3 == 2
        text = _line(rng, lengths[at], *((destination, source) if ingress else (source, destination)), ingress, addresses_exact)
        key = text.split(", packets:")[0]
        if key in seen:
            continue
        seen.add(key)
        ufid = f"{rng.getrandbits(128):032x}"
        ufid = f"{ufid[:8]}-{ufid[8:12]}-{ufid[12:16]}-{ufid[16:20]}-{ufid[20:]}"
        lines.append(f"ufid:{ufid}, {text}")
    return "\n".join(lines) + "\n"


def _line(rng: random.Random, lengths: tuple[int, int], source: int, destination: int, ingress: bool, exact: bool) -> str:
    peer = destination >> 14 & 0x3F  # all addresses of a subnet are behind one peer, whatever the length of the prefix
    if exact:
        ends = f"eth(src={_mac(0, source)},dst={_mac(1, destination)})"
        ports = f"udp(src={rng.randrange(49152, 65536)},dst=4791)"
    else:
        peer = 1
        ends = "eth(src=00:00:00:00:00:00/00:00:00:00:00:00,dst=00:00:00:00:00:00/00:00:00:00:00:00)"
        ports = "udp(src=0/0,dst=4791)"
    packets = int(rng.paretovariate(0.8) * 100)
    addresses = f"src={_prefix(source, lengths[0])},dst={_prefix(destination, lengths[1])}"
    inner = (
        f"packet_type(ns=0/0,id=0/0),{ends},eth_type(0x0800),ipv4({addresses},proto=17,tos=0/0,ttl=0/0,frag=no),{ports}, "
        f"packets:{packets}, bytes:{packets * 1024}, used:{rng.random() * 20:.3f}s, offloaded:yes, dp:tc"
    )
    if ingress:
        tunnel = f"tunnel(tun_id=0x2a,src=192.0.2.{peer},dst=192.0.2.100,ttl=0/0,tp_dst=4789,flags(+key))"
        return f"skb_priority(0/0),{tunnel},{WILD},in_port(vxlan_sys_4789),{inner}, actions:pf0vf{source % 8 if exact else 0}"
    action = f"set(tunnel(tun_id=0x2a,src=192.0.2.100,dst=192.0.2.{peer},ttl=64,tp_dst=4789,flags(key))),vxlan_sys_4789"
    return f"skb_priority(0/0),{WILD},in_port(pf0vf{source % 8}),{inner}, actions:{action}"


def _mac(side: int, address: int) -> str:
    return f"02:{side:02x}:00:{address >> 16 & 255:02x}:{address >> 8 & 255:02x}:{address & 255:02x}"


def _prefix(address: int, length: int) -> str:
    mask = (1 << 32) - (1 << 32 - length)
    text = str(IPv4Address(address & mask))
    return text if length == 32 else f"{text}/{IPv4Address(mask)}"
