"""What is remembered of RNICs that send to each other."""

from wallwatch.domain.symptoms.peers import Peers


def test_senders_that_are_named_no_more_are_forgotten() -> None:
    peers, one, other = Peers(), ("host01", "0000:3b:00.0"), ("host02", "0000:3b:00.0")
    for number in range(1_000):
        peers.hear_offload(one, {"tunnel_sources": f"10.0.{number % 250}.{number // 250}=5 10.1.0.1=2"})
    peers.hear_offload(other, {"tunnel_sources": "10.1.0.1=9"})
    assert peers._receivers == {"10.0.249.3": {one}, "10.1.0.1": {one, other}}
    peers.hear_offload(one, {"tunnel_sources": ""})
    assert peers._receivers == {"10.1.0.1": {other}}


FIRST, SECOND, RECEIVER = ("host01", "0000:3b:00.0"), ("host02", "0000:3b:00.0"), ("host03", "0000:3b:00.0")


def owner_as_seen(peers: Peers, address: str) -> str | None:
    """Whom the receiver of packets from an address takes for their sender, by the model that it has."""
    peers.hear_offload(RECEIVER, {"tunnel_sources": f"{address}=5"})
    found = peers.models(RECEIVER)
    return None if found is None else found[0]


def two_rnics() -> Peers:
    peers = Peers()
    for key, pci_id in ((FIRST, "15b3:101d"), (SECOND, "15b3:1021")):
        peers.hear_rnic(key, 1_000, {"pci_id": pci_id}, {})
    return peers


def test_an_address_that_an_rnic_has_given_up_has_no_owner() -> None:
    peers = two_rnics()
    peers.hear_offload(FIRST, {"tunnel_addresses": "10.0.0.1 10.0.0.2"})
    assert owner_as_seen(peers, "10.0.0.1") == "CX-6 Dx"
    peers.hear_offload(FIRST, {"tunnel_addresses": "10.0.0.2"})
    assert owner_as_seen(peers, "10.0.0.1") is None
    assert owner_as_seen(peers, "10.0.0.2") == "CX-6 Dx"


def test_a_sample_without_addresses_says_nothing_of_them() -> None:
    peers = two_rnics()
    peers.hear_offload(FIRST, {"tunnel_addresses": "10.0.0.1"})
    peers.hear_offload(FIRST, {})
    assert owner_as_seen(peers, "10.0.0.1") == "CX-6 Dx"


def test_an_address_that_moves_belongs_to_its_new_owner_whoever_reports_first() -> None:
    for order in ((FIRST, SECOND), (SECOND, FIRST)):
        peers = two_rnics()
        peers.hear_offload(FIRST, {"tunnel_addresses": "10.0.0.1"})
        for key in order:
            peers.hear_offload(key, {"tunnel_addresses": "10.0.0.9" if key == FIRST else "10.0.0.1"})
        assert owner_as_seen(peers, "10.0.0.1") == "CX-7"
        assert owner_as_seen(peers, "10.0.0.9") == "CX-6 Dx"


def test_an_address_that_moves_back_belongs_to_the_rnic_that_kept_it() -> None:
    peers = two_rnics()
    for key, addresses in ((FIRST, "10.0.0.1"), (SECOND, "10.0.0.1 10.0.0.8"), (SECOND, "10.0.0.8")):
        peers.hear_offload(key, {"tunnel_addresses": addresses})
    assert owner_as_seen(peers, "10.0.0.1") == "CX-6 Dx"
    assert owner_as_seen(peers, "10.0.0.8") == "CX-7"


def test_addresses_that_change_each_time_fill_no_memory() -> None:
    peers = two_rnics()
    peers.hear_offload(SECOND, {"tunnel_addresses": "10.9.0.1"})
    for number in range(1_000):
        some = [f"10.{number % 200}.{number // 200}.{last}" for last in range(20)]
        peers.hear_offload(FIRST, {"tunnel_addresses": " ".join(["10.9.0.1", *some])})
    assert len(peers._owner) == 8
    peers.hear_offload(FIRST, {"tunnel_addresses": ""})
    assert peers._owner == {"10.9.0.1": SECOND}
    assert peers._also == {}
