"""ovs-vswitchd as its control socket shows it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.raw_hosts.control_socket import ControlSocket
from tests.raw_hosts.flow_table import FIRST_LIMIT, FlowTable

DATAPATH = "system@ovs-system"
COVERAGE = ("dpif_flow_put", "dpif_flow_del", "handler_duplicate_upcall", "revalidate_missed_dp_flow", "upcall_flow_limit_hit")
NEWER_COVERAGE = ("dpif_flow_put_error", "dpif_flow_del_error", "ukey_invalid_stat_reset", "upcall_flow_limit_kill")


def escaped(text: str) -> bytes:
    """A text inside a JSON string: the daemon's outputs have line ends and no other character that needs an escape."""
    return text.encode().replace(b"\n", b"\\n")


class Switch:
    """One life of the daemon after another, each with its own socket's name."""

    def __init__(self, folder: Path, table: FlowTable, ports: list[str]) -> None:
        self.folder, self.table, self.ports = folder, table, ports
        self.pid = 1204
        self.coverage: dict[str, int] = {}
        self.socket: ControlSocket | None = None
        self.refused: set[str] = set()
        self.dump_filter: Callable[[list[bytes]], list[bytes]] | None = None
        self.masks = 0
        self._before = self._now()

    def start(self) -> None:
        """Run the daemon."""
        self.socket = ControlSocket(self.folder / f"ovs-vswitchd.{self.pid}.ctl", self._answer)

    def stop(self) -> None:
        """End the daemon. Its flows are flushed when it starts again."""
        if self.socket is not None:
            self.socket.close()
            self.socket = None

    def restart(self) -> None:
        """Run a new daemon: no flows, other process, counters from zero."""
        self.stop()
        self.table.flush()
        self.pid += 377
        self.coverage.clear()
        self.table.settings.flow_limit = min(FIRST_LIMIT, self.table.settings.most_flows)
        self._before = self._now()
        self.start()

    def _answer(self, command: str, arguments: list[str]) -> bytes | None:
        if command in self.refused:
            return None
        match command:
            case "dpctl/dump-flows":
                lines = self.table.dump()
                if self.dump_filter is not None:
                    lines = self.dump_filter(lines)
                return b"\\n".join(lines).replace(b'"', b'\\"') + (b"\\n" if lines else b"")
            case "dpctl/show":
                return escaped(self._show("-s" in arguments))
            case "upcall/show":
                return escaped(self._upcalls())
            case "coverage/show":
                return escaped(self._coverage())
            case "coverage/read-counter":
                known = COVERAGE + (NEWER_COVERAGE if self.table.release.counts_more else ())
                return f"{self._totals().get(arguments[0], 0)}\\n".encode() if arguments[0] in known else None
            case "version":
                return f"ovs-vswitchd (Open vSwitch) {self.table.release.version}\\n".encode()
            case "list-commands":
                return b"The available commands are:\\n"
        return None

    def _show(self, statistics: bool) -> str:
        # lib/dpctl.c, show_dpif; `-s` adds counters of ports, which lines of their own indent further.
        table = self.table
        text = f"{DATAPATH}:\n  lookups: hit:{table.hit} missed:{table.missed} lost:0\n  flows: {table.count}\n"
        text += f"  masks: hit:{table.missed * 3} total:{self.masks} hit/pkt:{2.1 if table.missed else 0:.2f}\n"
        text += "  cache: hit:11 hit-rate:3.20%\n  caches:\n    masks-cache: size:256\n"
        for number, port in enumerate(self.ports):
            text += f"  port {number}: {port}" + (" (internal)" if number == 0 else "") + "\n"
            if statistics:
                text += "    RX packets:0 errors:0 dropped:0 overruns:0 frame:0\n    TX packets:0 errors:0 dropped:0 aborted:0 carrier:0\n"
                text += "    collisions:0\n    RX bytes:0  TX bytes:0\n"
        return text

    def _upcalls(self) -> str:
        # ofproto/ofproto-dpif-upcall.c, upcall_unixctl_show; "offloaded flows" is printed only where there are some.
        table = self.table
        count = table.count
        limit = int(table.settings.flow_limit)
        text = f"{DATAPATH}:\n  flows         : (current {count}) (avg {count}) (max {max(count, 24)}) (limit {limit})\n"
        if table.offloaded:
            text += f"  offloaded flows : {table.offloaded}\n"
        text += f"  dump duration : {max(1, round(table.sweep_took_s * 1000))}ms\n  ufid enabled : true\n\n"
        return text + "".join(f"  {revalidator}: (keys {count // 4})\n" for revalidator in (21, 22, 23, 24))

    def _totals(self) -> dict[str, int]:
        put, deleted, refused = (now - before for now, before in zip(self._now(), self._before, strict=True))
        return {"dpif_flow_put": put, "dpif_flow_del": deleted, "upcall_flow_limit_hit": refused} | self.coverage

    def _now(self) -> tuple[int, int, int]:
        return self.table.insertions, self.table.deletions, self.table.refused

    def _coverage(self) -> str:
        # lib/coverage.c: a counter that is zero is not printed but counted in the last line.
        text = "Event coverage, avg rate over last: 5 seconds, last minute, last hour,  hash=9ef2c71d:\n"
        for name, total in self._totals().items():
            if total:
                text += f"{name:<24} 0.0/sec     0.000/sec        0.0000/sec   total: {total}\n"
        return text + "112 events never hit\n"
