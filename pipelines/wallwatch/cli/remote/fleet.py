"""`wallwatch fleet`: RNICs, their limits, and what is predicted."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from wallwatch.cli.remote import completion
from wallwatch.cli.remote.output import Column, Format, age, duration, field, percent
from wallwatch.cli.remote.running import (
    JsonOption,
    LimitOption,
    OutputOption,
    ProfileOption,
    WatchOption,
    connected,
    group,
    more_note,
    most,
    show,
)

app = group("The fleet: RNICs, their nearest limits, and forecasts.")

RackOption = Annotated[str | None, typer.Option(help="Only this rack.", autocompletion=completion.racks)]
ModelOption = Annotated[str | None, typer.Option(help="Only this model.")]

LIST = (
    field("host", "host"),
    field("pci", "pci"),
    field("rack", "rack"),
    field("model", "model"),
    field("nearest limit", "nearest_wall"),
    Column("left", lambda item: percent(item["headroom"])),
    field("symptoms", "symptoms"),
    Column("tx gbit/s", lambda item: _rate(item["tx_gbps"])),
    Column("rx gbit/s", lambda item: _rate(item["rx_gbps"])),
    Column("seen", lambda item: age(item["seen_at"])),
    field("cordoned", "cordoned"),
)
ONE = (
    *LIST[:4],
    field("driver", "driver"),
    field("firmware", "firmware"),
    *LIST[4:6],
    Column("symptoms", lambda item: [symptom["symptom"] for symptom in item["symptoms"] if symptom["until"] is None]),
    *LIST[7:],
    field("agent connected", "agent_connected"),
    Column("limits", lambda item: "\n".join(_limit(wall) for wall in item["walls"])),
)
FORECASTS = (
    field("host", "host"),
    field("pci", "pci"),
    field("rack", "rack"),
    field("limit", "label"),
    Column("reached in", lambda item: _when(item["likely_in_s"])),
    Column("earliest", lambda item: _when(item["earliest_in_s"])),
    Column("latest", lambda item: _when(item["latest_in_s"])),
    Column("chance", lambda item: percent(item["chance"])),
    Column("decline", lambda item: percent(item["decline_share"])),
    Column("decline in", lambda item: duration(item["decline_in_s"])),
    Column("made", lambda item: age(item["made_at"])),
)
COUNTS = (
    field("at a limit", "at_limit"),
    field("likely to reach one", "likely"),
    field("others", "others"),
    field("declining", "declining"),
)


def _rate(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"


def _when(seconds: float | None) -> str:
    return "now" if seconds == 0 else duration(seconds)


def _limit(wall: Any) -> str:
    if wall["value"] is None or wall["limit"] is None:
        return f"{wall['label']}: unknown"
    left = percent(wall["headroom"])
    return f"{wall['label']}: {wall['value']:.4g} of {wall['limit']:.4g} {wall['unit']}".rstrip() + f", {left} left"


@app.command("list")
def list_rnics(
    host: Annotated[str | None, typer.Option(help="Only this host.", autocompletion=completion.hosts)] = None,
    rack: RackOption = None,
    model: ModelOption = None,
    symptom: Annotated[str | None, typer.Option(help="Only RNICs with this active symptom, such as S1.")] = None,
    limit: LimitOption = 50,
    profile: ProfileOption = None,
    output: OutputOption = Format.table,
    as_json: JsonOption = False,
    watch: WatchOption = None,
) -> None:
    """List RNICs with their nearest limit."""
    query = {"host": host, "rack": rack, "model": model, "symptom": symptom}
    with connected(profile) as client:
        show(lambda: list(client.pages("/rnics", query, most(limit))), LIST, output, as_json, watch, more_note(limit))


@app.command("show")
def show_rnic(
    host: Annotated[str, typer.Argument(help="Name of the host.", autocompletion=completion.hosts)],
    pci: Annotated[str, typer.Argument(help="PCI address, such as 0000:3b:00.0.")],
    profile: ProfileOption = None,
    output: OutputOption = Format.table,
    as_json: JsonOption = False,
    watch: WatchOption = None,
) -> None:
    """Show an RNIC with all its limits."""
    from urllib.parse import quote

    with connected(profile) as client:
        show(lambda: client.get(f"/rnics/{quote(host, safe='')}/{quote(pci, safe=':.')}"), ONE, output, as_json, watch)


@app.command("forecasts")
def forecasts(
    within: Annotated[float, typer.Option(help="Minutes ahead.", min=0, max=60)] = 60,
    rack: RackOption = None,
    model: ModelOption = None,
    limit: LimitOption = 50,
    profile: ProfileOption = None,
    output: OutputOption = Format.table,
    as_json: JsonOption = False,
    watch: WatchOption = None,
) -> None:
    """List RNICs that are at a limit or likely to reach one soon, the soonest first."""
    query = {"within_s": within * 60, "rack": rack, "model": model}
    with connected(profile) as client:
        show(lambda: list(client.pages("/forecasts", query, most(limit))), FORECASTS, output, as_json, watch, more_note(limit))


@app.command("counts")
def counts(
    within: Annotated[float, typer.Option(help="Minutes ahead.", min=0, max=60)] = 60,
    rack: RackOption = None,
    model: ModelOption = None,
    profile: ProfileOption = None,
    output: OutputOption = Format.table,
    as_json: JsonOption = False,
    watch: WatchOption = None,
) -> None:
    """Count RNICs at a limit, likely to reach one, and declining."""
    query = {"within_s": within * 60, "rack": rack, "model": model}
    with connected(profile) as client:
        show(lambda: client.get("/forecasts/counts", query), COUNTS, output, as_json, watch)
