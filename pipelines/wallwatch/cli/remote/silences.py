"""`wallwatch silences`: list, create and end silences and maintenance windows."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer

from wallwatch.api_client.errors import WrongUsage
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

app = group("Silences and maintenance windows: list, create, end.")

Silence = Annotated[str, typer.Argument(help="Its id, or how it begins.", autocompletion=completion.silences)]

LIST = (
    Column("id", short_id),
    field("kind", "kind"),
    field("state", "state"),
    Column("matchers", lambda item: [f"{matcher['name']}{matcher['op']}{matcher['value']}" for matcher in item["matchers"]]),
    field("starts", "starts_at"),
    field("ends", "ends_at"),
    Column("end", lambda item: age(item["ends_at"])),
    field("incidents", "incidents"),
    field("created by", "created_by"),
    field("reason", "reason"),
)

MATCHER = re.compile(r"(?P<name>[a-z_]+)(?P<op>=~|!~|!=|=)(?P<value>.*)", re.DOTALL)
DURATION = re.compile(r"(\d{1,5})(min|m|h|d)")
UNITS = {"m": timedelta(minutes=1), "min": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1)}


def matcher(text: str) -> dict[str, str]:
    """Read a matcher as Alertmanager's tools write it.

    >>> matcher("host=~gpu-.*")
    {'name': 'host', 'op': '=~', 'value': 'gpu-.*'}
    """
    read = MATCHER.fullmatch(text)
    if read is None:
        raise WrongUsage(f"{text!a} is not a matcher such as host=gpu-07, rack!=r3 or symptom=~'S1|S2'")
    return read.groupdict()


def moment(text: str, now: datetime) -> str:
    """Read a time, or a duration from now on.

    >>> moment("2h", datetime(2026, 1, 1, tzinfo=UTC)), moment("2026-01-01T08:00Z", datetime(2026, 1, 1, tzinfo=UTC))
    ('2026-01-01T02:00:00+00:00', '2026-01-01T08:00:00+00:00')
    """
    if length := DURATION.fullmatch(text):
        return (now + int(length[1]) * UNITS[length[2]]).isoformat()
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        time = None
    if time is None or time.tzinfo is None:
        raise WrongUsage(f"{text!a} is neither a duration (30m, 2h, 3d) nor a time with its zone (2026-01-31T08:00Z)")
    return time.isoformat()


@app.command("list")
def list_silences(
    expired: Annotated[bool, typer.Option("--all", "-a", help="Expired ones too.")] = False,
    limit: LimitOption = 50,
    profile: ProfileOption = None,
    output: OutputOption = Format.table,
    as_json: JsonOption = False,
    watch: WatchOption = None,
) -> None:
    """List silences, latest end first."""
    query = {"state": None if expired else ["pending", "active"]}
    with connected(profile) as client:
        show(lambda: list(client.pages("/silences", query, most(limit))), LIST, output, as_json, watch, more_note(limit))


@app.command("show")
def show_silence(silence: Silence, profile: ProfileOption = None, output: OutputOption = Format.table, as_json: JsonOption = False) -> None:
    """Show a silence."""
    with connected(profile) as client:
        path = f"/silences/{full_id(client, '/silences', silence)}"
        show(lambda: client.get(path), LIST, output, as_json)


@app.command("create")
def create(
    matchers: Annotated[list[str], typer.Argument(help="Such as rack=r3 or host=~'gpu-.*'; all must match.")],
    reason: Annotated[str, typer.Option("--reason", "-r", help="Why.")],
    until: Annotated[str, typer.Option(help="Its end: 30m, 2h or 3d from its start, or a time with its zone.")] = "2h",
    since: Annotated[str | None, typer.Option("--from", help="Its start, likewise; default: now.")] = None,
    maintenance: Annotated[bool, typer.Option("--maintenance", help="A maintenance window rather than a silence.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what it would suppress.")] = False,
    profile: ProfileOption = None,
) -> None:
    """Create a silence, and print its id."""
    now = datetime.now(UTC)
    start = None if since is None else moment(since, now)
    wanted = [matcher(text) for text in matchers]
    body = {
        "kind": "maintenance" if maintenance else "silence",
        "matchers": wanted,
        "starts_at": start,
        "ends_at": moment(until, now if start is None else datetime.fromisoformat(start)),
        "reason": reason,
    }
    with connected(profile) as client:
        if dry_run:
            found = client.send("POST", "/silences/preview", {"matchers": wanted})
            typer.echo(f"It would suppress {found['incidents']} incidents; it selects {found['rnics']} RNICs of {found['hosts']} hosts.")
            return
        typer.echo(client.send("POST", "/silences", body)["id"])


@app.command("end")
def end(silences: Annotated[list[str], typer.Argument(autocompletion=completion.silences)], profile: ProfileOption = None) -> None:
    """End silences now; a pending one is deleted."""
    with connected(profile) as client:
        for silence in silences:
            found = full_id(client, "/silences", silence)
            client.send("DELETE", f"/silences/{found}")
            typer.echo(f"{found[:8]}  ended")
