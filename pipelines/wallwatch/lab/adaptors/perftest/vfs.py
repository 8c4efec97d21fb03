"""Binds and unbinds the RNIC's virtual functions over sysfs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from wallwatch.lab.adaptors.perftest.changes import Change
from wallwatch.lab.adaptors.perftest.operations import Write
from wallwatch.lab.adaptors.serve import DeviceFailed


@dataclass(frozen=True)
class VirtualFunction:
    """A VF as it was when the lab began."""

    pci: str
    driver: str
    """That it had, or without one its physical function's."""
    bound: bool
    in_container: bool
    """It is bound and has no network device in the host's namespace: a container has it."""


def found(sysfs: Path, pci: str) -> list[VirtualFunction]:
    """The VFs of a physical function, in order.

    Raises
    ------
    DeviceFailed
        If the physical function is not there, or has no driver.
    """
    folder = sysfs / "bus/pci/devices" / pci
    if not (folder / "driver").exists():
        raise DeviceFailed(f"{pci} has no driver ({folder / 'driver'} does not exist)")
    owner = (folder / "driver").resolve().name
    links = sorted(folder.glob("virtfn*"), key=lambda link: int(link.name.removeprefix("virtfn")))
    return [_function(link.resolve(), owner) for link in links]


def _function(folder: Path, owner: str) -> VirtualFunction:
    driver = folder / "driver"
    bound = driver.exists()
    net = folder / "net"
    alone = bound and driver.resolve().name == owner and not (net.is_dir() and any(net.iterdir()))
    return VirtualFunction(folder.name, driver.resolve().name if bound else owner, bound, alone)


def changes(sysfs: Path, functions: list[VirtualFunction], wanted: int) -> Iterator[Change]:
    """What makes the first `wanted` VFs bound and the others unbound, from the state in which the lab found them.

    Raises
    ------
    DeviceFailed
        If there are fewer VFs, or a container has one that would have to be unbound.
    """
    if wanted > len(functions):
        raise DeviceFailed(f"{wanted} VFs are wanted, and the RNIC has {len(functions)}; lower the range of vfs")
    for number, function in enumerate(functions):
        bind, unbind = (Write(f"{sysfs}/bus/pci/drivers/{function.driver}/{way}", function.pci) for way in ("bind", "unbind"))
        if number < wanted and not function.bound:
            yield Change(f"bound {function.pci}", bind, unbind)
        elif number >= wanted and function.bound:
            if function.in_container:
                raise DeviceFailed(f"VF {function.pci} belongs to a container; end the container first")
            yield Change(f"unbound {function.pci}", unbind, bind)
