"""The page about plans, from a run that is not one."""

from typing import Any

from tests.plans.cases import MIXED_SEEDS, PAIR, WINDOWS, cases
from tests.plans.document import document, figures


def window(bandwidth: float) -> dict[str, float]:
    figures = ("latency_us", "q_l", "q_r", "exact_share", "software_share", "queries_of_others", "missed_per_s", "inserted_per_s")
    return {"bandwidth_gbps": bandwidth, "sent_gbps": bandwidth, **dict.fromkeys(figures, 2.0)}


def plan(at_s: float) -> dict[str, Any]:
    cost = (
        "operations",
        "took_s",
        "newcomers",
        "in_software",
        "longest_in_software_s",
        "missed",
        "proof_ms",
        "plan_ms",
        "warmed",
        "likely",
    )
    expected = {"q_l": 0.1, "q_r": 0.1, "bandwidth_gbps": 160.0, "latency_us": 1.0}
    return {
        "at_s": at_s,
        "host": PAIR[0],
        "refused": {"File exists": 3},
        **{f"expected_{when}": expected for when in ("after", "low", "high")},
        **dict.fromkeys(cost, 4.0),
    }


def case(name: str) -> dict[str, Any]:
    bandwidth = 150.0 if name.startswith("with ") or name.endswith(" with") else 100.0
    plans = [plan(30.0)] if bandwidth > 100.0 or "max-idle" in name else []
    if name.startswith("mixed"):
        hosts = {"host01": window(bandwidth), "host02": window(90.0 if plans and name == f"mixed {MIXED_SEEDS[0]} with" else 100.0)}
        return {"hosts": hosts, "plans": plans, "not_worthwhile": 0, "cpu_s": 1.0}
    one = {host: window(bandwidth) if "max-idle" in name else {at: window(bandwidth) for at in WINDOWS} for host in PAIR}
    return {"windows": one, "plans": plans, "cpu_s": 1.0}


def test_gains_are_with_against_without_and_harm_is_counted() -> None:
    found = figures({name: case(name) for name in cases(15_000)}, 15_000)
    assert found["mean_gains"]["after"]["bandwidth_gain"] == 0.5
    assert found["models"]["CX-6"]["gain_met"] == 50.0 / 60.0
    mixed = found["mixed"]
    assert (mixed["cards"], mixed["planned"], mixed["harmed"], mixed["harmed_at_most"]) == (4, 2, 1, None)
    page = document(found)
    assert "| mean | | | | +50.0% |" in page
    assert "1 sent more than 5% less" in page
    assert "this run has fewer" not in page
    assert "each with 3,600 flows" in document({**found, "flows": 3600})
