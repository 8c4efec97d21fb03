"""wallwatch-cni at the end of real CNI chains, called by a real runtime library."""

from datetime import datetime, timedelta

import pytest

from .conftest import PHYSICAL, VIRTUAL, Chain

pytestmark = pytest.mark.integration

TRY_AGAIN_LATER = 11


def test_a_pod_gets_its_network_is_checked_and_leaves_twice(chain: Chain) -> None:
    added = chain.call("add")
    assert added.code == 0, added.complaint
    [address] = [ip["address"].split("/")[0] for ip in added.result["ips"]]
    assert chain.addresses() == [address]
    assert added.plugin_answer == added.result, "the result of the first plugin must pass unchanged"

    checked = chain.call("check")
    assert checked.code == 0, checked.complaint

    for _ in range(2):
        deleted = chain.call("del")
        assert deleted.code == 0, deleted.complaint
    assert chain.addresses() == []
    assert chain.leases() == []


def test_add_is_refused_with_code_11_while_the_rnic_is_cordoned_and_works_again_after(chain: Chain) -> None:
    chain.cordon("link flaps under load")
    refused = chain.call("add")
    assert refused.code != 0
    assert refused.plugin_answer["code"] == TRY_AGAIN_LATER
    assert PHYSICAL in refused.plugin_answer["msg"]
    assert "link flaps under load" in refused.complaint + str(refused.result), "the runtime does not show why"

    # A runtime calls DEL after a failed ADD; nothing of the first plugin may stay behind.
    assert chain.call("del").code == 0
    assert chain.addresses() == []
    assert chain.leases() == []

    chain.release()
    added = chain.call("add")
    assert added.code == 0, added.complaint


def test_a_pod_that_is_there_already_passes_check_and_can_leave_a_cordoned_rnic(chain: Chain) -> None:
    assert chain.call("add").code == 0
    chain.cordon("firmware upgrade")
    checked = chain.call("check")
    assert checked.code == 0, checked.complaint
    assert chain.call("del").code == 0


@pytest.mark.parametrize("device", [None, "0000:af:00.3"], ids=["without a VF", "with a VF of another RNIC"])
def test_a_cordon_does_not_touch_pods(chain: Chain, device: str | None) -> None:
    if device:
        devices = chain.folder / "sys" / "bus" / "pci" / "devices"
        for name in ("0000:af:00.0", device):
            (devices / name).mkdir()
        (devices / device / "physfn").symlink_to("../0000:af:00.0")
    chain.cordon("link flaps")
    added = chain.call("add", device)
    assert added.code == 0, added.complaint


def test_a_cordon_file_of_garbage_does_not_stop_a_pod(chain: Chain) -> None:
    chain.cordon_file.write_bytes(b"\x00{")
    added = chain.call("add")
    assert added.code == 0, added.complaint
    assert f"cordon of {PHYSICAL} cannot be read" in added.complaint
    assert VIRTUAL not in added.plugin_answer.get("msg", "")


def test_a_paced_rnic_refuses_with_code_11_when_its_burst_is_over_and_nothing_of_the_chain_stays(chain: Chain) -> None:
    chain.pace("add", {"per_minute": 1, "burst": 1})
    assert chain.call("add").code == 0
    assert chain.call("del").code == 0
    refused = chain.call("add")
    assert refused.plugin_answer["code"] == TRY_AGAIN_LATER
    assert "slowly" in refused.plugin_answer["msg"]
    assert chain.call("del").code == 0
    assert chain.leases() == []
    assert [(event["command"], event["result"]) for event in chain.events()] == [
        ("ADD", "ok"),
        ("DEL", "ok"),
        ("ADD", "refused"),
        ("DEL", "ok"),
    ]


def test_releases_of_a_paced_rnic_wait_for_their_turn_before_the_rest_of_the_chain(chain: Chain) -> None:
    chain.pace("del", {"interval_ms": 1000})
    assert chain.call("add").code == 0
    for _ in range(2):
        assert chain.call("del").code == 0
    first, second = [event for event in chain.events() if event["command"] == "DEL"]
    ended = datetime.fromisoformat(second["at"]) + timedelta(microseconds=second["duration_ns"] / 1000)
    assert ended - datetime.fromisoformat(first["at"]) >= timedelta(milliseconds=999)
