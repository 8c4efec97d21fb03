"""`wallwatch capture analyse` on the command line: JSON, text, exit codes, refusals."""

import json
from dataclasses import replace
from pathlib import Path

from typer.testing import CliRunner, Result

from wallwatch.cli.main import app
from wallwatch_testing.roce_frames import Conversation, Packet, Timed, pcap, pcapng

NAMES = {
    *("frames", "roce", "cut", "icrc", "bad_icrc_frames", "rc_qps", "vxlan_qps", "conforms", "retransmissions", "violations"),
    *("notification_points", "timeouts", "migreq_zero_qpns", "reordered", "reorder_distance"),
}


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["capture", "analyse", *arguments])


def lossy() -> Conversation:
    talk = Conversation()
    for number in (0, 1, 3):
        talk.data(number)
    talk.nack(2)
    for number in (2, 3):
        talk.data(number, after_ns=5_000_000 if number == 2 else 100)
    return talk


def test_json_of_one_file_has_the_documented_names(tmp_path: Path) -> None:
    file = tmp_path / "one.pcapng"
    file.write_bytes(pcapng(lossy().frames))
    result = run(str(file), "--json")
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    assert set(found) >= NAMES
    assert found["retransmissions"] == [
        {
            "psn": 2, "qpn": 0x11, "kind": "nack", "iteration": 2, "frame_retransmission": 5, "frame_nack": 4, "frame_trigger": 3,
            "nack_generation_ns": 2000, "nack_reaction_ns": 5_000_000,
        }
    ]  # fmt: skip


def test_several_files_make_a_list_in_their_order(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("b.pcap", "a.pcap")]
    for count, file in enumerate(files, 1):
        file.write_bytes(pcap([Timed(n, Packet(psn=n).frame()) for n in range(count)]))
    found = json.loads(run(*map(str, files), "--json").stdout)
    assert [(row["file"], row["frames"]) for row in found] == [(str(files[0]), 1), (str(files[1]), 2)]


def test_text_shows_the_tables_that_have_rows(tmp_path: Path) -> None:
    file = tmp_path / "one.pcap"
    file.write_bytes(pcap(lossy().frames))
    text = run(str(file)).stdout
    assert "conforms to go-back-N" in text
    assert "5 ms" in text
    assert "Retransmissions" in text
    assert "Violations" not in text


def test_a_violation_is_exit_code_1(tmp_path: Path) -> None:
    talk = lossy()
    talk.answer(3)
    talk.answer(1)
    file = tmp_path / "one.pcap"
    file.write_bytes(pcap(talk.frames))
    result = run(str(file))
    assert result.exit_code == 1
    assert "ack_goes_back" in result.stdout


def test_a_file_that_is_no_capture_is_refused_and_the_others_are_analysed(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.pcap", tmp_path / "bad.pcap"
    good.write_bytes(pcap([Timed(1, Packet().frame())]))
    bad.write_text("hello")
    result = run(str(bad), str(good), str(tmp_path / "absent"), str(tmp_path), "--json")
    assert result.exit_code == 2
    assert [row["file"] for row in json.loads(result.stdout)] == [str(good)]
    assert "expected pcap or pcapng" in result.stderr
    assert "cannot be read: No such file" in result.stderr
    assert "Traceback" not in result.stderr


def test_options_that_mean_nothing_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "one.pcap"
    file.write_bytes(pcap([Timed(1, replace(Packet(), udp_destination=9741).frame())]))
    assert "1 to 65535" in run(str(file), "--roce-port", "0").stderr
    assert "lumina" in run(str(file), "--events", "other").stderr
    assert json.loads(run(str(file), "--roce-port", "9741", "--json").stdout)["roce"] == 1
