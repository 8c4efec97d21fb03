"""Agents in Kubernetes enrol with the token of their service account, so that a new node needs nothing by hand.

The API server signs such a token for one pod and says in its answer to a TokenReview on which node that pod runs (Kubernetes 1.30 and
later). So an agent gets the name of its own node and no other, and the API server vouches for it.
"""

from dataclasses import dataclass
from typing import Any

import structlog

from wallwatch_backend.hosts.enrolment.errors import BadEnrolmentToken, KubernetesUnreachable
from wallwatch_backend.hosts.kubernetes.api import KubernetesError, connected
from wallwatch_backend.settings import Settings

log = structlog.get_logger(__name__)

AUDIENCE = "wallwatch"
"""Of the tokens: one that was made for the API server itself is refused here."""
_PATH = "/apis/authentication.k8s.io/v1/tokenreviews"
_NODE = "authentication.kubernetes.io/node-name"
_POD = "authentication.kubernetes.io/pod-name"
_PARTS = 3  # of a JSON Web Token


@dataclass(frozen=True)
class Pod:
    """The pod to which a token belongs, and its node, as the API server says."""

    name: str
    node: str


def token_of(given: str) -> str | None:
    """Return the service account's token in an enrolment token; None if it has none. What follows is the agent's: the server's authority.

    >>> token_of("eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln.0123")
    'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln'
    >>> token_of("wwe_abc.0123") is None
    True
    """
    parts = given.split(".")
    return ".".join(parts[:_PARTS]) if given.startswith("eyJ") and len(parts) >= _PARTS else None


async def pod_of(settings: Settings, token: str) -> Pod:
    """Ask the API server whose token this is.

    Raises
    ------
    BadEnrolmentToken
        When it is not valid, or not of a pod of the service account that may enrol.
    KubernetesUnreachable
        When the API server does not answer, or does not let this server ask.
    """
    if settings.kubernetes_service_account is None:
        raise BadEnrolmentToken("This server takes no tokens of service accounts: WALLWATCH_KUBERNETES_SERVICE_ACCOUNT is not set.")
    status = await _review(settings, token)
    if status.get("authenticated") is not True or AUDIENCE not in status.get("audiences", []):
        raise BadEnrolmentToken("The Kubernetes API server does not accept the token: it is expired, or for another audience.")
    user = status.get("user", {})
    namespace, _, name = settings.kubernetes_service_account.partition("/")
    if user.get("username") != f"system:serviceaccount:{namespace}:{name}":
        raise BadEnrolmentToken(f"Only pods of the service account {settings.kubernetes_service_account} may enrol.")
    node, pod = (_only(user.get("extra", {}).get(key)) for key in (_NODE, _POD))
    if node is None or pod is None:
        raise BadEnrolmentToken("The token names no node: it is not of a running pod, or Kubernetes is older than 1.30.")
    return Pod(f"{namespace}/{pod}", node)


def _only(values: Any) -> str | None:
    return values[0] if isinstance(values, list) and len(values) == 1 and isinstance(values[0], str) and values[0] else None


async def _review(settings: Settings, token: str) -> dict[str, Any]:
    """Return the status of a TokenReview."""
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": token, "audiences": [AUDIENCE]}}
    try:
        async with connected(settings) as api:
            document = await api.call("review_token", "POST", _PATH, body=body)
    except KubernetesError as error:
        log.warning("token_review_failed", error=f"{type(error).__name__}: {error}")
        raise KubernetesUnreachable("The server's log has the cause. The agent tries again.") from error
    status = document.get("status")
    if not isinstance(status, dict):
        raise KubernetesUnreachable("The Kubernetes API server gave an answer without a status.")
    return status
