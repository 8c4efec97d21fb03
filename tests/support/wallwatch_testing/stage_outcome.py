"""`python -m wallwatch_testing.stage_outcome plain|compiled RECORDING...`: what the stages of `classify` and `isolation` say of
recordings, and what the former keeps at the end of each."""

import gzip
import sys
from collections.abc import Callable
from pathlib import Path

import orjson

from wallwatch.jobs import compiled_stage

if __name__ == "__main__":
    if sys.argv[1] == "compiled" and not compiled_stage.use():
        sys.exit("the stages are not compiled")
    from wallwatch.domain.isolation.assignment import Assigned, Facts, slo_of
    from wallwatch.domain.isolation.live import RnicStream
    from wallwatch.domain.symptoms import host_stage
    from wallwatch.domain.symptoms.peers import Peers
    from wallwatch.domain.telemetry.decode import decode_message
    from wallwatch.jobs.host_state import HostStates

    PROMISED = Assigned(slo_of(500, 8_000, 60.0, 250.0, 0.001), "gold", "rule", 1)

    def facts_of(host: str, pci: str) -> Callable[[int], Facts]:
        return lambda vf: Facts(host, pci, vf, "r1", "CX-6", f"team/pod-{vf}")

    write = sys.stdout.buffer.write
    write(f"{Path(host_stage.__file__).suffix}\n".encode())
    for name in sys.argv[2:]:
        states, peers = HostStates(most_decoded=2), Peers()
        streams: dict[tuple[str, str], RnicStream] = {}
        with gzip.open(Path(name) / "telemetry.jsonl.gz") as lines:
            for line in lines:
                message = decode_message(line, 2**63 - 1)
                if message.measurement == "vf_traffic":
                    place = message.tags["host"], message.tags["pci"]
                    if place not in streams:
                        streams[place] = RnicStream(*place, "r1")
                        streams[place].promise(facts_of(*place), lambda facts: (PROMISED, ""), 1)
                    for said in streams[place].step(message.at_ns / 1e9, message.fields):
                        write(orjson.dumps(said) + b"\n")
                _, findings = host_stage.step(states.of(0, message.tags["host"].encode()), message, peers)
                for finding in findings:
                    write(orjson.dumps(finding) + b"\n")
        for host, part, raw in states.take_unsaved(0):
            write(b"%b %b %b\n" % (host, part.encode(), raw.hex().encode()))
