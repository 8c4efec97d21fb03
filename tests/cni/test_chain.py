"""wallwatch-cni at the end of real CNI chains, called by a real runtime library."""

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
