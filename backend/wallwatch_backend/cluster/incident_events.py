"""Incidents as Events of the nodes that they concern: pure."""

from collections.abc import Container, Sequence
from typing import Any

from sqlalchemy import Row

from wallwatch_backend.cluster.node_events import NodeEvent
from wallwatch_backend.incidents.states import IncidentState

_MOST_NODES = 50
"""Nodes of one incident that get an Event: an incident of a whole fleet would fill the API server with the same sentence."""


def events_of(incidents: Sequence[Row[Any]], nodes: Container[str], public_url: str) -> list[NodeEvent]:
    """Return an Event for the beginning and the end of each incident, on each of its hosts that is a node."""
    found = []
    for incident in incidents:
        over = incident.state == IncidentState.resolved
        hosts = [host for host in incident.hosts if host in nodes][:_MOST_NODES]
        link = f" {public_url}/incidents/{incident.id}" if public_url else ""
        for host in hosts:
            found.append(
                NodeEvent(
                    node=host,
                    # An incident that recurs begins, and ends, once more.
                    key=f"incident {incident.id} {'resolved' if over else 'opened'} {incident.reopened}",
                    reason="RnicIncidentResolved" if over else "RnicIncidentOpened",
                    action="Resolve" if over else "Detect",
                    note=f"{'Resolved: ' if over else ''}{incident.title} ({incident.severity}).{link}",
                    type="Normal" if over else "Warning",
                    at=incident.resolved_at if over else incident.began_at,
                )
            )
    return found
