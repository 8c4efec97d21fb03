"""`make isolation-simulations`: run the simulations of VF isolation and write docs/isolation-simulations.md."""

import argparse
import sys

from tests.isolation_simulations.document import document

from wallwatch_local.paths import REPOSITORY


def main() -> int:
    """Print the page, or write it."""
    parser = argparse.ArgumentParser(prog="python -m tests.isolation_simulations", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write docs/isolation-simulations.md")
    options = parser.parse_args()
    page = document()
    if options.write:
        (REPOSITORY / "docs" / "isolation-simulations.md").write_text(page, encoding="utf-8")
    else:
        sys.stdout.write(page)
    return 0


if __name__ == "__main__":
    sys.exit(main())
