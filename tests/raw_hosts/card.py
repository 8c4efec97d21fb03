"""One RNIC in a sysfs tree: its functions, its counters, its PCIe link. Files are written as the kernel would print them."""

from __future__ import annotations

import shutil
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.raw_hosts.models import Model

WORD = 4
AER_FATAL = ("Undefined", "DLP", "SDES", "TLP", "FCP", "CmpltTO", "CmpltAbrt", "UnxCmplt", "RxOF", "MalfTLP", "ECRC", "UnsupReq")
AER_CORRECTABLE = ("RxErr", "BadTLP", "BadDLLP", "Rollover", "Timeout", "NonFatalErr")


def _write(path: Path, text: object) -> None:
    path.write_text(f"{text}\n")


def _link(path: Path, target: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target)


@dataclass
class Card:
    """A physical function with its virtual functions and representors."""

    sys: Path
    number: int
    model: Model
    pci: str
    netdev: str
    vf_count: int = 8
    endpoint: str = "192.168.7.1"
    counters: dict[str, float] = field(default_factory=dict)
    """InfiniBand port counters and hw_counters by name, whole numbers when written."""
    port_up: bool = True
    admin_up: bool = True
    wrap_32_bits: bool = False
    """The port's counters have 32 bits: without extended counters (drivers/infiniband/core/sysfs.c, old firmware)."""
    speed: str = ""
    width: int = 16
    fatal: dict[str, int] = field(default_factory=dict)
    correctable: dict[str, int] = field(default_factory=dict)
    link_downed: int = 0
    unreadable: set[str] = field(default_factory=set)
    frozen: bool = False
    gone: bool = False

    @property
    def device(self) -> Path:
        """The PCI device's folder."""
        return self.sys / self._place

    @property
    def upstream(self) -> str:
        """Address of the port that the card is plugged into."""
        return f"0000:{int(self.pci[5:7], 16) - 1:02x}:00.0"

    @property
    def _place(self) -> str:
        return f"devices/pci{self.upstream[:7]}/{self.upstream}/{self.pci}"

    @property
    def ibdev(self) -> str:
        """Name of the InfiniBand device."""
        return f"{self.model.ib_prefix}{self.number}"

    @property
    def port(self) -> Path:
        """Folder of the InfiniBand port."""
        return self.sys / "class/infiniband" / self.ibdev / "ports/1"

    def vf_pci(self, vf: int) -> str:
        """Address of a virtual function: eight in a device."""
        bus = self.pci[:7]
        slot, function = divmod(vf + 2, 8)
        return f"{bus}:{slot:02x}.{function}"

    def representor(self, vf: int) -> str:
        """Name of a virtual function's representor, as systemd names it after phys_port_name."""
        return f"{self.netdev.removesuffix('np0')}_{vf}"

    def create(self) -> None:
        """Make the function's files."""
        self.speed = self.model.pcie_gts
        self.device.mkdir(parents=True, exist_ok=True)
        _write(self.device / "vendor", self.model.vendor)
        _write(self.device / "device", self.model.device)
        (self.device / "driver").symlink_to(f"../../../../bus/pci/drivers/{self.model.driver}")
        _link(self.sys / "bus/pci/devices" / self.pci, f"../../../{self._place}")
        _write(self.device / "max_link_speed", f"{self.model.pcie_gts} GT/s PCIe")
        _write(self.device / "max_link_width", 16)
        _write(self.device / "sriov_totalvfs", 127)
        self._create_classes()
        self.set_vfs(self.vf_count)
        self.write()

    def _create_classes(self) -> None:
        for folder in (self.port / "counters", self.port / "hw_counters", self._net(self.netdev) / "statistics"):
            folder.mkdir(parents=True, exist_ok=True)
        _link(self._net(self.netdev) / "device", f"../../../{self._place}")
        _link(self.sys / "class/infiniband" / self.ibdev / "device", f"../../../{self._place}")
        if self.model.hca_type:
            _write(self.port.parents[1] / "hca_type", self.model.hca_type)
        _write(self.port.parents[1] / "fw_ver", self.model.firmware)
        _write(self.port / "link_layer", "Ethernet")
        _write(self._net(self.netdev) / "phys_switch_id", f"{self.number + 1:02x}3c4eb8ce2098")
        _write(self._net(self.netdev) / "phys_port_name", "p0")

    def _net(self, name: str) -> Path:
        return self.sys / "class/net" / name

    def set_vfs(self, count: int) -> None:
        """Create or remove virtual functions, as writing to sriov_numvfs does."""
        for vf in range(max(count, self.vf_count)):
            self._remove_vf(vf)
        for vf in range(count):
            self._create_vf(vf)
        self.vf_count = count
        _write(self.device / "sriov_numvfs", count)

    def _create_vf(self, vf: int) -> None:
        folder = self.device.parent / self.vf_pci(vf)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "physfn").symlink_to(f"../{self.pci}")
        _write(folder / "vendor", self.model.vendor)
        self.bind(vf, True)
        (self.device / f"virtfn{vf}").symlink_to(f"../{self.vf_pci(vf)}")
        _link(self.sys / "bus/pci/devices" / self.vf_pci(vf), f"../../../{self._place[: -len(self.pci)]}{self.vf_pci(vf)}")
        net = self._net(self.representor(vf))
        net.mkdir(parents=True, exist_ok=True)
        _write(net / "phys_switch_id", f"{self.number + 1:02x}3c4eb8ce2098")
        _write(net / "phys_port_name", f"pf0vf{vf}")
        _link(net / "device", f"../../../{self._place}")

    def _remove_vf(self, vf: int) -> None:
        (self.device / f"virtfn{vf}").unlink(missing_ok=True)
        (self.sys / "bus/pci/devices" / self.vf_pci(vf)).unlink(missing_ok=True)
        shutil.rmtree(self.device.parent / self.vf_pci(vf), ignore_errors=True)
        shutil.rmtree(self._net(self.representor(vf)), ignore_errors=True)

    def bind(self, vf: int, bound: bool) -> None:
        """Bind a virtual function to its driver, or unbind it."""
        link = self.device.parent / self.vf_pci(vf) / "driver"
        link.unlink(missing_ok=True)
        if bound:
            link.symlink_to(f"../../../../bus/pci/drivers/{self.model.driver}")

    def vanish(self) -> None:
        """Remove the class devices and the PCI device: a reset, a driver that is unloaded, a card that left the bus."""
        self.gone = True
        for vf in range(self.vf_count):
            self._remove_vf(vf)
        shutil.rmtree(self.sys / "class/infiniband" / self.ibdev, ignore_errors=True)
        shutil.rmtree(self._net(self.netdev), ignore_errors=True)
        (self.sys / "bus/pci/devices" / self.pci).unlink(missing_ok=True)
        shutil.rmtree(self.device, ignore_errors=True)

    def return_(self, vfs: int = 0) -> None:
        """Show the function again, its counters from zero."""
        self.gone, self.vf_count = False, vfs
        speed, width = self.speed, self.width
        for name in self.counters:
            self.counters[name] = 0
        self.create()
        self.speed, self.width = speed, width
        self.write()

    def count(self, name: str, amount: float) -> None:
        """Let a counter move."""
        self.counters[name] = self.counters.get(name, 0) + amount

    def send(self, sent_bytes: float, sent_packets: float, received_bytes: float, received_packets: float) -> None:
        """Count what passed the port: with VXLAN's header of 50 bytes and 4 bytes of checksum."""
        if self.frozen or self.gone:
            return
        self.count("port_xmit_data", (sent_bytes + 54 * sent_packets) / WORD)
        self.count("port_xmit_packets", sent_packets)
        self.count("port_rcv_data", (received_bytes + 54 * received_packets) / WORD)
        self.count("port_rcv_packets", received_packets)

    def write(self) -> None:
        """Write what sysfs shows now."""
        if self.gone:
            return
        ib, net = self.port, self._net(self.netdev)
        port_counters = ("port_xmit_data", "port_rcv_data", "port_xmit_packets", "port_rcv_packets", "port_xmit_wait", "port_xmit_discards",
                         "port_rcv_errors", "symbol_error")  # fmt: skip
        for name in port_counters:
            value = int(self.counters.get(name, 0))
            self._show(ib / "counters" / name, value & 0xFFFFFFFF if self.wrap_32_bits else value)
        self._show(ib / "counters/link_downed", self.link_downed)
        for name in self.model.counters:
            self._show(ib / "hw_counters" / name, int(self.counters.get(name, 0)))
        _write(ib / "hw_counters/lifespan", 10)
        up = self.port_up and self.admin_up
        _write(ib / "state", "4: ACTIVE" if up else "1: DOWN")
        _write(ib / "phys_state", "5: LinkUp" if up else "3: Disabled" if not self.admin_up else "2: Polling")
        _write(ib / "rate", f"{self.model.gbps} Gb/sec (4X HDR)")
        self._write_net(net, up)
        _write(self.device / "current_link_speed", f"{self.speed} GT/s PCIe")
        _write(self.device / "current_link_width", self.width)
        _write(self.device / "aer_dev_fatal", _errors(AER_FATAL, self.fatal, "TOTAL_ERR_FATAL"))
        _write(self.device / "aer_dev_nonfatal", _errors(AER_FATAL, {}, "TOTAL_ERR_NONFATAL"))
        _write(self.device / "aer_dev_correctable", _errors(AER_CORRECTABLE, self.correctable, "TOTAL_ERR_COR"))

    def _write_net(self, net: Path, up: bool) -> None:
        _write(net / "operstate", "up" if up else "down")
        _write(net / "flags", "0x1003" if self.admin_up else "0x1002")
        _write(net / "carrier_changes", 1 + 2 * self.link_downed)
        for name, counter, factor in (("tx_bytes", "port_xmit_data", WORD), ("rx_bytes", "port_rcv_data", WORD),
                                      ("tx_packets", "port_xmit_packets", 1), ("rx_packets", "port_rcv_packets", 1)):  # fmt: skip
            _write(net / "statistics" / name, int(self.counters.get(counter, 0) * factor))
        for name in ("rx_errors", "tx_errors", "rx_dropped", "tx_dropped", "rx_missed_errors", "rx_crc_errors"):
            _write(net / "statistics" / name, int(self.counters.get(name, 0)))

    def _show(self, path: Path, value: int) -> None:
        if path.name in self.unreadable:
            with suppress(FileNotFoundError):
                path.unlink()
            return
        _write(path, value)


def _errors(names: tuple[str, ...], counts: dict[str, int], total: str) -> str:
    return "\n".join(f"{name} {counts.get(name, 0)}" for name in names) + f"\n{total} {sum(counts.values())}"
