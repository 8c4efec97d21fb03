"""Queries of nodes and pods, as the API server described them."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import delete, select
from sqlalchemy.dialects.postgresql import insert

from wallwatch_backend.hosts.kubernetes.models import KubernetesNodeRow, KubernetesPodRow
from wallwatch_backend.kit.database import ReadSession, WriteSession


async def node_of(session: ReadSession, host: str) -> KubernetesNodeRow | None:
    return (await session.execute(select(KubernetesNodeRow).where(KubernetesNodeRow.host == host))).scalar_one_or_none()


async def pods_of(session: ReadSession, pods: Sequence[str]) -> dict[str, KubernetesPodRow]:
    """Return those of the pods that were read, by `namespace/name`."""
    if not pods:
        return {}
    found = await session.execute(select(KubernetesPodRow).where(KubernetesPodRow.pod.in_(pods)))
    return {row.pod: row for row in found.scalars()}


async def store_nodes(session: WriteSession, rows: Sequence[dict[str, object]]) -> None:
    """Insert or replace nodes; each row has every column."""
    if not rows:
        return
    statement = insert(KubernetesNodeRow).values(rows)
    changed = {name: statement.excluded[name] for name in rows[0] if name != "host"}
    await session.execute(statement.on_conflict_do_update(index_elements=["host"], set_=changed))


async def delete_nodes_before(session: WriteSession, at: datetime) -> None:
    """Delete nodes that no listing since `at` had."""
    await session.execute(delete(KubernetesNodeRow).where(KubernetesNodeRow.read_at < at))


async def store_pods(session: WriteSession, rows: Sequence[dict[str, object]]) -> None:
    """Insert or replace pods; each row has every column."""
    if not rows:
        return
    statement = insert(KubernetesPodRow).values(rows)
    changed = {name: statement.excluded[name] for name in rows[0] if name != "pod"}
    await session.execute(statement.on_conflict_do_update(index_elements=["pod"], set_=changed))


async def delete_pods_before(session: WriteSession, at: datetime) -> None:
    """Delete pods that were last read before `at`."""
    await session.execute(delete(KubernetesPodRow).where(KubernetesPodRow.read_at < at))
