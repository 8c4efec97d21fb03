"""`wallwatch incidents`: list, read and work on incidents."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wallwatch.cli.remote import completion
from wallwatch.cli.remote.output import Column, Format, age, field, short_id
from wallwatch.cli.remote.running import (
    JsonOption,
    LimitOption,
    OutputOption,
    ProfileOption,
    WatchOption,
    connected,
    full_id,
    group,
    more_note,
    most,
    show,
)

if TYPE_CHECKING:
    from wallwatch.api_client.client import Client

app = group("Incidents: list, acknowledge, resolve, comment, assign, link tickets.")

UNRESOLVED = ("open", "acknowledged", "suppressed", "reopened")
STATES = (*UNRESOLVED, "resolved")

Incident = Annotated[str, typer.Argument(help="Its id, or how it begins.", autocompletion=completion.incidents)]
Incidents = Annotated[list[str], typer.Argument(help="Ids, or how they begin.", autocompletion=completion.incidents)]

LIST = (
    Column("id", short_id),
    field("severity", "severity"),
    field("state", "state"),
    Column("age", lambda item: age(item["opened_at"])),
    field("host", "subject"),
    field("symptoms", "symptoms"),
    field("cause", "cause"),
    field("assignee", "assignee"),
    Column("tickets", lambda item: [f"{ticket['system']}:{ticket['key']}" for ticket in item["external_refs"]]),
    field("title", "title"),
)
ONE = (
    field("id", "id"),
    field("title", "title"),
    field("severity", "severity"),
    field("state", "state"),
    field("opened", "opened_at"),
    field("hosts", "hosts"),
    field("rnic", "pci"),
    field("rack", "rack"),
    field("model", "model"),
    field("symptoms", "symptoms"),
    field("likely cause", "top_cause"),
    field("assignee", "assignee"),
    Column("tickets", lambda item: "\n".join(f"{ref['system']} {ref['key']} {ref['url'] or ''}" for ref in item["external_refs"])),
    field("explanation", "explanation"),
    Column("remedies", lambda item: "\n".join(f"{remedy['action']}: {remedy['why']}" for remedy in item["remedies"])),
    Column("timeline", lambda item: "\n".join(_event(event) for event in item["timeline"])),
)


def _event(event: Any) -> str:
    return f"{event['at']}  {event['kind']}  {event['actor']}  {event['text']}".rstrip()


@app.command("list")
def list_incidents(
    state: Annotated[
        list[str] | None, typer.Option(help="May be repeated; default: all unresolved.", autocompletion=completion.words(*STATES))
    ] = None,
    severity: Annotated[
        str | None, typer.Option(help="Only warning or critical ones.", autocompletion=completion.words("warning", "critical"))
    ] = None,
    host: Annotated[str | None, typer.Option(help="Only of this host.", autocompletion=completion.hosts)] = None,
    rack: Annotated[str | None, typer.Option(help="Only of this rack.", autocompletion=completion.racks)] = None,
    symptom: Annotated[list[str] | None, typer.Option(help="Such as S1; may be repeated.")] = None,
    cause: Annotated[str | None, typer.Option(help="Only with this likely cause, such as C2.")] = None,
    assignee: Annotated[str | None, typer.Option(help="Only of this user.")] = None,
    unassigned: Annotated[bool, typer.Option("--unassigned", help="Only those of nobody who can sign in.")] = False,
    ticket: Annotated[str | None, typer.Option(help="Only with a link to this ticket (its key).")] = None,
    search: Annotated[str | None, typer.Option("--search", "-q", help="Words in titles and summaries.")] = None,
    everything: Annotated[bool, typer.Option("--all", "-a", help="Resolved ones too.")] = False,
    limit: LimitOption = 50,
    profile: ProfileOption = None,
    output: OutputOption = Format.table,
    as_json: JsonOption = False,
    watch: WatchOption = None,
) -> None:
    """List incidents, those opened last first."""
    query = {
        "state": state or (None if everything else list(UNRESOLVED)),
        "severity": severity,
        "host": host,
        "rack": rack,
        "symptom": symptom,
        "cause": cause,
        "assignee": assignee,
        "unassigned": unassigned or None,
        "ticket": ticket,
        "q": search,
    }
    with connected(profile) as client:
        show(lambda: list(client.pages("/incidents", query, most(limit))), LIST, output, as_json, watch, more_note(limit))


@app.command("show")
def show_incident(
    incident: Incident,
    profile: ProfileOption = None,
    output: OutputOption = Format.table,
    as_json: JsonOption = False,
    watch: WatchOption = None,
) -> None:
    """Show an incident with its explanation, suggested remedies and timeline."""
    with connected(profile) as client:
        path = f"/incidents/{full_id(client, '/incidents', incident)}"
        show(lambda: client.get(path), ONE, output, as_json, watch)


@app.command("ack")
def acknowledge(incidents: Incidents, profile: ProfileOption = None) -> None:
    """Acknowledge incidents: somebody works on them."""
    _each(profile, incidents, lambda client, path: client.send("POST", f"{path}/acknowledge"))


@app.command("unack")
def unacknowledge(incidents: Incidents, profile: ProfileOption = None) -> None:
    """Revert the acknowledgement of incidents."""
    _each(profile, incidents, lambda client, path: client.send("POST", f"{path}/unacknowledge"))


@app.command("resolve")
def resolve(incidents: Incidents, profile: ProfileOption = None) -> None:
    """Resolve incidents by hand."""
    _each(profile, incidents, lambda client, path: client.send("POST", f"{path}/resolve"))


@app.command("reopen")
def reopen(incidents: Incidents, profile: ProfileOption = None) -> None:
    """Reopen resolved incidents."""
    _each(profile, incidents, lambda client, path: client.send("POST", f"{path}/reopen"))


@app.command("comment")
def comment(incident: Incident, text: Annotated[str, typer.Argument(help="What to add.")], profile: ProfileOption = None) -> None:
    """Add a comment to the timeline of an incident."""
    _each(profile, [incident], lambda client, path: client.send("POST", f"{path}/comments", {"text": text}))


@app.command("assign")
def assign(
    incident: Incident,
    user: Annotated[str | None, typer.Argument(help="User name; none: nobody.", autocompletion=completion.assignees)] = None,
    profile: ProfileOption = None,
) -> None:
    """Assign an incident to a user, or to nobody."""
    _each(profile, [incident], lambda client, path: client.send("PATCH", path, {"assignee": user}))


@app.command("link")
def link(
    incident: Incident,
    system: Annotated[str, typer.Argument(help="Ticket system, such as jira.")],
    key: Annotated[str, typer.Argument(help="Key of the ticket.")],
    url: Annotated[str | None, typer.Option(help="Where the ticket is.")] = None,
    profile: ProfileOption = None,
) -> None:
    """Link a ticket to an incident, next to tickets of other systems. Linking it again changes nothing."""
    _each(profile, [incident], lambda client, path: _linked(client, path, {"system": system, "key": key, "url": url}))


def _linked(client: Client, path: str, ticket: dict[str, str | None]) -> Any:
    """Add the ticket; If-Match makes sure that nobody else's link is lost: then the command is refused, and may be repeated."""
    body, etag = client.read(path)
    others = [ref for ref in body["external_refs"] if (ref["system"], ref["key"]) != (ticket["system"], ticket["key"])]
    if [*others, ticket] == body["external_refs"]:
        return body
    return client.send("PATCH", path, {"external_refs": [*others, ticket]}, etag)


def _each(profile: str | None, incidents: list[str], change: Callable[[Client, str], Any]) -> None:
    with connected(profile) as client:
        paths = [f"/incidents/{full_id(client, '/incidents', incident)}" for incident in incidents]
        for path in paths:
            changed = change(client, path)
            typer.echo(f"{short_id(changed)}  {changed['state']}  {changed['title']}")
