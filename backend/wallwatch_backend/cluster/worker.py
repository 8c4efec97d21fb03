"""Brings nodes of Kubernetes up to date with what Wallwatch knows, and the database with what Kubernetes knows. One replica does it.

Each round compares what is with what should be, and writes the difference. So a round that failed, a restart and a new leader need
nothing special, and what somebody else changed is put right.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import datetime, timedelta
from itertools import islice
from typing import TypeVar

import structlog

from wallwatch.domain.catalogue import load
from wallwatch_backend.cluster import conditions, node_events, node_reports, pods, repository, taints
from wallwatch_backend.cluster.conditions import Host
from wallwatch_backend.cluster.incident_events import events_of
from wallwatch_backend.cluster.node_events import NodeEvent
from wallwatch_backend.cluster.nodes import Node
from wallwatch_backend.hosts.kubernetes import repository as stored
from wallwatch_backend.hosts.kubernetes.api import (
    MERGE_PATCH,
    METADATA_ONLY,
    STRATEGIC_PATCH,
    Document,
    KubernetesApi,
    KubernetesError,
    KubernetesRefused,
    KubernetesSilent,
    connected,
)
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.database import Database
from wallwatch_backend.settings import Settings

log = structlog.get_logger(__name__)

PERIOD_S = 15.0
"""Symptoms take tens of seconds to be recognised."""
RELIST = timedelta(minutes=1)
RELIST_LARGE = timedelta(minutes=5)
LARGE = 500
"""Nodes from which on they are listed more rarely: a list of 8,000 is about 100 MB, which is much for each minute."""
PAGE = 500
"""Nodes per answer, as kubectl asks."""
MOST = 500
"""Writes of a kind per round; the rest follows in the next."""
EVENTS_FOR = timedelta(minutes=30)
"""How far back incidents are reported after a restart. The API server keeps Events for an hour, and refuses one that it has."""
_PODS_FOR = timedelta(days=1)
_MOST_PODS = 100
_PODS_KEPT = timedelta(days=30)
_MISSING, _CONFLICT = 404, 409
_REFUSALS_IN_A_ROW = 5
"""So many end a step until the next round: then a right is missing, or the API server has too much to do."""

T = TypeVar("T")


def is_needed(settings: Settings) -> bool:
    """Whether anything of it is switched on; without, the API server is never asked."""
    asked = settings.kubernetes_nodes or settings.kubernetes_pods or settings.kubernetes_nvsentinel
    return asked or settings.kubernetes_taint != "never"


class ClusterWorker:
    """Runs on one replica at a time."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self._database, self._settings = database, settings
        self._nodes: dict[str, Node] = {}
        self._listed_at: datetime | None = None
        self._stored: dict[str, dict[str, object]] = {}
        self._sent: dict[str, datetime] = {}
        self._reported: set[str] = set()

    async def run(self) -> None:
        """Work until cancelled. While the API server is unreachable the log says so once."""
        while True:
            try:
                await self.process_round()
                self._reported.discard("unreachable")
            except KubernetesSilent as error:
                self._log_once("unreachable", error)
            await asyncio.sleep(PERIOD_S)

    async def process_round(self) -> None:
        """Compare and write the difference."""
        at = clock.now()
        async with connected(self._settings) as api:
            if not await self._run_step("list_nodes", self._list_nodes(api, at)):
                return
            async with self._database.read() as session:
                hosts = await repository.hosts(session, at)
                began_or_ended = await repository.incidents(session, at - EVENTS_FOR, MOST) if self._settings.kubernetes_nodes else []
            events: list[NodeEvent] = []
            if self._settings.kubernetes_nodes:
                await self._write_conditions(api, hosts, at)
                events += events_of(began_or_ended, self._nodes, self._public_url)
            if self._settings.kubernetes_taint != "never":
                events += await self._write_taints(api, hosts, at)
            await self._write_events(api, events)
            if self._settings.kubernetes_pods:
                await self._run_step("pods", self._read_pods(api, at))
        await self._store(hosts, at)

    @property
    def _public_url(self) -> str:
        return str(self._settings.public_url).rstrip("/") if self._settings.public_url else ""

    async def _run_step(self, what: str, step: Awaitable[None]) -> bool:
        """Do a step that the API server may refuse, for want of a right: the others go on, and the log says it once."""
        try:
            await step
        except KubernetesRefused as error:
            self._log_once(what, error)
            return False
        self._reported.discard(what)
        return True

    async def _run_each(self, what: str, items: Iterable[T], step: Callable[[T], Awaitable[None]]) -> None:
        """Do a step for each item. One that the API server refuses does not hold up those after it; the log says it once."""
        refused = in_a_row = 0
        for item in items:
            try:
                await step(item)
            except KubernetesRefused as error:
                self._log_once(what, error)
                refused, in_a_row = refused + 1, in_a_row + 1
                if in_a_row == _REFUSALS_IN_A_ROW:
                    break
            else:
                in_a_row = 0
        if not refused:
            self._reported.discard(what)

    def _log_once(self, what: str, error: KubernetesError) -> None:
        if what not in self._reported:
            self._reported.add(what)
            log.warning("kubernetes_failed", step=what, error=str(error))

    async def _list_nodes(self, api: KubernetesApi, at: datetime) -> None:
        every = RELIST_LARGE if len(self._nodes) > LARGE else RELIST
        if self._listed_at is not None and at - self._listed_at < every:
            return
        nodes: dict[str, Node] = {}
        params: dict[str, str | int] = {"limit": PAGE}
        while True:
            page = await api.call("list_nodes", "GET", "/api/v1/nodes", params=params)
            nodes |= {node.name: node for node in map(Node.of, page.get("items") or [])}
            following = page.get("metadata", {}).get("continue")
            if not following:
                break
            params = {"limit": PAGE, "continue": following}
        self._nodes, self._listed_at = nodes, at

    async def _write_conditions(self, api: KubernetesApi, hosts: Mapping[str, Host], at: datetime) -> None:
        titles = {name: each.title for name, each in {**load.symptoms(), **load.other_conditions()}.items()}
        due: list[tuple[Node, Document]] = []
        for node in self._nodes.values():
            if node.name in hosts:
                wanted = conditions.verdict_of(hosts[node.name], titles, at)
                if conditions.differs(node.condition, wanted):
                    due.append((node, wanted.body(at, conditions.changed_at(node.condition, wanted, at))))
            elif node.condition is not None:  # a host that is not watched any more
                due.append((node, {"type": conditions.CONDITION, "$patch": "delete"}))

        async def write(change: tuple[Node, Document]) -> None:
            node, body = change
            patch: Document = {"status": {"conditions": [body]}}
            try:
                await self._patch(api, "patch_condition", node, f"/api/v1/nodes/{node.name}/status", patch, STRATEGIC_PATCH)
            except KubernetesRefused as error:
                if error.code != _CONFLICT:  # the next round tries again: without the taint there is no right to read one node
                    raise

        await self._run_each("conditions", due[:MOST], write)

    async def _write_taints(self, api: KubernetesApi, hosts: Mapping[str, Host], at: datetime) -> list[NodeEvent]:
        """Taint or clear nodes; return what to say of those whose taint the API server has answered to be as wanted."""
        events: list[NodeEvent] = []
        wanted = ((node, taints.wanted(hosts.get(node.name), self._settings.kubernetes_taint)) for node in list(self._nodes.values()))

        async def write(change: tuple[Node, bool]) -> None:
            node, tainted = change
            # Taints are replaced as a whole: the version makes sure that nobody changed them since they were read.
            patch: Document = {"metadata": {"resourceVersion": node.version}, "spec": {"taints": taints.changed(node.taints, tainted)}}
            path = f"/api/v1/nodes/{node.name}"
            try:
                await self._patch(api, "patch_taint", node, path, patch, MERGE_PATCH)
            except KubernetesRefused as error:
                if error.code != _CONFLICT:
                    raise
                await self._keep(node, api.call("get_node", "GET", path))
            proven = self._nodes.get(node.name)
            if proven is not None and proven.tainted == tainted:
                events.append(_taint_event(node.name, tainted, at))

        await self._run_each("taints", islice((each for each in wanted if each[1] != each[0].tainted), MOST), write)
        return events

    async def _patch(self, api: KubernetesApi, call: str, node: Node, path: str, patch: Document, kind: str) -> None:
        await self._keep(node, api.call(call, "PATCH", path, body=patch, kind=kind))

    async def _keep(self, node: Node, answer: Awaitable[Document]) -> None:
        """Keep what the API server answers that a node is; one that is gone is forgotten."""
        try:
            self._nodes[node.name] = Node.of(await answer)
        except KubernetesRefused as error:
            if error.code != _MISSING:
                raise
            del self._nodes[node.name]

    async def _write_events(self, api: KubernetesApi, events: list[NodeEvent]) -> None:
        at = clock.now()
        self._sent = {name: sent for name, sent in self._sent.items() if at - sent < 2 * EVENTS_FOR}

        async def write(event: NodeEvent) -> None:
            try:
                body = event.body(self._nodes[event.node].uid, socket.gethostname())
                await api.call("create_event", "POST", node_events.PATH, body=body)
            except KubernetesRefused as error:
                if error.code != _CONFLICT:  # it is there already, from before a restart
                    raise
            self._sent[event.name] = at

        # A node may have gone since the event was made.
        due = (event for event in events if event.name not in self._sent and event.node in self._nodes)
        await self._run_each("events", islice(due, MOST), write)

    async def _read_pods(self, api: KubernetesApi, at: datetime) -> None:
        async with self._database.read() as session:
            names = await repository.unread_pods(session, at - _PODS_FOR, _MOST_PODS)
        rows = []
        try:
            for name in names:
                rows.append(await _pod_row(api, name, at))
        finally:
            async with self._database.write() as session:
                await stored.store_pods(session, rows)
                await stored.delete_pods_before(session, at - _PODS_KEPT)

    async def _store(self, hosts: Mapping[str, Host], at: datetime) -> None:
        """Store the nodes that changed, and all of them after a listing: what it did not have is deleted then."""
        listed = self._listed_at == at
        rows = {node.name: node.row(at) for node in self._nodes.values() if node.name in hosts}
        facts = {name: {**row, "read_at": None} for name, row in rows.items()}
        due = [row for name, row in rows.items() if listed or self._stored.get(name) != facts[name]]
        if not listed and not due:
            return
        said = {name: self._nodes[name].reports for name in rows} if listed and self._settings.kubernetes_nvsentinel else None
        async with self._database.write() as session:
            await stored.store_nodes(session, due)
            if listed:
                await stored.delete_nodes_before(session, at)
            if said is not None:
                await node_reports.store(session, said, at)
        self._stored = facts
        if said is not None:
            await node_reports.add_to_timelines(self._database, said, at)


async def _pod_row(api: KubernetesApi, pod: str, at: datetime) -> dict[str, object]:
    path, metadata = pods.path_of(pod), None
    if path is not None:
        try:
            metadata = (await api.call("get_pod", "GET", path, accept=METADATA_ONLY)).get("metadata") or {}
        except KubernetesRefused as error:
            if error.code != _MISSING:
                raise
    known = metadata or {}
    return {
        "pod": pod,
        "owner": pods.owner_of(known),
        "labels": pods.labels_of(known),
        "found": metadata is not None,
        "read_at": at,
    }


def _taint_event(node: str, tainted: bool, at: datetime) -> NodeEvent:
    return NodeEvent(
        node=node,
        key=f"taint {tainted} {at.isoformat()}",
        reason="RnicCordonTainted" if tainted else "RnicCordonUntainted",
        action="Taint" if tainted else "Untaint",
        note=f"Wallwatch set the taint {taints.TAINT}:{taints.EFFECT}, because RNICs of the node are cordoned."
        if tainted
        else f"Wallwatch removed the taint {taints.TAINT}:{taints.EFFECT}: cordons are undone, or the host is not watched any more.",
        type="Normal",
        at=at,
    )
