"""Temporal logic: how fast formulas compile, and how many events per second a monitor processes over columns. One core.

`coded`: events are letters already, one step each. `gathered`: events with times, of which those of one subject and time become one step.
`records`: decoded records, that is 128-bit keys, times and codes of kinds, of which a third sets no proposition.
`edge`: the collector's runner, by Go's own benchmarks: table steps, events with the text of a ufid, bytes per subject.
"""

import os
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import orjson
from tests.bench.columnar.columns import Columns
from tests.bench.columnar.records import Records
from tests.bench.report import report

from wallwatch.domain.ltl.gaps import widened
from wallwatch.domain.ltl.monitor import compiled
from wallwatch_local.paths import REPOSITORY

POLICY = "G(FL_OFFLD -> X FE_CREATE) & (!FE_CREATE U FL_OFFLD)"
EVENTS = 50_000_000
RECORDS = 20_000_000
RUNS = 3


def compilation() -> dict[str, float]:
    """Of the formulas of the reference data, where it is there."""
    place = os.environ.get("WALLWATCH_EXTERNAL_DATA", "none")
    if place in ("", "none"):
        return {}
    formulas = [one["formula"] for one in orjson.loads((Path(place) / "ltl/ltl3_examples.json").read_bytes())["formulas"]]
    taken = []
    for formula in formulas:
        begin = time.process_time()
        compiled(formula)
        taken.append((time.process_time() - begin) * 1000)
    return {"compile_formulas": len(taken), "compile_median_ms": statistics.median(taken), "compile_slowest_ms": max(taken)}


def columns(subjects: int) -> dict[str, float]:
    """Millions of events per second of CPU time, the median of some runs."""
    rng = np.random.default_rng(1)
    machine = widened(compiled(POLICY))
    subject = rng.integers(0, subjects, EVENTS, dtype=np.uint32)
    letter = rng.integers(0, 1 << len(machine.propositions), EVENTS, dtype=np.uint16)
    at = np.arange(EVENTS, dtype=np.int64)
    warm = Columns(machine, subjects)
    warm.advance(subject[:1], letter[:1])
    warm.gather(subject[:1], at[:1], letter[:1])
    rates: dict[str, list[float]] = {"coded": [], "gathered": []}
    for _ in range(RUNS):
        one, other = Columns(machine, subjects), Columns(machine, subjects)
        begin = time.process_time()
        one.advance(subject, letter)
        middle = time.process_time()
        other.gather(subject, at, letter)
        rates["coded"].append(EVENTS / (middle - begin) / 1e6)
        rates["gathered"].append(EVENTS / (time.process_time() - middle) / 1e6)
    size = f"{subjects // 1_000_000}m_subjects"
    return {f"{name}_million_events_per_s_{size}": statistics.median(values) for name, values in rates.items()}


def decoded(subjects: int) -> dict[str, float]:
    """Millions of decoded records per second of CPU time, the median of some runs."""
    rng = np.random.default_rng(2)
    machine = widened(compiled(POLICY))
    letters = [machine.letter(frozenset(names)) for names in (["FL_OFFLD"], ["FE_CREATE"], [])]
    ids = rng.integers(0, 1 << 63, (subjects, 2), dtype=np.uint64)
    keys = ids[rng.integers(0, subjects, RECORDS)]
    at = np.arange(RECORDS, dtype=np.int64)
    kinds = rng.integers(0, len(letters), RECORDS).astype(np.uint8)
    Records(machine, letters, subjects).take(keys[:1], at[:1], kinds[:1])
    rates = []
    for _ in range(RUNS):
        runner = Records(machine, letters, subjects)
        begin = time.process_time()
        runner.take(keys, at, kinds)
        rates.append(RECORDS / (time.process_time() - begin) / 1e6)
    return {f"records_million_per_s_{subjects // 1000}k_subjects": statistics.median(rates)}


def catalogue() -> dict[str, float]:
    """Seconds of CPU time for all policies of the catalogue, read, checked and compiled; those of a process that does nothing else."""
    program = (
        "import time; from wallwatch.domain.policies import load; begin = time.process_time(); "
        "[load.machine(one.formula) for one in load.policies().values()]; print(time.process_time() - begin)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return {"catalogue_compile_s": float(done.stdout)}


def edge() -> dict[str, float]:
    """Medians of Go's benchmarks; rates are per second of CPU time."""
    command = [
        "go",
        "test",
        "-mod=readonly",
        "-run",
        "^$",
        "-bench",
        ".",
        "-benchtime",
        "2s",
        "-count",
        str(RUNS),
        "-cpu",
        "1",
        "./internal/ltl",
    ]
    done = subprocess.run(command, cwd=REPOSITORY / "collectors", capture_output=True, text=True, check=False)
    found: dict[str, list[float]] = {}
    for name, value, unit in re.findall(r"^Benchmark(\S+)\s.*?([\d.]+) (M\w+/cpu-s|B/subject)", done.stdout, re.MULTILINE):
        of = re.sub(r"\W+", "_", f"{name.removesuffix('-1')} {unit.replace('M', 'million ')}").lower()
        found.setdefault(f"edge_{of}", []).append(float(value))
    if done.returncode != 0 or not found:
        raise RuntimeError(f"{' '.join(command)} ended with code {done.returncode}:\n{done.stdout}{done.stderr}")
    return {name: statistics.median(values) for name, values in found.items()}


def main() -> None:
    """Measure and report."""
    figures = compilation() | catalogue() | edge()
    for subjects in (1_000_000, 100_000_000):
        figures |= columns(subjects)
    for subjects in (100_000, 1_000_000):
        figures |= decoded(subjects)
    report("ltl", **figures, events=EVENTS)


if __name__ == "__main__":
    main()
