"""The JSON Schema of every native webhook body, composed from the contexts that send events.

`python -m wallwatch_backend.webhook_schema > docs/webhook-native.schema.json` writes it.
"""

import json
import sys
from typing import Any

from pydantic import TypeAdapter

from wallwatch_backend.conditions.webhook_schema import ConditionEvent
from wallwatch_backend.incidents.webhook_schema import GroupEvent, IncidentEvent
from wallwatch_backend.lab.webhook_schema import LabEvent
from wallwatch_backend.notify.formats.native import TestEvent
from wallwatch_backend.remedies.orders.webhook_schema import RemedyEvent
from wallwatch_backend.remedies.rollouts.webhook_schema import RolloutEvent

NativeBody = IncidentEvent | GroupEvent | RemedyEvent | RolloutEvent | LabEvent | ConditionEvent | TestEvent


def document() -> dict[str, Any]:
    """Return the JSON Schema (2020-12)."""
    schema = TypeAdapter(NativeBody).json_schema(mode="serialization", ref_template="#/$defs/{model}")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:wallwatch:webhook:native:1",
        "title": "Wallwatch webhook, native format",
        "description": "Body of a webhook with the format `native`. Later versions may add properties but remove none.",
        **schema,
    }


def main() -> None:
    json.dump(document(), sys.stdout, indent=1, ensure_ascii=False)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
