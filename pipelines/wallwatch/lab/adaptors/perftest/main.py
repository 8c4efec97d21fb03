"""`wallwatch lab device perftest`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from wallwatch.lab.adaptors.perftest.device import opened
from wallwatch.lab.adaptors.perftest.operations import Dry, Executor, Host
from wallwatch.lab.adaptors.perftest.setup import BadSetup, load
from wallwatch.lab.adaptors.serve import serve


def main(arguments: Sequence[str]) -> int:
    """Serve dut/1 until stdin ends; then undo every change."""
    parser = argparse.ArgumentParser("wallwatch lab device perftest", description="A cordoned RNIC as a device under test (dut/1).")
    parser.add_argument("--setup", type=Path, required=True, help="YAML or JSON file: RNIC, peer, health command, ranges of parameters")
    parser.add_argument("--dry-run", action="store_true", help="print each command to stderr instead of running it")
    options = parser.parse_args(arguments)
    try:
        setup = load(options.setup)
    except BadSetup as error:
        parser.error(str(error))
    executor: Executor = Dry() if options.dry_run else Host()
    return serve(opened(setup, executor), sys.stdin, sys.stdout)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
