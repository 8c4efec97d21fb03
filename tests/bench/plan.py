"""Mask plans: how long planning and proving take for 1,000 to 15,000 flows, reading the dump apart. One core, CPU time.

`plan` is everything from parsed flows to steps, expected effect and cost; `proof` is that the steps lead to an equivalent set of rules.
`verify` proves a dump equal to itself in another order; `overlapping` has wildcards in all other fields, so that rules overlap a lot, and
`widened` is the time to the counter-example where one prefix was made wider.
"""

import random
import statistics
import time
from collections.abc import Callable
from typing import Any

from tests.bench.dumps import dump
from tests.bench.report import report

from wallwatch.domain.catalogue.load import profiles
from wallwatch.domain.masks.dump import Dump, read_dump
from wallwatch.domain.masks.space import HeaderSpace
from wallwatch.domain.planning import plan as planning
from wallwatch.domain.planning.compare import Comparison, compare, compare_flows

SIZES = (1_000, 5_000, 10_000, 15_000)
MASKS = 400
RUNS = 3


def timed(action: Callable[[], Any]) -> tuple[float, Any]:
    """CPU time in ms, median of some runs, and the last result."""
    taken = []
    result = None
    for _ in range(RUNS):
        begin = time.process_time()
        result = action()
        taken.append((time.process_time() - begin) * 1000)
    return statistics.median(taken), result


def read(text: str, space: HeaderSpace) -> Dump:
    found = read_dump(text, space)
    assert not found.bad
    return found


def planned(flows: int) -> dict[str, float]:
    """One size: reading, planning, proving, and what the plan is worth."""
    text = dump(flows, MASKS)
    read_ms, found = timed(lambda: read(text, HeaderSpace()))
    proving: list[float] = []

    def proof(*arguments: Any, **options: Any) -> Comparison:
        begin = time.process_time()
        result = compare_flows(*arguments, **options)
        proving.append((time.process_time() - begin) * 1000)
        return result

    planning.compare_flows = proof  # type: ignore[attr-defined]  # its share of the whole
    both_ms, made = timed(lambda: planning.make_plan(found, profiles()["CX-6"]))
    planning.compare_flows = compare_flows  # type: ignore[attr-defined]
    assert made.proven
    proof_ms = statistics.median(proving)
    size = f"{flows // 1000}k"
    return {
        f"read_ms_{size}": read_ms,
        f"plan_ms_{size}": both_ms - proof_ms,
        f"proof_ms_{size}": proof_ms,
        f"steps_{size}": len(made.steps),
        f"q_l_before_{size}": made.before.q_l or 0.0,
        f"q_l_after_{size}": made.then.q_l or 0.0,
        f"bandwidth_gain_{size}": made.gain or 0.0,
        f"latency_gain_{size}": made.latency_gain or 0.0,
    }


def verified(flows: int, exact: bool) -> dict[str, float]:
    """Two dumps in different orders, and one with a prefix that was made wider."""
    lines = dump(flows, MASKS, addresses_exact=exact).splitlines()
    turned = list(lines)
    random.Random(2).shuffle(turned)
    space = HeaderSpace()
    before, after = read("\n".join(lines), space), read("\n".join(turned), space)
    at = next(row for row, line in enumerate(turned) if "/255.255.255." in line)
    turned[at] = turned[at].replace("/255.255.255.", "/255.255.0.", 1)
    wider = read("\n".join(turned), space)
    same_ms, same = timed(lambda: compare(before, after))
    other_ms, other = timed(lambda: compare(before, wider))
    assert same.proof.verdict == "equivalent"
    assert other.proof.verdict == "different"
    kind = "" if exact else "_overlapping"
    return {f"verify_ms_{flows // 1000}k{kind}": same_ms, f"verify_ms_{flows // 1000}k{kind}_widened": other_ms}


def main() -> None:
    """Measure and report."""
    figures: dict[str, float] = {}
    for flows in SIZES:
        figures |= planned(flows)
    for exact in (True, False):
        figures |= verified(10_000, exact)
    report("plan", **figures, masks=MASKS, runs=RUNS)


if __name__ == "__main__":
    main()
