"""`wallwatch plan --flows` as it is called from a shell."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from wallwatch.cli.main import app


def line(source: str, packets: int) -> str:
    match = f"recirc_id(0),in_port(1),eth_type(0x0800),ipv4(src={source},frag=no)"
    return f"{match}, packets:{packets}, bytes:{60 * packets}, used:1.0s, offloaded:yes, dp:tc, actions:2\n"


FLOWS = line("10.0.0.0/255.255.255.0", 4) + line("10.1.0.0/255.255.0.0", 5) + line("10.2.2.0/255.255.254.0", 900_000)


def plan(tmp_path: Path, text: str, *options: str) -> Result:
    (tmp_path / "flows").write_text(text)
    return CliRunner().invoke(app, ["plan", "--flows", str(tmp_path / "flows"), *options])


def test_a_plan_says_what_it_does_gains_costs_and_proves(tmp_path: Path) -> None:
    result = plan(tmp_path, FLOWS, "--profile", "CX-6")
    assert result.exit_code == 0, result.output
    for part in (
        "a proven plan",
        "before    Q_l 2.00",
        "after     Q_l 0.00",
        "proof: equivalent",
        "ovs-appctl dpctl/del-flow",
        "ovs-appctl dpctl/add-flow",
    ):
        assert part in result.stdout


def test_as_json_it_has_the_same(tmp_path: Path) -> None:
    answer = json.loads(plan(tmp_path, FLOWS, "--profile", "CX-6", "--json").stdout)
    assert (answer["offered"], answer["proof"]["equivalent"]) == (True, True)
    assert answer["expected"]["before"]["q_l"] == pytest.approx(2.0, abs=0.01)
    assert answer["expected"]["after"]["bandwidth_gbps"] > answer["expected"]["before"]["bandwidth_gbps"]
    assert [(step["phase"], step["operation"]) for step in answer["steps"]] == [("move", "del-flow"), ("move", "add-flow")] * 2
    assert answer["chains"]["egress"]["after"][0]["mask"] == "eth_type ipv4.src/23 ipv4.frag"
    assert answer["cost"]["operations"] == 4


def test_the_dump_that_it_leads_to_is_proven_by_verify_too(tmp_path: Path) -> None:
    after = tmp_path / "after"
    assert plan(tmp_path, FLOWS, "--profile", "CX-6", "--after", str(after)).exit_code == 0
    result = CliRunner().invoke(app, ["plan", "--verify", str(tmp_path / "flows"), str(after)])
    assert result.exit_code == 0, result.output
    assert after.read_text().splitlines()[0].startswith("recirc_id(0),in_port(1),eth_type(0x0800),ipv4(src=10.2.2.0")


def test_the_traffic_follows_from_an_earlier_dump(tmp_path: Path) -> None:
    """The last flow has most packets, all of them long ago; the first one is the busy one now."""
    (tmp_path / "earlier").write_text(FLOWS.replace("packets:4,", "packets:0,"))
    result = json.loads(plan(tmp_path, FLOWS, "--profile", "CX-6", "--earlier", str(tmp_path / "earlier"), "--json").stdout)
    assert result["steps"] == []
    assert [one["packets_60s"] for one in result["chains"]["egress"]["before"]] == [4, 0, 0]


def test_one_rnic_of_a_hosts_dump_is_planned_alone(tmp_path: Path) -> None:
    """The mask that stands first belongs to another RNIC, so that the one that is asked for has nothing ahead."""
    other = FLOWS.splitlines(keepends=True)[0].replace("in_port(1)", "in_port(7)")
    ingress = "tunnel(tun_id=0x1),in_port(9),eth_type(0x0800), packets:1, bytes:60, used:1.0s, offloaded:yes, dp:tc, actions:{}\n"
    text = other + ingress.format(7) + ingress.format(1).replace("0x1", "0x2") + FLOWS.splitlines(keepends=True)[2]
    answer = json.loads(plan(tmp_path, text, "--profile", "CX-6", "--port", "1", "--json").stdout)
    assert answer["flows"] == 2
    assert answer["expected"]["before"]["q_l"] == 0
    assert plan(tmp_path, text, "--profile", "CX-6", "--port", "p*").exit_code == 2


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        (FLOWS, ("--profile", "CX-9"), "expected one of CX-4, CX-5"),
        (FLOWS, (), "--profile"),
        (FLOWS + "nonsense\n", ("--profile", "CX-6"), "line 4"),
        ("", ("--profile", "CX-6"), "no flows"),
    ],
)
def test_invalid_input_is_reported_with_exit_code_2(tmp_path: Path, text: str, options: tuple[str, ...], expected: str) -> None:
    result = plan(tmp_path, text, *options)
    assert result.exit_code == 2
    assert expected in result.stderr


def test_flows_and_verify_exclude_each_other() -> None:
    assert CliRunner().invoke(app, ["plan"]).exit_code == 2


def test_a_models_name_is_known_in_any_case(tmp_path: Path) -> None:
    assert json.loads(plan(tmp_path, FLOWS, "--profile", "cx-6", "--json").stdout)["profile"] == "CX-6"
