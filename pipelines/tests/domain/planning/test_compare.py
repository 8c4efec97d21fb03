"""Two dumps against each other, as `wallwatch plan --verify` is called."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from wallwatch.cli.main import app

TAIL = ", packets:1, bytes:60, used:1.0s, offloaded:yes, dp:tc, actions:"
NARROW = f"in_port(1),eth_type(0x0800),ipv4(src=10.1.0.0/255.255.0.0,frag=no){TAIL}2"
WIDE = f"in_port(1),eth_type(0x0800),ipv4(src=10.0.0.0/255.0.0.0,frag=no){TAIL}3"
HOST = NARROW.replace("10.1.0.0/255.255.0.0", "10.1.2.3")
WIDENED = NARROW.replace("10.1.0.0/255.255.0.0", "10.0.0.0/255.0.0.0")
TUNNEL = "tunnel(tun_id={},src=192.0.2.9,dst=192.0.2.1,flags(-df+key)),in_port(vxlan_sys_4789),eth_type(0x0800)" + TAIL + "{}"
BLUE = TUNNEL.format("0x1", 2)
STATE = "ct_state({}+trk),recirc_id(0x3),in_port(1),eth_type(0x0800)" + TAIL + "{}"

ESTABLISHED = "-new+est-rel-rpl-inv+trk-snat-dnat"


def verify(tmp_path: Path, before: str, after: str, *options: str) -> Result:
    (tmp_path / "before").write_text(before)
    (tmp_path / "after").write_text(after)
    return CliRunner().invoke(app, ["plan", "--verify", str(tmp_path / "before"), str(tmp_path / "after"), *options])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(f"{NARROW}\n{STATE.format('+est', 2)}", f"{STATE.format('+est', 2)}\n{NARROW}", id="another order without overlaps"),
        pytest.param(
            f"{TUNNEL.format('0x1', 2)}\n{TUNNEL.format('0x2', 3)}", f"{TUNNEL.format('0x2', 3)}\n{TUNNEL.format('1', 2)}", id="tunnels"
        ),
        pytest.param(STATE.format("+est-new", 2), STATE.format("-new+est", 2), id="flags in another order"),
        pytest.param(f"{NARROW}\n{WIDE}", f"{NARROW}\n{HOST}\n{WIDE}", id="an entry of a flow's own"),
        pytest.param(WIDE, "\n".join(WIDE.replace("10.0.0.0/255.0.0.0", f"10.{net}.0.0/9") for net in (0, 128)), id="two halves"),
        pytest.param(NARROW, f"flow-dump from the main thread:\n{NARROW.replace('packets:1', 'packets:99')}\n", id="counters moved"),
        pytest.param(f"novel(7),{NARROW}", f"novel(7),{NARROW}", id="a field that is not understood, the same in both"),
    ],
)
def test_equivalent_dumps_end_with_0(tmp_path: Path, before: str, after: str) -> None:
    result = verify(tmp_path, before, after)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("equivalent:")


@pytest.mark.parametrize(
    ("before", "after", "packet", "actions"),
    [
        pytest.param(NARROW, NARROW[:-1] + "drop", {"in_port": "1", "ipv4.src": "10.1.0.0"}, ("2", "drop"), id="an action"),
        pytest.param(NARROW, WIDENED, {"in_port": "1"}, ("none", "2"), id="a wider prefix"),
        pytest.param(f"{NARROW}\n{WIDE}", f"{WIDE}\n{NARROW}", {"ipv4.src": "10.1.0.0"}, ("2", "3"), id="an overlap in another order"),
        pytest.param(BLUE, TUNNEL.format("0x2", 2), {"tunnel.tun_id": "0x1"}, ("2", "none"), id="a tunnel's id"),
        pytest.param(
            STATE.format("+est", 2),
            STATE.format("+new", 2),
            {"ct_state": "-new+est-rel-rpl-inv+trk-snat-dnat"},
            ("2", "none"),
            id="a state",
        ),
        pytest.param(f"{NARROW}\n{STATE.format('+est', 2)}", NARROW, {"recirc_id": "0x3"}, ("2", "none"), id="a flow less"),
        pytest.param(NARROW, f"{NARROW}\n{STATE.format('+est', 2)}", {"recirc_id": "0x3"}, ("none", "2"), id="a flow more"),
        pytest.param(NARROW, "", {"ipv4.src": "10.1.0.0"}, ("2", "none"), id="no flow left"),
        pytest.param(f"novel(7),{NARROW}", f"novel(8),{NARROW}", {"novel(7)": "met"}, ("2", "none"), id="a field that is not understood"),
    ],
)
def test_a_difference_ends_with_1_and_a_packet_that_shows_it(
    tmp_path: Path, before: str, after: str, packet: dict[str, str], actions: tuple[str, str]
) -> None:
    result = verify(tmp_path, before, after, "--json")
    assert result.exit_code == 1, result.output
    answer = json.loads(result.stdout)
    assert answer["equivalent"] is False
    found = answer["counterexample"]
    assert packet.items() <= found["packet"].items()
    assert (found["before"]["actions"].split(":")[0], found["after"]["actions"].split(":")[0]) == actions
    assert "not equivalent" in verify(tmp_path, before, after).stdout


def test_where_only_the_order_of_the_dump_decides_nothing_is_proven(tmp_path: Path) -> None:
    """The masks are first seen in the same order, yet a flow that overlaps has passed another: which of them wins the dump does not say."""
    other = NARROW.replace("in_port(1)", "in_port(2)")
    first, second = f"{other}\n{WIDE}\n{NARROW}", f"{other}\n{NARROW}\n{WIDE}"
    result = verify(tmp_path, first, second, "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["counterexample"]["order"] != "masks in the order of their first appearance"


@pytest.mark.parametrize(("one", "other"), [("eth0_1", "eth0_2"), ("1", "2")])
def test_dumps_of_different_ports_of_one_kind_are_compared(tmp_path: Path, one: str, other: str) -> None:
    first, second = (NARROW.replace("in_port(1)", f"in_port({port})") for port in (one, other))
    result = verify(tmp_path, first, second, "--json")
    assert result.exit_code == 1, result.output
    assert json.loads(result.stdout)["counterexample"]["packet"]["in_port"] in (one, other)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (NARROW, f"{NARROW}\nnonsense", "line 2"),
        (f"{NARROW}\nin_port(1),ipv4(src=10.0.0.999){TAIL}2", NARROW, "10.0.0.999"),
        ("", "\n", "both dumps are empty"),
        (NARROW, NARROW.replace("in_port(1)", "in_port(eth0_1)"), "--names"),
    ],
)
def test_a_dump_that_cannot_be_used_ends_with_2(tmp_path: Path, before: str, after: str, expected: str) -> None:
    result = verify(tmp_path, before, after)
    assert result.exit_code == 2
    assert expected in result.stderr


def test_a_file_that_is_not_there_ends_with_2(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["plan", "--verify", str(tmp_path / "nowhere"), str(tmp_path / "nowhere")])
    assert result.exit_code == 2
    assert "cannot be read" in result.stderr
