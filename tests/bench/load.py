"""Samples per second that `fleetsim load` writes into Kafka on one core, from tapes of the engine's mechanisms.

The hosts of each of the eight symptom scenarios and a healthy fleet are recorded, and 40,000 RNICs play these tapes. A sample is what
one RNIC sends at one time: its messages `rnic` and `rnic_offload`. First only these are sent, as fast as one core can (GOMAXPROCS=1),
then everything that collectors send, then everything at 1 s in real time: its lag at the end shows whether it keeps up.
Kafka works on the other core. WALLWATCH_BENCH_MESSAGES is the length of the first two (1,000,000), WALLWATCH_BENCH_STEADY_S that of
the last (20).
"""

import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from tests.bench.report import report

from wallwatch.jobs.topics import create_topics
from wallwatch.kafka_settings import KafkaSettings
from wallwatch_local import kafka, ports
from wallwatch_local.paths import REPOSITORY, binary

MESSAGES = int(os.environ.get("WALLWATCH_BENCH_MESSAGES", "1000000"))
STEADY_S = float(os.environ.get("WALLWATCH_BENCH_STEADY_S", "20"))
HEALTHY = REPOSITORY / "collectors" / "fleetsim" / "load" / "healthy.yaml"  # five RNICs per host, as in the paper's fleet
RNICS = 40_000
HEALTHY_WEIGHT = 92  # of a hundred hosts; one for each symptom


def tapes(folder: Path, interval: str) -> str:
    """Record the scenarios, and return what --tapes takes."""
    named = []
    for scenario in ("healthy", *(f"s{number}" for number in range(1, 9))):
        out = folder / f"{scenario}-{interval}"
        file = HEALTHY if scenario == "healthy" else REPOSITORY / "tests" / "scenarios" / f"{scenario}.yaml"
        command = [str(binary("fleetsim")), "record", "--scenario", str(file), "--out", str(out), "--interval", interval, "--for", "2m"]
        subprocess.run(command, check=True, capture_output=True)
        named.append(f"{out}={HEALTHY_WEIGHT}" if scenario == "healthy" else str(out))
    return ",".join(named)


def play(bootstrap: str, tapes: str, *arguments: str) -> dict[str, Any]:
    """Run the load on one core and return its own report."""
    command = [str(binary("fleetsim")), "load", "--kafka", bootstrap, "--tapes", tapes, "--rnics", str(RNICS), *arguments]
    done = subprocess.run(command, env={**os.environ, "GOMAXPROCS": "1"}, check=True, capture_output=True, text=True)
    totals: dict[str, Any] = json.loads(done.stdout)
    return totals


def main() -> None:
    """Measure and report."""
    with tempfile.TemporaryDirectory(prefix="ww-bench-") as name:
        folder = Path(name)
        fast = tapes(folder, "1s")
        with kafka.start(folder / "kafka", ports.free_ports(1)[0]) as bootstrap:
            create_topics(KafkaSettings(kafka_bootstrap=bootstrap))
            samples = play(bootstrap, fast, "--measurements", "rnic,rnic_offload", "--rate", "-1", "--count", str(MESSAGES))
            everything = play(bootstrap, fast, "--rate", "-1", "--count", str(MESSAGES))
            per_second = RNICS * everything["samples"] / everything["rnic_samples"]
            steady = play(bootstrap, fast, "--count", str(int(per_second * STEADY_S)))
    report(
        "load",
        rnic_samples_per_s=samples["rnic_samples_per_s"],
        rnic_samples_per_cpu_s=samples["rnic_samples"] / samples["cpu_s"],
        samples_per_s=samples["samples_per_s"],
        everything_samples_per_s=everything["samples_per_s"],
        everything_messages_per_cpu_s=everything["messages"] / everything["cpu_s"],
        everything_rnic_samples_per_cpu_s=everything["rnic_samples"] / everything["cpu_s"],
        steady_interval_s=1,
        steady_samples_per_s=steady["samples_per_s"],
        steady_behind_s=steady["behind_s"],
        steady_cpu_share=steady["cpu_s"] / steady["seconds"],
        rnics=steady["rnics"],
        hosts=steady["hosts"],
        gomaxprocs=samples["gomaxprocs"],
    )


if __name__ == "__main__":
    main()
