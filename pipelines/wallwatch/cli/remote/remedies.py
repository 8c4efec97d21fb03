"""`wallwatch remedies`: what was requested, decisions on it, and the emergency stop."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from wallwatch.cli.remote import completion
from wallwatch.cli.remote.output import Column, Format, age, field, short_id
from wallwatch.cli.remote.running import (
    JsonOption,
    LimitOption,
    OutputOption,
    ProfileOption,
    WatchOption,
    YesOption,
    confirmed,
    connected,
    full_id,
    group,
    more_note,
    most,
    show,
)

app = group("Remedies: list, approve, reject, undo; the emergency stop.")

Remedy = Annotated[str, typer.Argument(help="Its id, or how it begins.", autocompletion=completion.remedies)]
Reason = Annotated[str, typer.Argument(help="Why; it is written to the audit log.")]

LIST = (
    Column("id", short_id),
    field("action", "action"),
    field("host", "host"),
    field("pci", "pci"),
    field("mode", "mode"),
    field("state", "state"),
    field("requested by", "requested_by"),
    field("decided by", "decided_by"),
    Column("age", lambda item: age(item["created_at"])),
    field("message", "message"),
)
ONE = (
    field("id", "id"),
    *LIST[1:8],
    Column("parameters", lambda item: "\n".join(f"{key} = {value}" for key, value in item["params"].items())),
    field("incident", "incident_id"),
    field("rollout", "rollout_id"),
    field("requested", "created_at"),
    field("applied", "applied_at"),
    Column("change confirmed", lambda item: _confirmed(item["change"])),
    Column("effect confirmed", lambda item: _confirmed(item["effect"])),
    field("can be undone", "undoable"),
    field("message", "message"),
)
ACTIONS = (
    field("action", "action"),
    field("scope", "scope"),
    field("risk", "risk"),
    field("needs approval", "needs_approval"),
    field("reversible", "reversible"),
    field("symptoms", "symptoms"),
    field("title", "title"),
)
CONTROL = (
    Column("stopped", lambda item: f"by {item['stop']['by']}: {item['stop']['reason']}" if item["stop"] else "no"),
    Column("hosts being changed", lambda item: f"{item['busy']['hosts']} of at most {item['busy']['most_hosts']}"),
    Column("open breakers", lambda item: [breaker["action"] for breaker in item["breakers"] if breaker["open"]] or "none"),
    field("waiting for approval", "awaiting_approval"),
)


def _confirmed(fact: Any) -> str:
    return "" if fact is None else fact["confirmed_at"] or "not yet"


@app.command("list")
def list_remedies(
    state: Annotated[list[str] | None, typer.Option(help="Such as pending; may be repeated.")] = None,
    host: Annotated[str | None, typer.Option(help="Only this host.", autocompletion=completion.hosts)] = None,
    incident: Annotated[str | None, typer.Option(help="Only for this incident (id).", autocompletion=completion.incidents)] = None,
    limit: LimitOption = 50,
    profile: ProfileOption = None,
    output: OutputOption = Format.table,
    as_json: JsonOption = False,
    watch: WatchOption = None,
) -> None:
    """List remedies, the newest first."""
    with connected(profile) as client:
        about = None if incident is None else full_id(client, "/incidents", incident)
        query = {"state": state, "host": host, "incident_id": about}
        show(lambda: list(client.pages("/remedies", query, most(limit))), LIST, output, as_json, watch, more_note(limit))


@app.command("show")
def show_remedy(
    remedy: Remedy,
    profile: ProfileOption = None,
    output: OutputOption = Format.table,
    as_json: JsonOption = False,
    watch: WatchOption = None,
) -> None:
    """Show a remedy, with its change and its effect apart."""
    with connected(profile) as client:
        path = f"/remedies/{full_id(client, '/remedies', remedy)}"
        show(lambda: client.get(path), ONE, output, as_json, watch)


@app.command("actions")
def actions(profile: ProfileOption = None, output: OutputOption = Format.table, as_json: JsonOption = False) -> None:
    """List what Wallwatch can change, with the risk of each."""
    with connected(profile) as client:
        show(lambda: client.get("/remedy-actions"), ACTIONS, output, as_json)


@app.command("approve")
def approve(remedy: Remedy, yes: YesOption = False, profile: ProfileOption = None) -> None:
    """Approve a remedy that another person requested."""
    _decide(profile, remedy, "approve", "Approve", yes)


@app.command("reject")
def reject(remedy: Remedy, reason: Reason, profile: ProfileOption = None) -> None:
    """Reject a remedy that waits for approval."""
    with connected(profile) as client:
        changed = client.send("POST", f"/remedies/{full_id(client, '/remedies', remedy)}/reject", {"reason": reason})
        _say(changed)


@app.command("undo")
def undo(remedy: Remedy, yes: YesOption = False, profile: ProfileOption = None) -> None:
    """Undo a remedy: the host restores what it changed."""
    _decide(profile, remedy, "undo", "Undo", yes)


def _decide(profile: str | None, remedy: str, verb: str, word: str, yes: bool) -> None:
    with connected(profile) as client:
        path = f"/remedies/{full_id(client, '/remedies', remedy)}"
        asked = client.get(path)
        confirmed(f"{word} {asked['action']} on {asked['host']} {asked['pci'] or ''}, requested by {asked['requested_by']}?", yes)
        _say(client.send("POST", f"{path}/{verb}"))


def _say(remedy: Any) -> None:
    typer.echo(f"{short_id(remedy)}  {remedy['state']}  {remedy['action']} on {remedy['host']}")


@app.command("status")
def status(
    profile: ProfileOption = None, output: OutputOption = Format.table, as_json: JsonOption = False, watch: WatchOption = None
) -> None:
    """Show whether remedies are stopped, how many hosts change, and which actions a breaker holds back."""
    with connected(profile) as client:
        show(lambda: client.get("/remedy-control"), CONTROL, output, as_json, watch)


@app.command("stop")
def stop(reason: Reason, profile: ProfileOption = None) -> None:
    """Stop all remedies of the fleet now (emergency stop)."""
    with connected(profile) as client:
        client.send("POST", "/remedy-control/stop", {"reason": reason})
    typer.echo("Remedies are stopped. `wallwatch remedies resume` lets them go on.")


@app.command("resume")
def resume(yes: YesOption = False, profile: ProfileOption = None) -> None:
    """End the emergency stop."""
    with connected(profile) as client:
        confirmed("End the emergency stop of all remedies?", yes)
        client.send("POST", "/remedy-control/resume")
    typer.echo("Remedies may run again.")
