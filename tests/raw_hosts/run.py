"""Runs cases, several at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from multiprocessing import get_context

from tests.raw_hosts.cases import all_cases
from tests.raw_hosts.play import play
from tests.raw_hosts.verdict import Verdict, judge


def run_case(name: str, seed: int = 0) -> Verdict:
    """Play and judge one case; `seed` is added to its own."""
    case = next(one for one in all_cases() if one.name == name)
    case = replace(case, seed=case.seed + seed)
    return judge(case, play(case))


def run_cases(names: Sequence[str], processes: int = 0, seed: int = 0, done: Callable[[Verdict], None] = lambda _: None) -> list[Verdict]:
    """Run cases over all cores, or `processes`; the results are in the order of the names."""
    processes = processes or os.cpu_count() or 1
    if processes == 1 or len(names) == 1:
        verdicts = []
        for name in names:
            verdicts.append(run_case(name, seed))
            done(verdicts[-1])
        return verdicts
    by_name: dict[str, Verdict] = {}
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        for future in as_completed([pool.submit(run_case, name, seed) for name in names]):
            verdict = future.result()
            by_name[verdict.case] = verdict
            done(verdict)
    return [by_name[name] for name in names]
