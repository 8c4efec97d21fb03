"""`wallwatch plan`: a mask plan from a flow dump, and the proof that two dumps treat every packet alike."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import typer

if TYPE_CHECKING:
    from wallwatch.domain.masks.dump import Dump
    from wallwatch.domain.masks.space import HeaderSpace
    from wallwatch.domain.planning.compare import Comparison

EQUIVALENT, DIFFERENT, BAD_INPUT = 0, 1, 2
MOST_SHOWN = 5
"""Lines that could not be read and are printed."""


def plan(
    flows: Path | None = typer.Option(
        None, "--flows", metavar="FILE", help="text of `ovs-appctl dpctl/dump-flows -m`; - is standard input"
    ),
    verify: tuple[Path, Path] | None = typer.Option(None, "--verify", metavar="BEFORE AFTER", help="prove two dumps equivalent"),
    as_json: bool = typer.Option(False, "--json", help="print one JSON object"),
) -> None:
    """Plan which masks an RNIC should try first, with the steps and their proof; or check two flow dumps against each other.

    Exit codes: 0 equivalent, 1 not equivalent or not decided, 2 the input cannot be used.
    """
    if (flows is None) == (verify is None):
        _refuse("give either --flows FILE or --verify BEFORE AFTER")
    if verify is not None:
        _verify(*verify, as_json)


def _verify(before: Path, after: Path, as_json: bool) -> None:
    from wallwatch.domain.masks.space import HeaderSpace
    from wallwatch.domain.planning.compare import NotComparable, compare

    space = HeaderSpace()
    dumps = [_read(file, space) for file in (before, after)]
    try:
        compared = compare(*dumps)
    except NotComparable as problem:
        for file, dump in zip((before, after), dumps, strict=True):
            _say_unread(file, dump)
        _refuse(str(problem))
    typer.echo(orjson.dumps(proof_json(compared), option=orjson.OPT_INDENT_2).decode() if as_json else proof_text(compared))
    raise typer.Exit(EQUIVALENT if compared.proof.verdict == "equivalent" else DIFFERENT)


def _read(file: Path, space: HeaderSpace) -> Dump:
    from wallwatch.domain.masks.dump import read_dump

    try:
        text = typer.get_text_stream("stdin").read() if str(file) == "-" else file.read_text(encoding="utf-8", errors="replace")
    except OSError as problem:
        _refuse(f"{file} cannot be read: {problem.strerror}")
    return read_dump(text, space)


def _say_unread(file: Path, dump: Dump) -> None:
    for bad in dump.bad[:MOST_SHOWN]:
        typer.echo(f"{file}, line {bad.line}: {bad.reason}: {bad.text}", err=True)
    if len(dump.bad) > MOST_SHOWN:
        typer.echo(f"{file}: {len(dump.bad) - MOST_SHOWN} more lines could not be read", err=True)


def _refuse(message: str) -> Any:
    typer.echo(f"wallwatch plan: {message}", err=True)
    raise typer.Exit(BAD_INPUT)


def proof_json(compared: Comparison) -> dict[str, Any]:
    """The proof as JSON: `equivalent`, `verdict`, `counterexample` and of how much."""
    example = compared.example
    return {
        "equivalent": compared.proof.verdict == "equivalent",
        "verdict": compared.proof.verdict,
        "reason": compared.proof.reason,
        "counterexample": None
        if example is None
        else {
            "packet": example.packet,
            "before": {"actions": example.before_actions, "flow": example.before and _flow(example.before)},
            "after": {"actions": example.after_actions, "flow": example.after and _flow(example.after)},
            "order": example.reading,
            "assumes": list(example.assumes),
        },
        "flows_before": compared.flows_before,
        "flows_after": compared.flows_after,
        "masks_before": compared.masks_before,
        "masks_after": compared.masks_after,
        "contested_pairs": compared.proof.contested,
        "regions_searched": compared.proof.searched,
        "opaque_fields": list(compared.opaque),
        "took_ms": round(compared.took_ms, 3),
    }


def _flow(flow: Any) -> dict[str, Any]:
    return {"line": flow.line, "ufid": flow.ufid, "match": flow.match}


def proof_text(compared: Comparison) -> str:
    """The proof for people."""
    before = f"{compared.flows_before} flows under {compared.masks_before} masks before"
    after = f"{compared.flows_after} under {compared.masks_after} after"
    contested = f"{compared.proof.contested} overlapping pairs with other actions"
    lines = []
    if compared.proof.verdict == "equivalent":
        lines.append("equivalent: every packet that a flow of either matches gets the same actions")
    elif compared.proof.verdict == "undecided":
        lines.append(f"not decided: {compared.proof.reason}")
    else:
        lines.append("not equivalent: there is a packet that is treated differently")
    lines.append(f"  {before}, {after}; {contested}; {compared.took_ms:.0f} ms")
    if compared.example is not None:
        lines += _example_lines(compared.example)
    if compared.opaque:
        lines.append("  not understood, and taken as conditions of which nothing is known: " + ", ".join(compared.opaque[:MOST_SHOWN]))
    return "\n".join(lines)


def _example_lines(example: Any) -> list[str]:
    lines = ["  packet:", *(f"    {path:20} {value}" for path, value in example.packet.items())]
    for when, flow, actions in (("before", example.before, example.before_actions), ("after", example.after, example.after_actions)):
        lines.append(f"  {when}: {actions}" + (f"   (line {flow.line}: {flow.match})" if flow else ""))
    if example.before and example.after:
        lines.append(f"  order: {example.reading}")
    if example.assumes:
        lines.append("  such a packet may not exist: it is assumed to meet, or not to meet, " + ", ".join(example.assumes))
    return lines
