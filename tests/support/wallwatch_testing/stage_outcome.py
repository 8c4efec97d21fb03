"""`python -m wallwatch_testing.stage_outcome plain|compiled RECORDING...`: all that the stage says of recordings, and what it keeps at the
end of each."""

import gzip
import sys
from pathlib import Path

import orjson

from wallwatch.jobs import compiled_stage

if __name__ == "__main__":
    if sys.argv[1] == "compiled" and not compiled_stage.use():
        sys.exit("the stage is not compiled")
    from wallwatch.domain.symptoms import host_stage
    from wallwatch.domain.symptoms.peers import Peers
    from wallwatch.domain.telemetry.decode import decode_message
    from wallwatch.jobs.host_state import HostStates

    write = sys.stdout.buffer.write
    write(f"{Path(host_stage.__file__).suffix}\n".encode())
    for name in sys.argv[2:]:
        states, peers = HostStates(most_decoded=2), Peers()
        with gzip.open(Path(name) / "telemetry.jsonl.gz") as lines:
            for line in lines:
                message = decode_message(line, 2**63 - 1)
                _, findings = host_stage.step(states.of(0, message.tags["host"].encode()), message, peers)
                for finding in findings:
                    write(orjson.dumps(finding) + b"\n")
        for host, part, raw in states.take_unsaved(0):
            write(b"%b %b %b\n" % (host, part.encode(), raw.hex().encode()))
