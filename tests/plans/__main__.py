"""`make evaluate-plans`: run the missing cases and write docs/plan-evaluation.{md,json}."""

import argparse
import json
import logging
import shutil
import sys
from pathlib import Path

from tests.plans.cases import cases, result
from tests.plans.document import document, figures
from tests.plans.workloads import FLOWS

from wallwatch_local.paths import REPOSITORY, tools_dir

KEPT = REPOSITORY / ".local" / "plan-evaluation"
DOCS = REPOSITORY / "docs"


def main() -> int:
    """Run and write."""
    parser = argparse.ArgumentParser(prog="make evaluate-plans", description=__doc__)
    parser.add_argument("--fresh", action="store_true", help="run everything again")
    parser.add_argument("--flows", type=int, default=FLOWS, help="on each RNIC; fewer are quicker, at least 3600")
    parser.add_argument("--only", nargs="*", metavar="CASE", help="run these cases and write nothing")
    parser.add_argument("--fleetsim", type=Path, default=tools_dir() / "bin" / "fleetsim", help="the program of the simulated fleet")
    options = parser.parse_args()
    if options.fresh:
        shutil.rmtree(KEPT, ignore_errors=True)
    if unknown := set(options.only or ()) - set(cases(options.flows)):
        parser.error(f"unknown case {', '.join(sorted(unknown))}: choose from {', '.join(cases(options.flows))}")
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stdout)
    found = {}
    for name in options.only or cases(options.flows):
        found[name] = result(KEPT / str(options.flows), options.fleetsim, options.flows, name)
        logging.info("%s: %.0f s of CPU time", name, found[name]["cpu_s"])
    if options.only is None:
        summary = figures(found, options.flows)
        (DOCS / "plan-evaluation.json").write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
        (DOCS / "plan-evaluation.md").write_text(document(summary), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
