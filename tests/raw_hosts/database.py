"""A real ovsdb-server, started once in a process and used for one case after another."""

from __future__ import annotations

import atexit
import json
import shutil
import socket
import subprocess
import tempfile
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from signal import SIGTERM
from typing import Any

from wallwatch_local.processes import die_with_parent, listens, running

SCHEMA = Path("/usr/share/openvswitch/vswitch.ovsschema")


class Database:
    """The database Open_vSwitch with one row."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.socket = folder / "db.sock"
        file = folder / "conf.db"
        subprocess.run(["ovsdb-tool", "create", str(file), str(SCHEMA)], check=True, capture_output=True)
        variables = [f"OVS_{kind}={folder}" for kind in ("RUNDIR", "LOGDIR", "DBDIR", "SYSCONFDIR")]
        options = [f"--remote=punix:{self.socket}", f"--unixctl={folder}/ctl", "-vconsole:warn", "-vfile:off", "-vsyslog:off"]
        command = die_with_parent(["env", *variables, "ovsdb-server", str(file), *options], SIGTERM)
        stack.enter_context(running("ovsdb-server", command, folder / "ovsdb.log", lambda: listens(self.socket), SIGTERM))
        self._transact({"op": "insert", "table": "Open_vSwitch", "row": {}})

    def configure(self, settings: dict[str, str]) -> None:
        """Replace other_config."""
        row = {"other_config": ["map", [[key, value] for key, value in settings.items()]]}
        self._transact({"op": "update", "table": "Open_vSwitch", "where": [], "row": row})

    def _transact(self, operation: dict[str, Any]) -> None:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(60)
            connection.connect(str(self.socket))
            connection.sendall(json.dumps({"method": "transact", "params": ["Open_vSwitch", operation], "id": 1}).encode())
            text = ""
            while True:
                text += connection.recv(65536).decode()
                try:
                    answer = json.loads(text)
                except json.JSONDecodeError:
                    continue
                break
        if answer["error"] is not None or any("error" in (one or {}) for one in answer["result"]):
            raise RuntimeError(f"ovsdb-server refuses {operation}: {answer}")


@cache
def shared() -> Database:
    """The process's own server."""
    folder = Path(tempfile.mkdtemp(prefix="raw-db-"))
    stack = ExitStack()
    stack.callback(shutil.rmtree, folder, ignore_errors=True)
    atexit.register(stack.close)
    return Database(folder, stack)
