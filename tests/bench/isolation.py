"""CPU time per message of the job `isolation`, and the share of a core for 40,000 RNICs with eight VFs each, every 10 s.

Everything between Kafka's bytes and Kafka's bytes: reading, detector, minutes, findings and the messages that come out. CPU time of this
process, so other load on the machine counts little. WALLWATCH_BENCH_RNICS is the number of RNICs in memory (2,000)."""

import gc
import os
import time
from collections.abc import Callable

import orjson
from tests.bench.report import report

from wallwatch.domain.isolation.assignment import Book, Condition, Facts, Rule, assigned, slo_of
from wallwatch.domain.isolation.live import RnicStream
from wallwatch.domain.telemetry.decode import decode
from wallwatch.domain.telemetry.registry import measurements
from wallwatch.jobs.isolation_findings import IsolationFindings
from wallwatch_testing.vf_traffic import SharedRnic

RNICS = int(os.environ.get("WALLWATCH_BENCH_RNICS", "2000"))
FLEET, EVERY_S = 40_000, 10.0
WARM_UP, MEASURED = 10, 20
STORMY = 50
START_S = 1_790_000_040.0
BOOK = Book({"gold": slo_of(50, 5_000, None, 200.0, 0.001)}, (Rule((Condition("namespace", "=~", "team-.*"),), "gold"),))


def facts_of(host: str) -> Callable[[int], Facts]:
    return lambda vf: Facts(host, "0000:3b:00.0", vf, "r1", "CX-6", f"{'other' if vf == 3 else 'team-a'}/pod-{vf}")


class Judge:
    """The job without Kafka and without tables."""

    def __init__(self) -> None:
        self._streams: dict[tuple[str, str], RnicStream] = {}
        self._findings = IsolationFindings()
        self._measurement = measurements()["vf_traffic"]
        self.sent_bytes = 0

    def take(self, value: bytes) -> None:
        tags, at_ns, fields = decode(value, self._measurement, 1 << 62)
        key = (tags["host"], tags["pci"])
        stream = self._streams.get(key)
        if stream is None:
            stream = self._streams[key] = RnicStream(*key, tags["rack"])
            stream.promise(facts_of(key[0]), lambda facts: assigned(facts, BOOK), 1)
        for one in stream.step(at_ns / 1e9, fields):
            self.sent_bytes += len(orjson.dumps(one))
        if stream.verdict is not None:
            for finding in self._findings.take(stream, stream.verdict, ""):
                self.sent_bytes += len(orjson.dumps(finding))


def cpu_us(work: Callable[[], None], messages: int) -> float:
    begin = time.process_time()
    work()
    return (time.process_time() - begin) / messages * 1e6


def parse_us(values: list[bytes]) -> float:
    def parse() -> None:
        for value in values:
            orjson.loads(orjson.loads(value)["fields"]["vfs"])

    return cpu_us(parse, len(values))


def main() -> None:
    """Measure and report."""
    fleet = [SharedRnic(f"host{i:05d}", seed=i) for i in range(RNICS)]
    judge = Judge()

    def take_all(values: list[bytes]) -> Callable[[], None]:
        def work() -> None:
            for value in values:
                judge.take(value)

        return work

    def values_at(turn: int) -> list[bytes]:
        return [orjson.dumps(rnic.step(START_S + turn * EVERY_S, EVERY_S)) for rnic in fleet]

    for turn in range(WARM_UP):
        take_all(values_at(turn))()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)
    spent = parsed = 0.0
    for turn in range(WARM_UP, WARM_UP + MEASURED):
        values = values_at(turn)
        spent += cpu_us(take_all(values), len(values)) / MEASURED
        parsed += parse_us(values) / MEASURED
    sent_bytes = judge.sent_bytes
    # RNICs in doubt: one second in turn calm and stormy, so that every part of the judgement runs.
    begin_s = START_S + (WARM_UP + MEASURED) * EVERY_S
    storm = [
        orjson.dumps(rnic.step(begin_s + second, 1.0, storm=second % 2 == 1, doubt="port drops"))
        for second in range(60)
        for rnic in fleet[:STORMY]
    ]
    stormy = cpu_us(take_all(storm), len(storm))
    report(
        "isolation",
        cores_for_the_fleet_at_10_s=FLEET / EVERY_S * spent / 1e6,
        cpu_us_per_message=spent,
        cpu_us_to_parse_the_same_json=parsed,
        times_parsing=spent / parsed,
        cpu_us_per_message_in_doubt=stormy,
        core_percent_of_one_rnic_at_1_s=stormy / 1e6 * 100,
        bytes_per_message=sum(map(len, values)) / len(values),
        sent_bytes_per_message=sent_bytes / (RNICS * (WARM_UP + MEASURED)),
        rnics=RNICS,
    )


if __name__ == "__main__":
    main()
