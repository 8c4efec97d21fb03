"""Reads the JSON that newer `perftest` tools write next to their table (`--out_json`): one object for each message size.

It does not include the unit of the bandwidth: MiB/s, or Gbit/s if requested. The message rate identifies it, because both come
from the same count.
"""

from __future__ import annotations

import json
import re
from typing import Any

from wallwatch.domain.perftest.rows import Unusable
from wallwatch.domain.perftest.runs import GBPS, Output, Row, Run, title_of

_UNQUOTED = re.compile(r"^\s*(sl|report_min_bw)\s*:.*$", re.MULTILINE)
"""Lines that the tools write without quotation marks, which is not valid JSON."""
_ALIKE = 0.03
"""Rounding of small numbers."""


def looks_like_json(text: str) -> bool:
    return text.lstrip("\ufeff \t\r\n").startswith("{")


def parse_json(text: str, name: str) -> Output:
    """Read one file of JSON objects.

    >>> out = parse_json('''{"test_info": {"test": "RDMA_Write_BW_Test", "Number_of_qps": 4, "Mtu": 4096}, "results":
    ... {"MsgSize": 65536, "n_iterations": 5000, "BW_peak": 91.2, "BW_average": 91.1, "MsgRate": 0.173759}}''', "run.json")
    >>> [(r.verb, r.quantity, r.queue_pairs, r.rows[0].message_bytes, r.rows[0].average_gbps) for r in out.runs], out.problems
    ([('write', 'bandwidth', 4, 65536, 91.1)], [])
    """
    out = Output(name)
    decoder, rest = json.JSONDecoder(), _UNQUOTED.sub("", text.lstrip("\ufeff")).strip()
    while rest:
        try:
            found, end = decoder.raw_decode(rest)
        except ValueError:
            out.problems.append(f"{name}: its JSON is truncated or damaged; the complete results before that are used")
            break
        rest = rest[end:].lstrip(" \t\r\n,")
        _take(found, out)
    if not out.runs:
        out.problems.append(f"{name}: not perftest results; expected objects with test_info and results, as --out_json writes them")
    return out


def _take(found: Any, out: Output) -> None:
    info, results = (found.get(key) if isinstance(found, dict) else None for key in ("test_info", "results"))
    if not isinstance(info, dict) or not isinstance(results, dict):
        return
    title = title_of(str(info.get("test", "")).replace("_", " "))
    if title is None:
        out.problems.append(f"{out.name}: the test {info.get('test')!r} must be send, write, read or atomic")
        return
    verb, bidirectional = title
    quantity = "latency" if any(key.startswith("t_") for key in results) else "bandwidth"
    try:
        row = _row(results)
    except Unusable as problem:
        out.problems.append(f"{out.name}: a result skipped: {problem}")
        return
    except (KeyError, TypeError, ValueError, OverflowError):
        out.problems.append(f"{out.name}: a result skipped: no message size, or values that are not numbers")
        return
    run = Run(verb, "latency" if quantity == "latency" else "bandwidth", bidirectional, _whole(info.get("Number_of_qps")),
              _whole(info.get("Mtu")), str(info.get("Connection_type") or "") or None, [row])  # fmt: skip
    last = out.runs[-1] if out.runs else None
    if last is not None and (last.verb, last.quantity, last.bidirectional, last.queue_pairs, last.mtu) == (
        run.verb, run.quantity, run.bidirectional, run.queue_pairs, run.mtu,
    ):  # fmt: skip
        last.rows.append(row)
    else:
        out.runs.append(run)


def _row(results: dict[str, Any]) -> Row:
    size = int(results["MsgSize"])
    average, peak, rate = (_positive(results.get(key)) for key in ("BW_average", "BW_peak", "MsgRate"))
    times = [_positive(results.get(key)) for key in ("t_avg", "t_typical")]
    if size <= 0:
        raise ValueError(size)
    if average is None and times == [None, None]:
        raise Unusable(f"at {size} bytes its bandwidth or latency is 0 or not a number: nothing was measured")
    if average is not None:
        factor = _factor(average, rate, size)
        if factor is None:
            raise Unusable(f"at {size} bytes the message rate does not show whether the bandwidth is in MiB/s or Gbit/s")
        average, peak = average * factor, None if peak is None else peak * factor
    return Row(
        size, _whole(results.get("n_iterations")), average, peak, rate, _positive(results.get("t_avg")),
        _positive(results.get("t_typical")), _positive(results.get("percentile_99")),
    )  # fmt: skip


def _factor(average: float, rate: float | None, size: int) -> float | None:
    """Gbit/s for one of the unit that the bandwidth is in."""
    if rate is None:
        return None
    counted = rate * size * 8 / 1e3
    for factor in (1.0, GBPS["MiB/sec"]):
        if abs(average * factor - counted) <= _ALIKE * counted + 0.005 * factor:
            return factor
    return None


def _positive(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1e15 else None


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
