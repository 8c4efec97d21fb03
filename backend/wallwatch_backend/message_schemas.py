"""Kafka's topics for others who read them: a JSON Schema of each message, and an AsyncAPI document of all topics.

`python -m wallwatch_backend.message_schemas docs/messages` writes them.
"""

import json
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from wallwatch.domain.forecast.published import PublishedForecast
from wallwatch.domain.isolation.messages import IsolationMessage
from wallwatch.domain.telemetry import block_layouts, blocks
from wallwatch.domain.telemetry.dead_letters import DeadLetter
from wallwatch.domain.telemetry.envelope import headers_of, schema_id
from wallwatch.domain.telemetry.registry import KafkaRole, Measurement, Topic, measurements, topics
from wallwatch_backend.incidents.findings.schemas import Finding

DIALECT = "https://json-schema.org/draft/2020-12/schema"
ASYNCAPI = "asyncapi.json"
_TYPES = {"int": "integer", "float": "number", "text": "string", "bool": "boolean"}
_MODELS: dict[str, Any] = {
    "wallwatch.findings": Finding,
    "wallwatch.forecasts": PublishedForecast,
    "wallwatch.isolation": IsolationMessage,
    "wallwatch.dead_letter": DeadLetter,
}


def schema_file(topic: Topic) -> str:
    """Name of the file that has the schema of a topic's messages."""
    return f"{topic.name}.v{topic.message_version}.schema.json"


def schema_of(topic: Topic) -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of the messages of a topic. Readers ignore properties that they do not know."""
    if topic.measurement is not None:
        body = _telemetry(measurements()[topic.measurement])
    else:
        body = _blocks() if topic.name == blocks.TOPIC else _of_model(_MODELS[topic.name])
    return {
        "$schema": DIALECT,
        "$id": schema_id(topic.name, topic.message_version),
        **body,
        "title": topic.name,
        "description": topic.meaning[0].upper() + topic.meaning[1:] + ".",
    }


def _of_model(model: Any) -> dict[str, Any]:
    return TypeAdapter(model).json_schema(mode="validation", ref_template="#/$defs/{model}")


def _telemetry(measurement: Measurement) -> dict[str, Any]:
    """Telegraf's JSON format: one metric per message."""
    fields = {
        field.name: {"type": _TYPES[field.type], "description": f"{field.meaning} ({field.unit})" if field.unit else field.meaning}
        for field in measurement.fields.values()
    }
    tags = {name: {"type": "string", "description": meaning} for name, meaning in measurement.tags.items()}
    return {
        "type": "object",
        "required": ["name", "timestamp", "tags", "fields"],
        "properties": {
            "name": {"const": measurement.name, "type": "string"},
            "timestamp": {"type": "integer", "description": "Event time, nanoseconds since 1970 UTC"},
            "tags": {"type": "object", "required": list(measurement.key_tags), "properties": tags},
            "fields": {"type": "object", "properties": fields, "description": "What could not be read is absent, never zero"},
        },
    }


def _blocks() -> dict[str, Any]:
    """One of the measurements that are sent in blocks; the description of each place of its lists is what stands there."""
    return {
        "type": "object",
        "required": ["name", "tags", "fields", "rows"],
        "properties": {
            "name": {"type": "string", "enum": list(block_layouts.layouts()), "description": "Measurement"},
            "tags": {
                "type": "object",
                "required": ["host"],
                "properties": {"host": {"type": "string", "description": "host name"}, "rack": {"type": "string", "description": "rack"}},
                "description": "Tags of all rows",
            },
            "fields": {
                "type": "string",
                "description": "Places of the fields that each row has, ascending, such as `0-3,7`; their names are in `$defs`",
            },
            "more": {
                "type": "array",
                "items": {"type": "string"},
                "description": "Names of further fields, which follow those of `fields`",
            },
            "rows": {
                "type": "array",
                "items": {
                    "type": "array",
                    "minItems": 3,
                    "description": "A sample: its event time in nanoseconds since 1970 UTC, its own tags, the values of its fields",
                    "prefixItems": [
                        {"type": "integer"},
                        {"type": "array", "items": {"type": ["string", "null"]}},
                        {"type": "array", "items": {"type": ["integer", "number", "string"]}},
                    ],
                },
            },
        },
        "$defs": {name: _layout(measurements()[name], layout) for name, layout in block_layouts.layouts().items()},
    }


def _layout(measurement: Measurement, layout: block_layouts.Layout) -> dict[str, Any]:
    """The places of one measurement; a field that Wallwatch no longer reads keeps its place without a type."""
    of_fields = _telemetry(measurement)["properties"]["fields"]["properties"]
    tags = [{"title": name, "type": ["string", "null"], "description": measurement.tags.get(name, "")} for name in layout.tags]
    return {
        "title": measurement.name,
        "properties": {
            "tags": {"type": "array", "prefixItems": tags, "description": "Tags of a row; null or cut off where it has none"},
            "fields": {"type": "array", "prefixItems": [{"title": name, **of_fields.get(name, {})} for name in layout.fields]},
        },
    }


def asyncapi() -> dict[str, Any]:
    """Return the AsyncAPI 3 document: what Wallwatch sends, and where."""
    found = topics()
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "Wallwatch topics",
            "version": version("wallwatch"),
            "description": "Telemetry, findings, forecasts and isolation of RDMA NICs. The key of a message is its host.",
            "license": {"name": "Apache-2.0", "url": "https://www.apache.org/licenses/LICENSE-2.0"},
        },
        "defaultContentType": "application/json",
        "channels": {name: _channel(topic) for name, topic in found.items()},
        "operations": {
            f"send.{name}": {
                "action": "send",
                "channel": {"$ref": f"#/channels/{name}"},
                "summary": f"Written by {', '.join(topic.writers)}",
                "description": f"{topic.meaning}. The key is the host, so the messages of a host keep their order.",
            }
            for name, topic in found.items()
        },
        "components": {"messages": {name: _message(topic) for name, topic in found.items()}},
    }


def _channel(topic: Topic) -> dict[str, Any]:
    return {
        "address": topic.name,
        "description": topic.meaning,
        "messages": {"message": {"$ref": f"#/components/messages/{topic.name}"}},
        "bindings": {
            "kafka": {
                "topic": topic.name,
                "partitions": topic.partitions,
                "topicConfiguration": {"retention.ms": topic.retention_hours * 3_600_000},
                "bindingVersion": "0.5.0",
            }
        },
    }


def _message(topic: Topic) -> dict[str, Any]:
    return {
        "name": topic.name,
        "title": topic.meaning,
        "contentType": "application/json",
        "payload": {
            "schemaFormat": "application/schema+json;version=draft-2020-12",
            "schema": {"$ref": f"./{schema_file(topic)}"},
        },
        "headers": _headers(topic),
        "bindings": {"kafka": {"key": {"type": "string", "description": "Host"}, "bindingVersion": "0.5.0"}},
    }


def _headers(topic: Topic) -> dict[str, Any]:
    """What `headers_of` writes. Hosts write without: Telegraf's output has no such headers."""
    always = {name: value.decode() for name, value in headers_of(topic.name, "", b"")}
    own = {"ce_id": "Comes from the message: the same for a repetition", "ce_subject": "Key of the message: its host"}
    properties: dict[str, Any] = {name: {"const": value, "type": "string"} for name, value in always.items() if name not in own}
    properties |= {name: {"type": "string", "description": meaning} for name, meaning in own.items()}
    required = [] if KafkaRole.host in topic.writers else sorted(properties)
    return {"type": "object", "required": required, "properties": properties}


def documents() -> dict[str, dict[str, Any]]:
    """Return every file by name."""
    return {ASYNCAPI: asyncapi(), **{schema_file(topic): schema_of(topic) for topic in topics().values()}}


def main(folder: Path) -> None:
    """Write the files."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, document in documents().items():
        (folder / name).write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
