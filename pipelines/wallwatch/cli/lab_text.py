"""Descriptions and reports of the lab as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

if TYPE_CHECKING:
    from wallwatch.domain.lab.device import Device, Parameter
    from wallwatch.lab.replay import Replayed

MOST_POINTS = 12
MANY_TESTS = 10**9
"""Numbers from here on are written as powers of ten."""


def print_description(device: Device, timeout_s: float, console: Console) -> None:
    """What a device says of itself."""
    console.print(f"[bold]{escape(device.name)}[/bold] {escape(device.description)}")
    table = Table("parameter", "kind", "values", "default", "component")
    for one in device.parameters:
        table.add_row(*(escape(text) for text in (one.name, one.kind, _values(one), _value(device.default[one.name]), one.component)))
    console.print(table)
    metrics = ", ".join(f"{one.name} ({one.unit or 'no unit'}, {one.better} is better)" for one in device.metrics)
    console.print(escape(f"metrics    {metrics or 'none'}"))
    console.print(escape(f"symptoms   {', '.join(device.symptoms) or 'none'}"))
    if device.topology:
        topology = device.topology
        console.print(
            escape(f"topology   {len(topology.edges)} edges from {', '.join(topology.entries)} to {', '.join(sorted(topology.exits))}")
        )
    console.print(f"memory     {'earlier tests may change later ones until a reset' if device.sequential else 'none stated'}")
    stated = "no time stated" if device.seconds_per_test is None else f"{device.seconds_per_test:g} s"
    console.print(f"test       {stated}; Wallwatch waits up to {timeout_s:g} s")
    console.print(f"brute force over five levels of each integer: {_count(device.brute_force)} tests")


def print_report(report: Mapping[str, Any], console: Console) -> None:
    """A campaign's report: state, cost, causes with their evidence, models, notes."""
    console.print(f"[bold]{escape(report['device'])}[/bold] {escape(report['description'])}")
    for line in _state(report):
        console.print(escape(line))
    for cause in report["causes"]:
        console.print()
        _print_cause(cause, report["baseline"]["metrics"], console)
    if report["models"]:
        console.print()
        _print_models(report["models"], console)
    for title, lines in (("next", report["next"]), ("note", report["notes"])):
        for line in lines:
            console.print(escape(f"{title}: {line}"))


def print_replay(replayed: Replayed, console: Console) -> None:
    """Whether a reproducer still behaves as the report says."""
    table = Table("configuration", "expected", "observed", "symptoms", "metrics")
    for one in replayed.runs:
        metrics = ", ".join(f"{name} {_number(value)}" for name, value in one.metrics.items())
        expected, observed = ("fails" if bad else "passes" for bad in (one.expected_bad, one.is_bad))
        table.add_row(one.name, expected, escape(one.error or observed), escape(", ".join(one.symptoms)), escape(metrics))
    console.print(table)
    console.print("still behaves as reported" if replayed.holds else "no longer behaves as reported")


def signal_of(cause: Mapping[str, Any]) -> str:
    """The symptom, or the metric that is degraded."""
    return str(cause["symptom"]) if cause["symptom"] else f"degradation of {cause['metric']}"


def condition_text(condition: Mapping[str, Any]) -> str:
    """One condition as people write it.

    >>> condition_text({"parameter": "order", "op": "before", "value": ["vf", "flow"]})
    'order: vf before flow'
    >>> thresholds = [{"at": {"lanes": "16"}, "value": 44}, {"at": {"lanes": "8"}, "value": 60}, {"at": {"lanes": "4"}, "value": None}]
    >>> condition_text({"parameter": "masks", "op": ">=", "value": 44, "moved_by": ["lanes"], "thresholds": thresholds})
    'masks >= 44, moved by lanes: 44 with lanes 16; 60 with lanes 8; never with lanes 4'
    """
    if condition["op"] == "before":
        first, second = condition["value"]
        return f"{condition['parameter']}: {_value(first)} before {_value(second)}"
    name = condition["parameter"] or condition["expression"]
    moved = f", moved by {', '.join(condition['moved_by'])}: {_thresholds(condition)}" if condition.get("moved_by") else ""
    return f"{name} {condition['op']} {_value(condition['value'])}{moved}"


def _thresholds(condition: Mapping[str, Any]) -> str:
    """Where the threshold was measured, and what it was there."""
    found = []
    for one in condition["thresholds"]:
        at = ", ".join(f"{name} {_value(value)}" for name, value in one["at"].items())
        found.append(f"{'never' if one['value'] is None else _value(one['value'])} with {at}")
    return "; ".join(found)


def _state(report: Mapping[str, Any]) -> Iterator[str]:
    if not report["complete"]:
        yield f"INCOMPLETE: {report['stopped']}"
    yield _varied(report)
    tests = report["tests"]
    cost = f"{tests} tests and resets ({report['resets']} resets) in {duration(report['seconds'])}, strategy {report['strategy']}"
    yield f"{cost}; {_effort(tests - report['resets'], int(report['brute_force']['tests']))}"
    baseline = report["baseline"]
    metrics = [
        f"{name} {_number(one['median'])} {one['unit']} (noise {_number(one['scale'])})" for name, one in baseline["metrics"].items()
    ]
    health = {True: "the default is healthy", False: "the default is NOT healthy", None: "the default was not judged"}[baseline["healthy"]]
    yield "; ".join([health, *metrics])
    noise = report["noise"]
    if noise["flip_rate"] or noise["sequential_decisions"]:
        yield f"the device is flaky: {noise['flip_rate']:.1%} of {noise['repeats']} repeats disagreed; verdicts rest on repeated tests"
    if report["memory"]:
        yield f"memory: {report['memory']['text']}"
    count = len(report["causes"])
    found = "no cause found" if not count else "1 cause found" if count == 1 else f"{count} causes found"
    yield f"{found}; {_covered(report['strength'], report['varied'])}" if report["strength"] else found


def _varied(report: Mapping[str, Any]) -> str:
    """Which parameters the search varied.

    >>> _varied({"varied": ["masks"], "fixed": ["mtu", "vfs"]})
    'varied masks only; the other 2 parameters kept their defaults'
    >>> _varied({"varied": ["masks", "mtu"], "fixed": []})
    'varied all 2 parameters'
    """
    varied, fixed = report["varied"], report["fixed"]
    if not fixed:
        return f"varied all {len(varied)} parameters" if len(varied) > 1 else "varied the only parameter"
    others = "the other parameter kept its default" if len(fixed) == 1 else f"the other {len(fixed)} parameters kept their defaults"
    return f"varied {', '.join(varied) or 'nothing'} only; {others}"


def _effort(tests: int, brute_force: int) -> str:
    """What brute force over the varied parameters would cost; it locates no limit, so a search may well take more.

    >>> _effort(71, 28125)
    'every combination of up to five values of each would take 28,125 tests, 396 times as many'
    >>> _effort(71, 5)
    'up to five values of each make 5 combinations; the other tests locate limits and confirm causes'
    """
    if tests > brute_force:  # such as a search for the exact limit of one parameter
        return f"up to five values of each make {_count(brute_force)} combinations; the other tests locate limits and confirm causes"
    times = f", {_count(brute_force // tests)} times as many" if 0 < 2 * tests <= brute_force else ""
    return f"every combination of up to five values of each would take {_count(brute_force)} tests{times}"


def _covered(strength: int, varied: Sequence[str]) -> str:
    """Up to which combinations nothing else can be wrong.

    >>> _covered(2, ["masks", "mtu", "vfs"])
    'every combination of the levels of any 2 of the 3 varied parameters is covered'
    >>> _covered(1, ["masks"])
    'every level of masks is covered'
    """
    if len(varied) == 1:
        return f"every level of {varied[0]} is covered"
    if strength == 1:
        return "every level of each varied parameter is covered, one at a time"
    if strength < len(varied):
        return f"every combination of the levels of any {strength} of the {len(varied)} varied parameters is covered"
    return f"every combination of the levels of the {len(varied)} varied parameters is covered"


def _print_cause(cause: Mapping[str, Any], baseline: Mapping[str, Any], console: Console) -> None:
    conditions = " and ".join(condition_text(one) for one in cause["conditions"]) or "always"
    console.print(f"[bold]{cause['id']}. {escape(signal_of(cause))}[/bold] when [bold]{escape(conditions)}[/bold]")
    for name, text in _evidence(cause, baseline):
        console.print(escape(f"   {name:12} {text}"), soft_wrap=True)


def _evidence(cause: Mapping[str, Any], baseline: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    inside, outside = cause["verification"]["inside"], cause["verification"]["outside"]
    predicted = f"{inside['agree']} of {inside['of']} inside and {outside['agree']} of {outside['of']} outside came true"
    unproven = "" if cause.get("proven", True) else "not proven; "
    yield "confidence", f"{unproven}{cause['confidence']:.0%}; predictions: {predicted}"
    if cause["components"]:
        yield "components", ", ".join(cause["components"])
    if cause["recognised"]:
        yield "recognised", f"this is {cause['recognised']['cause']}: {cause['recognised']['label']}"
    for one in cause["thresholds"]:
        yield (
            "threshold",
            f"{one['parameter']}: {_number(one['last_good'])} is good, {_number(one['first_bad'])} fails (step {one['step']})",
        )
    for name, one in cause["effect"].items():
        change = f" ({one['change']:+.0%})" if one.get("change") is not None else ""
        unit = baseline.get(name, {}).get("unit", "")
        yield "effect", f"{name} {_number(one.get('good'))} -> {_number(one.get('bad'))} {unit}{change}"
    if cause.get("recovers") is False:
        yield "recovery", "does not recover until a reset"
    for one in cause["permutation"]:
        verdict = "kept" if one["kept"] else "not shown to matter"
        yield "permutation", f"{one['parameter']}: {one['held']} of {one['pairs']} pairs followed it; {verdict}"
    for one in cause["sensitivity"]:
        yield "sensitivity", f"{one['parameter']}: {_points(one['points'])}"
    yield "fails", _config(cause["failing"])
    changed = {name: value for name, value in cause["passing"].items() if cause["failing"].get(name) != value}
    yield "passes", f"the same with {_config(changed)}" if changed else "no passing neighbour is known"


def _points(points: list[Mapping[str, Any]]) -> str:
    texts = [f"{_value(one['value'])} {'FAILS' if one['bad'] else 'good'}" for one in points]
    return ", ".join(texts[:MOST_POINTS]) + (f" and {len(texts) - MOST_POINTS} more" if len(texts) > MOST_POINTS else "")


def _print_models(models: list[Mapping[str, Any]], console: Console) -> None:
    table = Table("metric", "model", "parameters", "goodness", "left one out", title="performance", title_justify="left")
    for one in models:
        numbers = (_number(one["goodness"]), _number(one["leave_one_out"]))
        table.add_row(escape(one["metric"]), one["family"], escape(", ".join(one["parameters"])), *numbers)
    console.print(table)


def _config(config: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={_value(value)}" for name, value in config.items())


def _values(parameter: Parameter) -> str:
    if parameter.kind == "integer":
        scale = ", log scale" if parameter.logarithmic else ""
        step = f", step {parameter.step}" if parameter.step > 1 else ""
        return f"{parameter.minimum} to {parameter.maximum}{step}{scale} {parameter.unit}".strip()
    return (" -> " if parameter.kind == "sequence" else ", ").join(map(_value, parameter.values))


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    return "null" if value is None else _number(value) if isinstance(value, int | float) else str(value)


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return str(value) if isinstance(value, int) else f"{value:.4g}"


def _count(number: int) -> str:
    if number < MANY_TESTS:
        return f"{number:,}"
    digits = str(number)
    return f"{digits[0]}.{digits[1]}e{len(digits) - 1}"


def duration(seconds: float) -> str:
    """Seconds as people say them.

    >>> duration(3725)
    '1 h 2 min'
    """
    whole = round(seconds)
    if seconds < 60:
        return f"{seconds:.3g} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
