"""Who runs a pod, and its labels, by its metadata: pure."""

from typing import Any

_TEMPLATE_HASH = "pod-template-hash"


def path_of(pod: str) -> str | None:
    """Return the path of a pod in the API; None for what is no `namespace/name`, as a host may report anything.

    >>> path_of("training/worker-7")
    '/api/v1/namespaces/training/pods/worker-7'
    >>> [path_of(each) for each in ("worker-7", "a/../nodes", "a/b?x=1")]
    [None, None, None]
    """
    namespace, _, name = pod.partition("/")
    plain = all(part and part.replace("-", "").replace(".", "").isalnum() and part.strip(".") for part in (namespace, name))
    return f"/api/v1/namespaces/{namespace}/pods/{name}" if plain and pod.isascii() and len(pod) <= 320 else None


def owner_of(metadata: dict[str, Any]) -> str | None:
    """Return kind and name of what runs a pod. A ReplicaSet stands for the Deployment whose template hash it has in its name.

    >>> owner = {"kind": "ReplicaSet", "name": "web-5d9c", "controller": True}
    >>> owner_of({"ownerReferences": [owner], "labels": {"pod-template-hash": "5d9c"}})
    'Deployment/web'
    """
    references = [each for each in metadata.get("ownerReferences") or [] if each.get("controller")]
    if not references:
        return None
    kind, name = str(references[0].get("kind")), str(references[0].get("name"))
    template = (metadata.get("labels") or {}).get(_TEMPLATE_HASH)
    if kind == "ReplicaSet" and template and name.endswith(f"-{template}"):
        return f"Deployment/{name.removesuffix(f'-{template}')}"
    return f"{kind}/{name}"


def labels_of(metadata: dict[str, Any]) -> dict[str, str]:
    """Return the labels without the template's hash, which only machines read."""
    return {str(key): str(value) for key, value in (metadata.get("labels") or {}).items() if key != _TEMPLATE_HASH}
