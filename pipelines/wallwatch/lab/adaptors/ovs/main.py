"""`wallwatch lab device ovs`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from wallwatch.lab.adaptors.ovs.device import PARAMETERS, SLICES, opened
from wallwatch.lab.adaptors.serve import serve


def main(arguments: Sequence[str]) -> int:
    """Serve dut/1 until stdin ends. The process leaves its network namespace for good, so give it one of its own."""
    names = [parameter.name for parameter in PARAMETERS]
    parser = argparse.ArgumentParser("wallwatch lab device ovs", description="A real Open vSwitch as a device under test (dut/1).")
    parser.add_argument("--only", help=f"vary only these, the others keep their defaults; separated by commas: {','.join(names)}")
    parser.add_argument("--absolute", action="store_true", help="also report CPU time in µs per packet, which other programs here disturb")
    parser.add_argument("--slices", type=int, default=SLICES, help="pairs of measurements per test: fewer are faster and less exact")
    parser.add_argument("--slow-lookups", type=float, help="report symptom S6 when packets need at least so many lookups on average")
    options = parser.parse_args(arguments)
    only = None if options.only is None else frozenset(options.only.split(","))
    if only is not None and not only <= set(names):
        parser.error(f"unknown parameters: {', '.join(sorted(only - set(names)))}; there are {', '.join(names)}")
    if not 1 <= options.slices <= 1000:
        parser.error("--slices must be from 1 to 1000")
    return serve(opened(only, options.absolute, options.slices, options.slow_lookups), sys.stdin, sys.stdout)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
