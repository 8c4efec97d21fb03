"""`wallwatch lab ...`: find what makes a device fall over, and at which value (docs/lab.md)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import orjson
import typer

from wallwatch.cli.lab_points import points
from wallwatch.cli.lab_running import ProgressLines, seconds_of, stop_signals

if TYPE_CHECKING:
    from wallwatch.domain.lab.device import Device
    from wallwatch.lab.options import Hooks

USAGE, INCOMPLETE, INTERRUPTED = 2, 3, 130

app = typer.Typer(help="Find which settings make an RNIC fall over, and at which value, with few tests.", no_args_is_help=True)

app.command("points")(points)

_DUT = typer.Option(
    ..., "--dut", help="a device that speaks dut/1 (docs/lab.md): its command, run without a shell, or tcp://HOST:PORT or unix:///PATH"
)
_JSON = typer.Option(False, "--json", help="print JSON")
_TIMEOUT = typer.Option(None, "--timeout", min=0.001, help="seconds for one test; by default 5 times what the device states, at least 5 s")
_FOLDER = typer.Argument(..., metavar="DIR", help="folder of a campaign")


@app.command("describe")
def describe(dut: str = _DUT, as_json: bool = _JSON) -> None:
    """Print the parameters, metrics, symptoms and topology of a device. Exit code 2: the device or its description cannot be used."""
    from wallwatch.lab.faults import BadDevice
    from wallwatch.lab.process import DeviceProcess

    try:
        process = DeviceProcess(dut, warn=_warn)
        described, device, timeout_s = process.describe(), process.device, process.timeout_s
    except BadDevice as error:
        _refuse(str(error))
    process.close()
    if as_json:
        _print_json(described)
        return
    from rich.console import Console

    from wallwatch.cli.lab_text import print_description

    print_description(device, timeout_s, Console(highlight=False))


@app.command("run")
def run(
    dut: str = _DUT,
    budget: int | None = typer.Option(None, "--budget", min=1, help="most tests and resets, retries included"),
    max_time: str | None = typer.Option(None, "--max-time", help="for instance 4h or 90s; the test that runs then is finished"),
    target: str | None = typer.Option(None, "--target", help="only this symptom or metric, for instance S6 or bw_gbps"),
    only: str | None = typer.Option(None, "--only", help="parameters that vary, separated by commas; the others keep their default"),
    strength: int = typer.Option(3, "--strength", min=1, max=6, help="cover every combination of the levels of so many parameters"),
    seed: int = typer.Option(1, "--seed", help="the same seed, options and answers give the same tests"),
    parallel: int = typer.Option(1, "--parallel", min=1, max=64, help="processes of the device that test at a time"),
    strategy: str = typer.Option("adaptive", "--strategy", help="adaptive, exhaustive, random, one-factor or pairwise"),
    timeout: float | None = _TIMEOUT,
    out: Path | None = typer.Option(None, "--out", help="folder for journal and report; by default ./lab-DEVICE-TIME"),
    as_json: bool = typer.Option(False, "--json", help="print only the report as JSON on stdout"),
) -> None:
    """Search for causes and print a report. Each test is in DIR/journal.jsonl before the next begins, so a killed run resumes.

    Exit code 0: done; 2: the options, the folder or the device's description cannot be used; 3: incomplete (budget, time, the device or the
    disk failed); 130 and 143: incomplete after Ctrl-C and SIGTERM. `wallwatch lab resume DIR` continues what is incomplete.
    """
    from wallwatch.domain.lab.tester import STRATEGIES
    from wallwatch.lab import campaign
    from wallwatch.lab.options import CampaignOptions

    chosen = next((one for one in STRATEGIES if one == strategy), None)
    if chosen is None:
        _refuse(f"--strategy {strategy}: choose from {', '.join(STRATEGIES)}")
    options = CampaignOptions(
        budget=budget,
        max_time_s=seconds_of(max_time),
        target=target,
        seed=seed,
        parallel=parallel,
        strategy=chosen,
        only=tuple(name.strip() for name in only.split(",") if name.strip()) if only else (),
        strength=strength,
        timeout_s=timeout,
    )
    _watched(lambda hooks: campaign.run(out, dut, options, hooks), as_json)


@app.command("resume")
def resume(
    folder: Path = _FOLDER,
    budget: int | None = typer.Option(None, "--budget", min=1, help="a new limit for tests and resets, those done included"),
    max_time: str | None = typer.Option(None, "--max-time", help="a new limit of time, earlier sessions included"),
    as_json: bool = typer.Option(False, "--json", help="print only the report as JSON on stdout"),
) -> None:
    """Continue a campaign that was killed, stopped or reached a limit. Finished tests are not repeated. Exit codes as of `run`."""
    from wallwatch.lab import campaign

    max_time_s = seconds_of(max_time)
    _watched(lambda hooks: campaign.resume(folder, hooks, budget, max_time_s), as_json)


@app.command("report")
def report(folder: Path = _FOLDER, as_json: bool = _JSON) -> None:
    """Print the report of a campaign. Exit code 2: there is none; 3: it is incomplete."""
    found = _report(folder)
    _print_report(found, as_json)
    if not found["complete"]:
        raise typer.Exit(INCOMPLETE)


@app.command("replay")
def replay(
    folder: Path = _FOLDER,
    case: int = typer.Option(1, "--case", help="number of the cause in the report"),
    dut: str | None = typer.Option(None, "--dut", help="another device, for instance with new firmware; by default the campaign's"),
    timeout: float | None = _TIMEOUT,
    as_json: bool = _JSON,
) -> None:
    """Run a cause's minimal reproducer and its passing neighbour again. Exit code 1: they no longer behave as reported; 2: unusable."""
    from wallwatch.lab.faults import BadDevice, DeviceGone
    from wallwatch.lab.journal import FILE_NAME, JournalError, read_journal
    from wallwatch.lab.process import DeviceProcess
    from wallwatch.lab.replay import replay as run_again

    found = _report(folder)
    try:
        command = dut if dut is not None else read_journal(folder / FILE_NAME).header["dut"]
        process = DeviceProcess(command, timeout, warn=_warn)
        try:
            replayed = run_again(found, case, process)
        finally:
            process.close()
    except (BadDevice, DeviceGone, JournalError) as error:
        _refuse(str(error))
    if as_json:
        _print_json(replayed.to_json())
    else:
        from rich.console import Console

        from wallwatch.cli.lab_text import print_replay

        print_replay(replayed, Console(highlight=False))
    if not replayed.holds:
        raise typer.Exit(1)


@app.command("device", context_settings={"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []})
def device(context: typer.Context, name: str | None = typer.Argument(None, help="a built-in device; without it they are listed")) -> None:
    """Serve a built-in device on stdin and stdout, for --dut 'wallwatch lab device NAME ...'; without NAME, list them."""
    from importlib import import_module

    module = import_module("wallwatch.lab.adaptors")
    adaptors: dict[str, str] = module.ADAPTORS
    if name is None or name == "--help":
        for known in sorted(adaptors):
            typer.echo(f"{known:10} {module.DESCRIPTIONS.get(known, '')}".rstrip())
        return
    if name not in adaptors:
        _refuse(f"no built-in device {name}: choose from {', '.join(sorted(adaptors)) or '(none)'}, or give an executable to --dut")
    place, _, function = adaptors[name].partition(":")
    raise typer.Exit(getattr(import_module(place), function)(context.args))


def _watched(work: Callable[[Hooks], dict[str, Any]], as_json: bool) -> None:
    """Run a campaign with progress and signals, print its report, and end with the exit code that `run` documents."""
    from wallwatch.lab.faults import BadDevice
    from wallwatch.lab.journal import JournalError, JournalFull
    from wallwatch.lab.options import Hooks

    lines = ProgressLines()

    def begin(folder: Path, device: Device) -> None:
        lines.say(f"{device.name}: {len(device.parameters)} parameters; journal and report in {folder}")

    with stop_signals(lines) as stop:
        hooks = Hooks(on_begin=begin, on_progress=lines.show, on_warning=lines.say, should_stop=stop.reason)
        try:
            found = work(hooks)
        except KeyboardInterrupt:
            lines.say("stopped at once, without a report; `wallwatch lab resume` continues the campaign")
            raise typer.Exit(stop.exit_code or INTERRUPTED) from None
        except JournalFull as error:
            lines.say(f"wallwatch lab: {error}")
            raise typer.Exit(INCOMPLETE) from None
        except (BadDevice, JournalError) as error:
            lines.close()
            _refuse(str(error))
        finally:
            lines.close()
    _print_report(found, as_json)
    if not found["complete"]:
        raise typer.Exit(stop.exit_code or INCOMPLETE)


def _report(folder: Path) -> dict[str, Any]:
    from wallwatch.lab.campaign import read_report
    from wallwatch.lab.journal import JournalError

    try:
        return read_report(folder)
    except JournalError as error:
        _refuse(str(error))


def _print_report(found: dict[str, Any], as_json: bool) -> None:
    if as_json:
        _print_json(found)
        return
    from rich.console import Console

    from wallwatch.cli.lab_text import print_report

    print_report(found, Console(highlight=False))


def _print_json(document: dict[str, Any]) -> None:
    typer.echo(orjson.dumps(document, option=orjson.OPT_INDENT_2).decode())


def _warn(line: str) -> None:
    typer.echo(f"wallwatch lab: {line}", err=True)


def _refuse(message: str) -> NoReturn:
    _warn(message)
    raise typer.Exit(USAGE)
