"""The file: one YAML (or JSON) document with a version and a section per kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from wallwatch.api_client.client import Client
from wallwatch.api_client.declared.policies import Policies
from wallwatch.api_client.declared.silences import Silences
from wallwatch.api_client.declared.slos import SloClasses, SloRules
from wallwatch.api_client.declared.steps import Item, Kind, Step
from wallwatch.api_client.declared.webhooks import Webhooks
from wallwatch.api_client.errors import WrongUsage

VERSION = 1


def kinds(with_urls: bool = False) -> list[Kind]:
    """All kinds, in the order of the file and of changes."""
    return [SloClasses(), SloRules(), Policies(), Webhooks(with_urls), Silences()]


SECTIONS = tuple(kind.section for kind in kinds())


def exported(client: Client, sections: Sequence[str], with_urls: bool = False) -> dict[str, Any]:
    """Return the document of a server."""
    document: dict[str, Any] = {"version": VERSION}
    for kind in kinds(with_urls):
        if kind.section in sections:
            document[kind.section] = kind.exported(client)
    return document


def read(text: str, environment: Mapping[str, str]) -> dict[str, list[Item]]:
    """Return the items of each section that the document has, checked."""
    import yaml

    try:
        document = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise WrongUsage(f"The file is not YAML: {error}") from error
    if not isinstance(document, dict) or document.get("version") != VERSION:
        raise WrongUsage(f"The file must begin with `version: {VERSION}`")
    unknown = sorted(set(map(str, document)) - {"version", *SECTIONS})
    if unknown:
        raise WrongUsage(f"Unknown section {', '.join(unknown)}; there are {', '.join(SECTIONS)}")
    return {kind.section: kind.checked(document[kind.section] or [], environment) for kind in kinds() if kind.section in document}


def steps(client: Client, wanted: Mapping[str, list[Item]], prune: bool) -> list[Step]:
    """Compare each section of the document with the server; sections that it does not have are left alone.

    SLO classes are deleted after the rules have changed, because a class that a rule assigns cannot be deleted.
    """
    found: list[Step] = []
    for kind in kinds():
        if kind.section in wanted:
            found += kind.steps(client, wanted[kind.section], prune)
    return sorted(found, key=lambda step: step.action == "delete")
