"""`wallwatch predict`: bandwidth and latency of an RNIC model at given mask lookups per packet."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import orjson
import typer

if TYPE_CHECKING:
    from wallwatch.domain.performance.parameters import Performance


def predict(
    profile: str = typer.Option(..., "--profile", "-p", help="RNIC model: CX-6, cx6, ConnectX-6, 15b3:101d, ..."),
    ql: float = typer.Option(..., "--ql", help="mean lookups per packet in the local egress chain, at least 0"),
    qr: float = typer.Option(..., "--qr", help="mean lookups per packet in the remote ingress chain, at least 0"),
    calibration: Path | None = typer.Option(
        None, "--calibration", help="output of `wallwatch calibrate --json` whose fit replaces the profile's parameters"
    ),
    as_json: bool = typer.Option(False, "--json", help="print one JSON object"),
) -> None:
    """Predict bandwidth and latency from mask lookups per packet, with intervals (the model of docs/calibration.md)."""
    from wallwatch.domain.catalogue.load import profiles
    from wallwatch.domain.catalogue.names import profile_named
    from wallwatch.domain.performance.predict import predict as predicted

    if calibration is not None and not calibration.is_file():
        typer.echo(f"wallwatch predict: file {calibration} does not exist", err=True)
        raise typer.Exit(2)
    named = profile_named(profile)
    if named is None:
        typer.echo(f"wallwatch predict: unknown profile {profile!r} (expected one of {', '.join(profiles())})", err=True)
        raise typer.Exit(2)
    found = profiles()[named]
    try:
        result = predicted(found.performance if calibration is None else _fitted(calibration), ql, qr)
    except ValueError as problem:
        typer.echo(f"wallwatch predict: {problem}", err=True)
        raise typer.Exit(2) from None
    bandwidth, latency = result.bandwidth_gbps, result.latency_us
    if as_json:
        body = {
            "profile": found.id,
            "calibration": None if calibration is None else calibration.name,
            "ql": ql,
            "qr": qr,
            "bandwidth_gbps": round(bandwidth.value, 3),
            "bandwidth_gbps_lower": round(bandwidth.lower, 3),
            "bandwidth_gbps_upper": round(bandwidth.upper, 3),
            "latency_us": round(latency.value, 4),
            "latency_us_lower": round(latency.lower, 4),
            "latency_us_upper": round(latency.upper, 4),
            "interval_level": result.level,
            "interval_basis": result.basis,
            "extrapolated": result.extrapolated,
        }
        typer.echo(orjson.dumps(body, option=orjson.OPT_INDENT_2).decode())
        return
    typer.echo(f"{found.title} ({found.id}) at Q_l = {ql:g}, Q_r = {qr:g}")
    typer.echo(f"  bandwidth  {bandwidth.value:8.1f} Gbit/s   {result.level:.0%} interval {bandwidth.lower:.1f} to {bandwidth.upper:.1f}")
    typer.echo(f"  latency    {latency.value:8.2f} us       {result.level:.0%} interval {latency.lower:.2f} to {latency.upper:.2f}")
    typer.echo(f"  intervals: {result.basis}")
    if result.extrapolated:
        typer.echo("  extrapolated: more lookups per packet than were measured for the profile")


def _fitted(file: Path) -> Performance:
    from wallwatch.domain.calibration.result import Calibration
    from wallwatch.domain.performance.parameters import Performance

    try:
        found = Calibration.model_validate_json(file.read_bytes())
    except (OSError, ValueError):
        raise ValueError(f"{file} is not the output of `wallwatch calibrate --json`") from None
    if found.candidate is None:
        raise ValueError(f"{file} holds a refused calibration: {' '.join(found.reasons)}")
    return Performance(**found.candidate.model_dump())
