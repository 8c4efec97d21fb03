"""`python -m dut_zoo --device NAME --seed N`: one planted device on stdin and stdout."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

from dut_zoo import bad, serve
from dut_zoo.device import Device, Ledger
from dut_zoo.kinds import ALL, make


def main() -> int:
    """Serve a device, list the kinds or print what is planted."""
    parser = argparse.ArgumentParser(
        prog="dut_zoo", description="A planted device that speaks dut/1; DUT_SEED seeds its noise, DUT_LEDGER names its ledger."
    )
    parser.add_argument("--device", choices=list(ALL), metavar="NAME", help="kind of device; see --list")
    parser.add_argument("--seed", type=int, default=1, help="which device of the kind")
    parser.add_argument("--bad", choices=list(bad.WAYS), help="break the protocol in this way")
    parser.add_argument("--after", type=int, default=bad.AFTER, metavar="N", help="with --bad: from operation N on")
    parser.add_argument("--list", action="store_true", help="list the kinds")
    parser.add_argument("--truth", action="store_true", help="print what is planted, and serve nothing")
    options = parser.parse_args()
    if options.list:
        for name, maker in ALL.items():
            described = maker(name, options.seed)
            print(f"{name:22} {len(described.parameters):3} parameters  {described.brute_force:>16} tests by brute force")
        return 0
    if not options.device:
        parser.error("--device is required; --list shows which there are")
    planted = make(options.device, options.seed)
    if options.truth:
        print(json.dumps(planted.truth(), indent=1))
        return 0
    path = os.environ.get("DUT_LEDGER")
    device = Device(planted, int(os.environ.get("DUT_SEED", "0")), Ledger(Path(path) if path else None))
    if options.bad:
        bad.serve(device, options.bad, sys.stdin, sys.stdout, options.after)
    else:
        serve.serve(device, sys.stdin, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
