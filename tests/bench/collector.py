"""CPU and memory of the collector on a host with 4 RNICs at an interval of 10 s.

WALLWATCH_BENCH_COLLECTOR_S is the length of the measurement (120 s), WALLWATCH_BENCH_COLLECTOR_SCENARIO the host: collector-load has 10,000
offloaded flows in all (the default), collector-soak has 10,000 on each RNIC. The simulator is another process and is not counted.
"""

import os
import tempfile
import time
from pathlib import Path

from tests.bench.processes import usage
from tests.bench.report import percentile, report

from wallwatch_testing.collector import FILE_OUTPUT, INPUTS, collecting, messages
from wallwatch_testing.simulator import simulating
from wallwatch_testing.stack import wait_for

INTERVAL_S = 10
SCENARIO = os.environ.get("WALLWATCH_BENCH_COLLECTOR_SCENARIO", "collector-load")
LENGTH_S = float(os.environ.get("WALLWATCH_BENCH_COLLECTOR_S", "120"))
WARM_UP_S = 25


def main() -> None:
    """Measure and report."""
    with tempfile.TemporaryDirectory(prefix="ww-") as folder, simulating(Path(folder), SCENARIO) as [host]:
        output = host / "taken.json"

        def flows() -> int:
            found = [message for message in messages(output) if message.name == "ovs_datapath"]
            return int(found[-1].fields.get("offloaded_flows", 0)) if found else 0

        more = '  buffer_strategy = "disk"\n  buffer_directory = "buffer"\n'
        with collecting(host, host.name, INPUTS, FILE_OUTPUT.format(path=output), f"{INTERVAL_S}s", more) as process:
            wait_for("9,000 offloaded flows", lambda: flows() >= 9_000, timeout_s=180, pause_s=5)
            time.sleep(WARM_UP_S)
            before, begin = usage(process.pid), time.monotonic()
            time.sleep(LENGTH_S)
            after, elapsed_s = usage(process.pid), time.monotonic() - begin
        gathered = [message for message in messages(output) if message.name == "ovs_datapath"]
        rnics = {message.tags["pci"] for message in messages(output) if message.name == "rnic"}
        collect_ms = [float(message.fields["collect_ms"]) for message in gathered if "collect_ms" in message.fields]
    report(
        "collector",
        scenario=SCENARIO,
        cpu_percent_of_one_core=(after.cpu_s - before.cpu_s) / elapsed_s * 100,
        rss_mb=after.rss_mb,
        peak_rss_mb=after.peak_rss_mb,
        offloaded_flows=int(gathered[-1].fields["offloaded_flows"]),
        rnics=len(rnics),
        interval_s=INTERVAL_S,
        measured_s=elapsed_s,
        collect_ms_p50=percentile(collect_ms, 0.5),
        collect_ms_max=max(collect_ms),
    )


if __name__ == "__main__":
    main()
