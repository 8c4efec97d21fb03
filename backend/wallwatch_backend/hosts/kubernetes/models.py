"""What the API server said of nodes and of pods with RNICs, kept so that pages and the search need not ask it."""

from sqlalchemy import Index
from sqlalchemy.orm import Mapped, mapped_column

from wallwatch_backend.kit.columns import At, Json
from wallwatch_backend.kit.database import Base


class KubernetesNodeRow(Base):
    """A node that is a host of the fleet, as it was when it was last read."""

    __tablename__ = "kubernetes_node"

    host: Mapped[str] = mapped_column(primary_key=True)
    zone: Mapped[str | None]
    instance_type: Mapped[str | None]
    labels: Mapped[Json]
    healthy: Mapped[str | None]  # status of the condition that Wallwatch sets: True, False, Unknown; null: not set
    reason: Mapped[str | None]
    tainted: Mapped[bool]  # by Wallwatch
    unschedulable: Mapped[bool]
    read_at: Mapped[At]


class KubernetesPodRow(Base):
    """The metadata of a pod that was given a virtual function."""

    __tablename__ = "kubernetes_pod"
    __table_args__ = (Index("kubernetes_pod_read", "read_at"),)

    pod: Mapped[str] = mapped_column(primary_key=True)  # namespace/name
    owner: Mapped[str | None]  # kind/name of what runs it, such as Deployment/trainer
    labels: Mapped[Json]
    found: Mapped[bool]  # false: it was gone before it could be read
    read_at: Mapped[At]
