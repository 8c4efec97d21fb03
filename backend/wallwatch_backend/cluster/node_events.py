"""Kubernetes Events on nodes: pure. An Event's name follows from what it says, so that nothing is said twice, whoever says it."""

import hashlib
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

NAMESPACE = "default"
"""Where Kubernetes keeps Events of objects without a namespace, such as nodes."""
PATH = f"/apis/events.k8s.io/v1/namespaces/{NAMESPACE}/events"
_NOTE_BYTES = 1000
"""The API server takes 1,024 bytes."""
_CONTROLLER = "wallwatch.com/backend"


@dataclass(frozen=True)
class NodeEvent:
    """What is said of a node; `key` tells it from everything else that is said of that node."""

    node: str
    key: str
    reason: str
    action: str
    note: str
    type: Literal["Normal", "Warning"]
    at: datetime

    @property
    def name(self) -> str:
        """Name of the Event: the same for the same event, and different for each node."""
        return "wallwatch-" + hashlib.sha256(f"{self.node}\0{self.key}".encode()).hexdigest()[:40]

    def body(self, uid: str, instance: str) -> dict[str, Any]:
        """Return the Event for the node with this UID, from this replica."""
        return {
            "apiVersion": "events.k8s.io/v1",
            "kind": "Event",
            "metadata": {"name": self.name, "namespace": NAMESPACE},
            "eventTime": self.at.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
            "reportingController": _CONTROLLER,
            "reportingInstance": instance[:128],
            "action": self.action,
            "reason": self.reason,
            "type": self.type,
            "note": shortened(self.note),
            "regarding": {"apiVersion": "v1", "kind": "Node", "name": self.node, "uid": uid},
        }


def shortened(note: str) -> str:
    """Cut a note to what the API server takes, in whole characters.

    >>> len(shortened("\N{GREEK SMALL LETTER MU}" * 2000).encode()) <= 1000
    True
    """
    return note.encode()[:_NOTE_BYTES].decode(errors="ignore")
