"""`make isolation-simulations`: run the simulations of VF isolation and write docs/isolation-simulations.{md,json}."""

import argparse
import json
import sys

from tests.isolation_simulations.document import document
from tests.isolation_simulations.measure import everything

from wallwatch_local.paths import REPOSITORY

DOCS = REPOSITORY / "docs"


def main() -> int:
    """Print the page, or write it."""
    parser = argparse.ArgumentParser(prog="python -m tests.isolation_simulations", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write docs/isolation-simulations.md and .json")
    options = parser.parse_args()
    figures = everything()
    if options.write:
        (DOCS / "isolation-simulations.json").write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
        (DOCS / "isolation-simulations.md").write_text(document(figures), encoding="utf-8")
    else:
        sys.stdout.write(document(figures))
    return 0


if __name__ == "__main__":
    sys.exit(main())
