"""`python -m wallwatch_backend.captures.analysis_process FILE`: one analysis, with limits of its own, in a process of its own.

It reads the options as JSON from standard input and writes JSON lines: `{"progress": 0.4}` as it goes, then
`{"result": ..., "summary": ..., "series": [...]}` or `{"problem": "..."}`. A file that makes it run out of memory or time
ends this process only.
"""

import contextlib
import os
import resource
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

import orjson

from wallwatch.domain.transport.analysis import CaptureAnalysis
from wallwatch.domain.transport.containers import read_frames
from wallwatch.domain.transport.frames import CaptureError, FrameBlock, ReadReport
from wallwatch.domain.transport.options import OptionError, analysis_options
from wallwatch.domain.transport.queue_pairs import SeriesOfQueuePair
from wallwatch.domain.transport.results import Analysis

MOST_ENTRIES = 5_000
"""Of each list of the result: what a page can show, and a database row can hold."""
MOST_SERIES = 60
PROGRESS_EVERY_S = 0.5
_OMITTABLE = ("retransmissions", "violations", "bad_icrc_frames", "qps")


def main() -> None:
    """Analyse the file that the first argument names."""
    given = orjson.loads(sys.stdin.buffer.read())
    limits = given["limits"]
    _limit(limits["memory_bytes"], limits["cpu_s"])
    try:
        options = analysis_options(**given["options"], series=True)
        _say(_analysed(Path(sys.argv[1]), options))
    except (CaptureError, OptionError) as problem:
        _say({"problem": str(problem)})
    except MemoryError:
        _say({"problem": f"the analysis needs more than {limits['memory_bytes'] >> 20} MB of memory: cut the capture into pieces"})


def _limit(memory_bytes: int, cpu_s: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s + 5))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    with contextlib.suppress(OSError):
        os.nice(10)


def _analysed(path: Path, options: Any) -> dict[str, Any]:
    report = ReadReport()
    analysis = CaptureAnalysis(report, options)
    with path.open("rb") as stream:
        for block in _reporting(read_frames(stream, report), stream, max(path.stat().st_size, 1)):
            analysis.add(block)
    result = analysis.result()
    series = analysis.series()
    packets = {(row.source, row.destination, row.qpn, row.network): row.packets for row in result.qps}
    rows = [_series(row, packets.get((row.source, row.destination, row.qpn, row.network), 0)) for row in series[:MOST_SERIES]]
    return {"result": bounded(result), "summary": _summary(result), "series": rows}


def _reporting(blocks: Iterator[FrameBlock], stream: IO[bytes], size: int) -> Iterator[FrameBlock]:
    said = time.monotonic()
    for block in blocks:
        yield block
        if time.monotonic() - said >= PROGRESS_EVERY_S:
            said = time.monotonic()
            _say({"progress": round(min(stream.tell() / size, 1), 3)})


def bounded(result: Analysis) -> dict[str, Any]:
    """The result with at most `MOST_ENTRIES` entries in each list, and how many were left out."""
    whole = asdict(result)
    omitted = {}
    for name in _OMITTABLE:
        omitted[name] = max(0, len(whole[name]) - MOST_ENTRIES)
        whole[name] = whole[name][:MOST_ENTRIES]
    corrected = whole["half_rtt"]["corrected"]
    omitted["corrected"] = max(0, len(corrected) - MOST_ENTRIES)
    whole["half_rtt"]["corrected"] = corrected[:MOST_ENTRIES]
    whole["migreq_zero_qpns"] = whole["migreq_zero_qpns"][:MOST_ENTRIES]
    whole["timeouts"] = [{**row, "intervals_ns": row["intervals_ns"][:100]} for row in whole["timeouts"][:MOST_ENTRIES]]
    whole["notification_points"] = whole["notification_points"][:MOST_ENTRIES]
    return {**whole, "omitted": omitted}


def _summary(result: Analysis) -> dict[str, Any]:
    return {
        "frames": result.frames,
        "roce": result.roce,
        "rc_qps": result.rc_qps,
        "retransmissions": len(result.retransmissions),
        "timeouts": sum(found.kind == "timeout" for found in result.retransmissions),
        "violations": len(result.violations),
        "bad_icrc_frames": len(result.bad_icrc_frames),
        "conforms": result.conforms,
        "truncated": result.truncated,
    }


def _series(row: SeriesOfQueuePair, packets: int) -> tuple[dict[str, Any], dict[str, Any]]:
    whole = asdict(row)
    # A resend's first packet may be missing among thinned points; its mark stands for it. Times count from the first of all.
    times = [*(time for time, _ in row.points), *(time for time, *_ in row.resent), *(time for time, _ in row.nacks), *row.cnps]
    start = min(times)
    label = {key: whole.pop(key) for key in ("qpn", "source", "destination", "network", "responses")}
    label |= {"retransmissions": len(row.resent), "packets": packets}
    body = {"start_ns": str(start), "stride": row.stride, "cnps": [time - start for time in row.cnps]}
    for name in ("points", "resent", "losses", "nacks"):
        body[name] = [(entry[0] - start, *entry[1:]) for entry in getattr(row, name)]
    return label, body


def _say(message: dict[str, Any]) -> None:
    sys.stdout.buffer.write(orjson.dumps(message) + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
