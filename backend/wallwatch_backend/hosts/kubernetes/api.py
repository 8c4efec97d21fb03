"""The Kubernetes API server, asked with the token of the backend's own service account.

A handful of calls, so httpx and the documented JSON do; the paths and bodies are checked against the published schemas in the tests.
"""

import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Literal

import httpx
from prometheus_client import Counter

from wallwatch_backend.settings import Settings

CALLS = Counter("wallwatch_kubernetes_calls", "Calls of the Kubernetes API server; code 0: no answer", ["call", "code"])

STRATEGIC_PATCH = "application/strategic-merge-patch+json"
"""Merges lists of objects by their key: conditions by their type."""
MERGE_PATCH = "application/merge-patch+json"
"""Replaces lists as a whole."""
METADATA_ONLY = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
"""The API server then leaves out what an object specifies, such as the environment of a pod."""

_TIMEOUT_S = 10.0
_LOG_CHARACTERS = 300

Document = dict[str, Any]


class KubernetesError(Exception):
    """A call of the API server that did not succeed."""


class KubernetesSilent(KubernetesError):
    """No answer, or one that is not Kubernetes': the server is unreachable, or something else answers at its address."""


class KubernetesRefused(KubernetesError):
    """The API server answered that it will not; `code` is its status: 403 forbidden, 404 not found, 409 conflict."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(f"{code}: {text}"[:_LOG_CHARACTERS])
        self.code = code


class KubernetesApi:
    """One connection to the API server."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client

    async def call(
        self,
        name: str,
        method: Literal["GET", "POST", "PATCH"],
        path: str,
        *,
        params: Mapping[str, str | int] | None = None,
        body: Document | None = None,
        kind: str = "application/json",
        accept: str = "application/json",
    ) -> Document:
        """Return the object that the API server answers.

        Parameters
        ----------
        name
            Of the call, in the metrics.
        kind
            Content type of the body: for PATCH it says how to merge.

        Raises
        ------
        KubernetesRefused
            When the API server answers with an error.
        KubernetesSilent
            When there is no answer, or none of an API server.
        """
        headers = {"accept": accept, "content-type": kind} if body is not None else {"accept": accept}
        try:
            answer = await self._client.request(method, path, params=params, json=body, headers=headers)
        except (OSError, ValueError, httpx.HTTPError) as error:
            CALLS.labels(name, 0).inc()
            raise KubernetesSilent(f"{type(error).__name__}: {error}"[:_LOG_CHARACTERS]) from error
        CALLS.labels(name, answer.status_code).inc()
        document = _object_in(answer)
        if answer.is_error:
            # The API server, and what is in front of it, refuse in plain text, too: 429 when there is too much to do, 502 from a proxy.
            known = document or {}
            raise KubernetesRefused(
                answer.status_code, str(known.get("message") or known.get("reason") or answer.reason_phrase or "no reason given")
            )
        if document is None:
            raise KubernetesSilent(f"{method} {path} was answered by something that is not an API server")
        return document


def _object_in(answer: httpx.Response) -> Document | None:
    try:
        document = answer.json()
    except ValueError:
        return None
    return document if isinstance(document, dict) else None


@asynccontextmanager
async def connected(settings: Settings) -> AsyncIterator[KubernetesApi]:
    """Connect with the present token and authority: both files change while the server runs.

    Raises
    ------
    KubernetesSilent
        When the files cannot be read, as outside of Kubernetes.
    """
    try:
        token = settings.kubernetes_token_file.read_text(encoding="ascii").strip()
        tls = ssl.create_default_context(cafile=str(settings.kubernetes_ca_file))
    except (OSError, ValueError) as error:
        raise KubernetesSilent(f"{type(error).__name__}: {error}"[:_LOG_CHARACTERS]) from error
    async with httpx.AsyncClient(
        base_url=settings.kubernetes_api_url.rstrip("/"),
        headers={"authorization": f"Bearer {token}", "user-agent": "wallwatch"},
        verify=tls,
        timeout=_TIMEOUT_S,
        trust_env=False,
    ) as client:
        yield KubernetesApi(client)
