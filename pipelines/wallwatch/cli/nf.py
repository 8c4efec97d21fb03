"""`wallwatch nf ...`: network functions that share a SmartNIC."""

from __future__ import annotations

import typer

from wallwatch.cli import nf_diagnose, nf_model, nf_place, nf_profile, nf_share

app = typer.Typer(help="Network functions that share a SmartNIC: predicted throughput, bottlenecks, placement.", no_args_is_help=True)
for part in (nf_model, nf_profile, nf_diagnose, nf_share, nf_place):
    part.register(app)
