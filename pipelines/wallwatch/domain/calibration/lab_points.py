"""Hands the tests of a search to calibration: bandwidth and latency under known masks (docs/calibration.md)."""

from __future__ import annotations

from collections.abc import Sequence

from wallwatch.domain.calibration.points import Measured
from wallwatch.domain.lab.device import Config, as_integer
from wallwatch.domain.lab.models import Test
from wallwatch.domain.perftest.runs import Quantity, Row, Run, Verb

EGRESS, INGRESS = "masks_egress", "masks_ingress"
BANDWIDTH, LATENCY = "bw_gbps", "latency_us"
"""Names of parameters and metrics with a meaning for calibration, as `fleetsim dut` and the adaptors of real hosts use them."""


def lab_points(tests: Sequence[Test], healthy: Config, verb: Verb, message_bytes: int) -> list[Measured]:
    """The tests in which nothing but the masks differs from the healthy configuration, as measurements for `calibrate`.

    Masks are used evenly, so that n of them make (n - 1) / 2 lookups per packet on average (paper, section 4.2).

    Parameters
    ----------
    tests : sequence of (configuration, metrics)
    healthy : Config
    verb : Verb
    message_bytes : int
        Of the traffic of the tests; a device's description says neither.

    Returns
    -------
    list of Measured
        One for each pair of masks and metric, with the values of all its tests, of which calibration takes the median: a baseline that
        was repeated counts once. Empty where the device has no masks of both directions.
    """
    if not {EGRESS, INGRESS} <= healthy.keys():
        return []
    found: dict[tuple[float, float, Quantity], Measured] = {}

    def add(number: int, quantity: Quantity, row: Row) -> None:
        q_l, q_r = ((as_integer(tests[number - 1][0][name]) - 1) / 2 for name in (EGRESS, INGRESS))
        source = f"lab test {number}"
        found.setdefault((q_l, q_r, quantity), Measured(source, q_l, q_r, Run(verb, quantity, rows=[]))).run.rows.append(row)

    for number, (config, metrics) in enumerate(tests, 1):
        if any(config[name] != value for name, value in healthy.items() if name not in (EGRESS, INGRESS)):
            continue
        if metrics.get(BANDWIDTH, 0) > 0:
            add(number, "bandwidth", Row(message_bytes, None, average_gbps=metrics[BANDWIDTH]))
        if metrics.get(LATENCY, 0) > 0:
            add(number, "latency", Row(message_bytes, None, average_us=metrics[LATENCY]))
    return list(found.values())
