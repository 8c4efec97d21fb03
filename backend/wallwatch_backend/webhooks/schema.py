"""`python -m wallwatch_backend.webhooks.schema > docs/webhook-native.schema.json`: the native body's JSON Schema."""

import json
import sys

from wallwatch_backend.webhooks.formats.native import schema


def main() -> None:
    json.dump(schema(), sys.stdout, indent=1, ensure_ascii=False)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
