"""`python -m wallwatch_backend.openapi > frontend/src/lib/api/openapi.json`: the API's description, without starting anything."""

import json
import sys

from wallwatch_backend.api import new_api


def main() -> None:
    json.dump(new_api().openapi(), sys.stdout, indent=1, ensure_ascii=False)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
