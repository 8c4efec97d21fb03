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
