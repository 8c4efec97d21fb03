"""`wallwatch vnic ...`: promises to virtual functions, who breaks them, fair shares and simulations."""

from __future__ import annotations

import typer

from wallwatch.cli import vnic_shares, vnic_simulation

app = typer.Typer(help="Isolation of virtual functions: broken promises, victims, aggressors, fair shares.", no_args_is_help=True)

vnic_shares.register(app)
vnic_simulation.register(app)
