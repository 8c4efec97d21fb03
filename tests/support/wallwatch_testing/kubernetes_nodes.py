"""What tests of Kubernetes' nodes share: RNICs of a host, and what the API shows of its node."""

from typing import Any

import httpx

from wallwatch_testing.kubernetes_cluster import StandInCluster
from wallwatch_testing.real_cluster import RealCluster

PCI, OTHER = "0000:3b:00.0", "0000:5e:00.0"

Cluster = StandInCluster | RealCluster


def shown(viewer: httpx.Client, host: str) -> dict[str, Any]:
    """The node on the page of the RNIC."""
    answer = viewer.get(f"/api/v1/rnics/{host}/{PCI}")
    assert answer.status_code == 200, answer.text
    node: dict[str, Any] = answer.json()["node"]
    return node


def search(viewer: httpx.Client, q: str) -> dict[str, Any]:
    answer = viewer.get("/api/v1/search", params={"q": q})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found
