"""Changes to a host: rate, undo, what a killed lab left; the rules and VF binds themselves."""

import json
from pathlib import Path

import pytest

from wallwatch.lab.adaptors.perftest import flower, vfs
from wallwatch.lab.adaptors.perftest.changes import Change, Changes
from wallwatch.lab.adaptors.perftest.kernel_log import KernelLog
from wallwatch.lab.adaptors.perftest.operations import Command, Write
from wallwatch.lab.adaptors.serve import DeviceFailed
from wallwatch_testing.perftest_host import PCI, Recorder


def change(name: str) -> Change:
    return Change(name, Command(("do", name)), Write(f"/undo/{name}", name))


def nothing() -> None:
    """A check that allows everything."""


def opened(path: Path, executor: Recorder, per_second: float = 1e6) -> Changes:
    changes = Changes(executor, path, per_second, clock=lambda: 0.0)
    assert changes.open() == []
    return changes


def test_changes_are_undone_last_first(tmp_path: Path) -> None:
    executor = Recorder()
    changes = opened(tmp_path / "undo", executor)
    for name in ("a", "b", "a", "c"):
        changes.make(change(name), nothing)
    changes.undo(["b"])
    assert changes.close() == []
    assert executor.done == ["do a", "do b", "do c", "echo b > /undo/b", "echo c > /undo/c", "echo a > /undo/a"]
    assert (tmp_path / "undo").read_text() == ""


def test_changes_and_undos_keep_their_rate(tmp_path: Path) -> None:
    executor = Recorder()
    changes = opened(tmp_path / "undo", executor, per_second=4)
    for name in "abc":
        changes.make(change(name), nothing)
    changes.close()
    # The clock stands still: each waits for one more interval than the one before.
    assert executor.slept == [0.25, 0.5, 0.75, 1.0, 1.25]


def test_what_a_killed_lab_left_is_undone_at_the_next_start(tmp_path: Path) -> None:
    killed = opened(tmp_path / "undo", Recorder())
    for name in "abc":
        killed.make(change(name), nothing)
    killed.undo(["b"])
    assert killed._file is not None
    killed._file.close()  # as the kernel does
    with (tmp_path / "undo").open("a") as file:
        file.write('{"made": "torn", "comm')
    executor = Recorder()
    opened(tmp_path / "undo", executor).close()
    assert executor.done == ["echo c > /undo/c", "echo a > /undo/a"]
    assert (tmp_path / "undo").read_text() == ""


def test_a_change_that_was_being_made_may_fail_to_be_undone_and_others_may_not(tmp_path: Path) -> None:
    executor = Recorder()
    changes = opened(tmp_path / "undo", executor)
    changes.make(change("a"), nothing)
    executor.failing = {"do b", "/undo/b", "/undo/a"}
    with pytest.raises(DeviceFailed, match="do b: refused"):
        changes.make(change("b"), nothing)
    (failure,) = changes.close()
    assert failure.startswith("a: ")
    # It stays in the file until it is undone.
    executor.failing = set()
    executor.done.clear()
    opened(tmp_path / "undo", executor).close()
    assert executor.done == ["echo a > /undo/a"]


def test_two_labs_cannot_work_on_one_rnic(tmp_path: Path) -> None:
    first = opened(tmp_path / "undo", Recorder())
    with pytest.raises(DeviceFailed, match="another lab is at work"):
        Changes(Recorder(), tmp_path / "undo", 1).open()
    first.close()


def test_a_damaged_undo_file_needs_a_person(tmp_path: Path) -> None:
    (tmp_path / "undo").write_text('{"made": "a"}\n')
    with pytest.raises(DeviceFailed, match="undo by hand"):
        Changes(Recorder(), tmp_path / "undo", 1).open()
    assert (tmp_path / "undo").read_text() == '{"made": "a"}\n'


def test_a_refused_check_makes_nothing(tmp_path: Path) -> None:
    executor = Recorder()
    changes = opened(tmp_path / "undo", executor)

    def refuse() -> None:
        raise DeviceFailed("stop")

    with pytest.raises(DeviceFailed, match="stop"):
        changes.make(change("a"), refuse)
    changes.close()
    assert executor.done == []


def test_rules_have_different_masks_and_no_real_destination() -> None:
    commands = [rule.do for rule in flower.rules("uplink0", 256, 2)]
    words = [command.words for command in commands if isinstance(command, Command)]
    masks = {(w[w.index("src_ip") + 1].split("/")[1], w[w.index("dst_ip") + 1].split("/")[1]) for w in words}
    assert len(masks) == 256
    assert len({w[w.index("handle") + 1] for w in words}) == 512
    assert all("skip_sw" in w and w[w.index("dst_ip") + 1].startswith("198.51.100.") for w in words)


def test_undoing_a_rule_names_it_alone() -> None:
    (rule,) = flower.rules("uplink0", 1, 1)
    assert str(rule.undo) == "tc filter del dev uplink0 ingress protocol ip pref 49151 handle 0x1 flower"
    assert str(rule.do).startswith("tc filter add dev uplink0 ingress protocol ip pref 49151 handle 0x1 flower skip_sw ")


def sysfs(root: Path) -> Path:
    """A physical function with three VFs: bound, bound and in a container, unbound."""
    devices = root / "bus/pci/devices"
    driver = root / "bus/pci/drivers/mlx5_core"
    driver.mkdir(parents=True)
    (devices / PCI).mkdir(parents=True)
    (devices / PCI / "driver").symlink_to(driver)
    for number in range(3):
        folder = devices / f"0000:3b:00.{number + 2}"
        folder.mkdir()
        (devices / PCI / f"virtfn{number}").symlink_to(folder)
        if number < 2:
            (folder / "driver").symlink_to(driver)
        if number == 0:
            (folder / "net/eth0").mkdir(parents=True)
    return root


def test_vfs_are_bound_and_unbound_from_the_state_they_were_found_in(tmp_path: Path) -> None:
    root = sysfs(tmp_path)
    functions = vfs.found(root, PCI)
    assert [(f.pci, f.bound, f.in_container) for f in functions] == [
        ("0000:3b:00.2", True, False),
        ("0000:3b:00.3", True, True),
        ("0000:3b:00.4", False, False),
    ]
    assert list(vfs.changes(root, functions, 2)) == []
    (bound,) = vfs.changes(root, functions, 3)
    driver = root / "bus/pci/drivers/mlx5_core"
    assert (bound.do, bound.undo) == (Write(f"{driver}/bind", "0000:3b:00.4"), Write(f"{driver}/unbind", "0000:3b:00.4"))
    with pytest.raises(DeviceFailed, match="belongs to a container"):
        list(vfs.changes(root, functions, 0))
    with pytest.raises(DeviceFailed, match="the RNIC has 3"):
        list(vfs.changes(root, functions, 4))


def test_a_function_without_a_driver_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DeviceFailed, match="has no driver"):
        vfs.found(tmp_path, PCI)


def test_the_kernel_log_gives_symptoms_of_new_lines_only(tmp_path: Path) -> None:
    path = tmp_path / "kmsg"
    path.write_text("4,1,1,-;watchdog: BUG: soft lockup - CPU#3 stuck for 22s! [handler1:77]\n")
    log = KernelLog(path)
    try:
        assert log.symptoms() == []
        with path.open("a") as file:
            file.write(
                "6,2,2,-;mlx5_core 0000:3b:00.0: wait_func:1132:(pid 1): CREATE_DCT(0x710) timeout. Will cause a leak of a command\n"
            )
            file.write("4,3,3,-;pcieport 0000:3a:00.0: pciehp: Slot(3): Link Down\n6,4,4,-;usb 1-1: new device\n")
        assert log.symptoms() == ["S7", "S8"]
        assert log.symptoms() == []
    finally:
        log.close()


def test_the_undo_file_lists_what_is_in_force(tmp_path: Path) -> None:
    changes = opened(tmp_path / "undo", Recorder())
    changes.make(change("a"), nothing)
    lines = [json.loads(line) for line in (tmp_path / "undo").read_text().splitlines()]
    assert lines == [{"made": "a", "write": "/undo/a", "text": "a"}, {"done": "a"}]
    changes.close()
