"""`wallwatch vnic pccp` and `wallwatch vnic simulate`: PicNIC's rate control on a trace, and what-if scenarios."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import typer

from wallwatch.cli.vnic_input import as_float, read_json, refuse

if TYPE_CHECKING:
    from wallwatch.domain.isolation.simulation.pccp import PccpParameters
    from wallwatch.domain.isolation.simulation.report import Variant

DELAYS = ("delay_in_us", "delay_in", "delays_us", "delays", "epochs")
REQUIRED = ("threshold_us", "first_rate")
OPTIONAL = ("beta", "delta", "n_ai", "n_hai", "ewma")


def register(app: typer.Typer) -> None:
    """Add the commands to the group."""
    app.command("pccp")(pccp)
    app.command("simulate")(simulate)


def pccp(
    file: Path = typer.Argument(metavar="FILE", help="JSON: {threshold_us, first_rate, delay_in: [...]}, or a list of them; - is stdin"),
    as_json: bool = typer.Option(False, "--json", help="print the same object or list with rates"),
    recover_old_rate: bool = typer.Option(False, "--recover-old-rate", help="recover to the rate before a decrease (the paper's text)"),
) -> None:
    """Run PCCP's rate control (PicNIC, Algorithm 1, literally) over the delays of a trace: one rate per epoch.

    Optional: beta (0.8), delta (1% of first_rate), n_ai (5), n_hai (10), ewma (0.5: weight of the newest delay). Exit code 2: bad input.
    """
    from wallwatch.domain.isolation.simulation.pccp import rates

    read = read_json("pccp", file)
    traces = read if isinstance(read, list) else [read]
    answers = []
    for at, trace in enumerate(traces):
        where = f"{file}: trace {at}" if isinstance(read, list) else str(file)
        parameters, first_rate, delays = _trace(where, trace, recover_old_rate)
        answers.append({**trace, "rates": rates(delays, first_rate, parameters)})
    if as_json:
        typer.echo(orjson.dumps(answers if isinstance(read, list) else answers[0], default=as_float).decode())
        return
    for at, answer in enumerate(answers):
        typer.echo(f"trace {at}: {len(answer['rates'])} epochs")
        for epoch, rate in enumerate(answer["rates"]):
            typer.echo(f"  {epoch:>6} {rate:>16.6f}")


def _trace(where: str, trace: Any, recover_old_rate: bool) -> tuple[PccpParameters, float, list[float]]:
    """Parameters, first rate and delays; refuses what is missing or out of range."""
    from wallwatch.domain.isolation.simulation.pccp import PccpParameters

    if not isinstance(trace, dict):
        refuse("pccp", f"{where}: an object with {', '.join(REQUIRED)} and delay_in is required")
    nested = [trace[name] for name in ("parameters", "params") if isinstance(trace.get(name), dict)]
    given = {**nested[0], **trace} if nested else trace
    numbers = {name: _number(where, name, given[name]) for name in (*REQUIRED, *OPTIONAL) if given.get(name) is not None}
    for name in REQUIRED:
        if not numbers.get(name):
            refuse("pccp", f"{where}: {name} must be a number above 0")
    if not 0 < numbers.get("ewma", 1.0) <= 1:
        refuse("pccp", f"{where}: ewma must be above 0 and at most 1: it is the weight of the newest delay")
    if numbers.get("beta", 0.0) > 1:
        refuse("pccp", f"{where}: beta must be at most 1")
    delays = next((given[name] for name in DELAYS if name in given), None)
    if not isinstance(delays, list):
        refuse("pccp", f"{where}: delay_in must be a list with one delay in microseconds per epoch")
    first_rate = numbers.pop("first_rate")
    options: dict[str, Any] = numbers
    parameters = PccpParameters(**options, recover_old_rate=recover_old_rate)
    return parameters, first_rate, [_delay(where, at, one) for at, one in enumerate(delays)]


def _number(where: str, name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | Decimal) or value < 0:
        refuse("pccp", f"{where}: {name} must be a number of at least 0")
    return float(value)


def _delay(where: str, at: int, value: object) -> float:
    if isinstance(value, dict):
        value = next((value[name] for name in DELAYS if name in value), None)
    return _number(where, f"the delay of epoch {at}", value)


def simulate(
    file: Path = typer.Argument(metavar="FILE", help="scenario as JSON: VFs, demands, costs, mechanisms, what_if; - is stdin"),
    as_json: bool = typer.Option(False, "--json", help="print JSON"),
) -> None:
    """Simulate the VFs of an RNIC with and without PicNIC's mechanisms, and what a change would do (docs/what-if.md).

    Deterministic: the same file gives the same figures. Exit code 2: a scenario that cannot be run.
    """
    from wallwatch.domain.isolation.simulation.report import simulate as run
    from wallwatch.domain.isolation.simulation.scenario_file import BadScenario, read_scenario

    try:
        scenario = read_scenario(read_json("simulate", file))
    except BadScenario as problem:
        refuse("simulate", f"{file}: {problem}")
    variants = run(scenario)
    if as_json:
        typer.echo(orjson.dumps({"seed": scenario.seed, "variants": [asdict(variant) for variant in variants]}).decode())
    else:
        typer.echo("\n\n".join(_text(variant) for variant in variants))


def _text(variant: Variant) -> str:
    titles = ("VF", "offered", "sent", "received kpps", "Mbit/s", "drops/s", "p50", "p99 us", "CPU", "promise")
    widths = (12, 10, 10, 15, 10, 10, 8, 9, 6, 18)
    lines = [f"{variant.changes}; mechanisms: {variant.mechanisms}", _row(titles, widths)]
    for name, vf in variant.vfs.items():
        rates = [f"{rate:.1f}" for rate in (vf.offered_kpps, vf.sent_kpps, vf.received_kpps, vf.received_mbps)]
        delays = ["-" if delay is None else f"{delay:.1f}" for delay in (vf.delay_p50_us, vf.delay_p99_us)]
        drops = f"{vf.nic_drops_per_s + vf.queue_drops_per_s:.0f}"
        lines.append(_row((name, *rates, drops, *delays, f"{vf.cpu_share:.0%}", vf.promise), widths))
    if variant.egress is not None:
        lines.append(f"  sending side: at most {variant.egress.wheel_occupancy} packets waited in the timing wheel")
        lines += [f"    {name:12}{flow.mbps:>9.1f} Mbit/s, {flow.drops} drops" for name, flow in variant.egress.flows.items()]
    return "\n".join(lines)


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  " + f"{cells[0]:{widths[0]}}" + "".join(f"{cell:>{width}}" for cell, width in zip(cells[1:], widths[1:], strict=True))
