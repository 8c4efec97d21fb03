"""A small tree that looks like the kernel's sysfs of a host with one ConnectX-6 and representors of its VFs."""

from collections.abc import Mapping, Sequence
from pathlib import Path

COUNTERS = {"port_xmit_data": 1000, "port_rcv_data": 2000, "port_xmit_packets": 10, "port_rcv_packets": 20}
PCI_FILES = {
    "vendor": "0x15b3",
    "device": "0x101b",
    "current_link_speed": "16.0 GT/s PCIe",
    "current_link_width": "16",
    "max_link_speed": "16.0 GT/s PCIe",
    "max_link_width": "16",
    "sriov_numvfs": "2",
    "sriov_totalvfs": "8",
}


def _write(folder: Path, files: Mapping[str, object]) -> None:
    for name, value in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{value}\n")


def _link(link: Path, target: Path) -> None:
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(Path(*[".."] * len(link.parent.relative_to(target.anchor).parts)) / target.relative_to(target.anchor))


def write_rnic(root: Path, pci: str, ibdev: str, netdev: str, representors: Sequence[str], port: str = "") -> None:
    """Write the tree below `root` (what /sys would be); `port` is the PCIe port above the RNIC."""
    device = root / "devices" / "pci0000:00" / port / pci
    _write(device, PCI_FILES)
    _link(root / "bus/pci/devices" / pci, device)
    driver = root / "bus/pci/drivers/mlx5_core"
    driver.mkdir(parents=True, exist_ok=True)
    _link(device / "driver", driver)
    ports = device / "infiniband" / ibdev / "ports/1"
    _write(ports, {"state": "4: ACTIVE", "phys_state": "5: LinkUp", "rate": "200 Gb/sec (4X HDR)", "link_layer": "Ethernet"})
    _write(ports / "counters", COUNTERS)
    _write(device / "infiniband" / ibdev, {"fw_ver": "20.43.1014", "hca_type": "MT4123", "board_id": "MT_0000000224"})
    _link(device / "infiniband" / ibdev / "device", device)
    _link(root / "class/infiniband" / ibdev, device / "infiniband" / ibdev)
    for name, port_name in [(netdev, "p0"), *((one, one) for one in representors)]:
        folder = device / "net" / name
        _write(folder, {"phys_switch_id": "e8ebd3030001", "phys_port_name": port_name, "operstate": "up", "carrier_changes": "1"})
        _write(folder / "statistics", {"rx_bytes": 1, "tx_bytes": 1})
        _link(folder / "device", device)
        _link(root / "class/net" / name, folder)
