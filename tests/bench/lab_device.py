"""A device of 12 parameters with two planted faults that answers at once: the load of `tests.bench.lab`."""

import json
import sys

DESCRIPTION = {
    "protocol": "dut/1",
    "name": "bench",
    "description": "two planted faults",
    "parameters": [
        *({"name": f"size_{i}", "kind": "integer", "min": 1, "max": 1024, "step": 1, "component": "eSwitch"} for i in range(6)),
        *({"name": f"flag_{i}", "kind": "boolean", "component": "driver"} for i in range(4)),
        *({"name": f"mode_{i}", "kind": "choice", "values": ["a", "b", "c"], "component": "firmware"} for i in range(2)),
    ],
    "metrics": [{"name": "bw_gbps", "unit": "Gbit/s", "better": "higher"}],
    "symptoms": ["S1", "S6"],
    "topology": None,
    "sequential": False,
    "default": {f"size_{i}": 16 for i in range(6)} | {f"flag_{i}": False for i in range(4)} | {f"mode_{i}": "a" for i in range(2)},
    "seconds_per_test": 0.001,
}


def symptoms(config: dict) -> list[str]:
    found = []
    if config["size_0"] >= 300 and config["flag_1"]:
        found.append("S6")
    if config["size_3"] >= 700 and config["mode_1"] == "c":
        found.append("S1")
    return found


def main() -> None:
    for line in sys.stdin:
        question = json.loads(line)
        if question["op"] == "describe":
            answer = DESCRIPTION
        elif question["op"] == "reset":
            answer = {"id": question["id"], "status": "ok"}
        else:
            bad = symptoms(question["config"])
            answer = {"id": question["id"], "status": "ok", "symptoms": bad, "metrics": {"bw_gbps": 43.0 if bad else 98.0}}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
