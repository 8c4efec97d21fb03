"""ICRCs of frames that others captured or computed, one of them by a real ConnectX-4 Lx."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

from wallwatch.domain.transport.analysis import analyse
from wallwatch.domain.transport.containers import read_frames
from wallwatch.domain.transport.frames import ReadReport
from wallwatch.domain.transport.results import Analysis
from wallwatch_testing.roce_frames import Packet, Timed, pcap


@pytest.fixture
def vectors(external_data: Path) -> list[dict[str, Any]]:
    loaded: list[dict[str, Any]] = json.loads((external_data / "transport" / "roce-vectors.json").read_text())
    return loaded


def analysed(frame: bytes) -> Analysis:
    report = ReadReport()
    return analyse(read_frames(io.BytesIO(pcap([Timed(1, frame)])), report), report)


def test_the_icrc_of_a_real_cnp_holds_and_any_changed_byte_breaks_it(vectors: list[dict[str, Any]]) -> None:
    frame = bytes.fromhex(vectors[0]["frame_hex"])
    result = analysed(frame)
    assert (result.roce, result.icrc) == (1, "ok")
    assert [point.cnps for point in result.notification_points] == [1]
    changed = bytearray(frame)
    changed[-8] ^= 1
    assert analysed(bytes(changed)).bad_icrc_frames == [1]


def test_a_computed_uc_send_agrees_with_generator_and_analyser(vectors: list[dict[str, Any]]) -> None:
    fields = vectors[1]["fields"]
    payload = bytes.fromhex(fields["payload_hex"])[: -fields["padcount"] or None]
    packet = Packet(
        fields["src"],
        fields["dst"],
        fields["dqpn"],
        fields["psn"],
        opcode=0x24,
        payload=payload,
        tos=fields["tos"],
        ttl=fields["ttl"],
        ip_id=fields["ip_id"],
        udp_source=fields["sport"],
        migreq=fields["migreq"],
    )
    assert packet.ip()[10:12].hex() == vectors[1]["ip_checksum"]
    assert packet.ip()[-4:].hex() == vectors[1]["icrc"]
    assert analysed(packet.frame()).icrc == "ok"
