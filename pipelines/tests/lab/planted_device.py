"""A device with one planted fault, and switches for everything that an adaptor can do wrong.

`planted_device.py [MISDEED [AT]]`: at operation AT (3) of the first process it does the misdeed, or at each when AT is 0.
S6 appears when there are 32 masks or more and offload is on. LEDGER=FILE: one line per operation, as DUT_LEDGER has it in the protocol.
"""

import json
import os
import sys
import time
from pathlib import Path

MISDEED = sys.argv[1] if len(sys.argv) > 1 else "none"
AT = int(sys.argv[2]) if len(sys.argv) > 2 else 3
LEDGER = os.environ.get("DUT_LEDGER")
ONCE = os.environ.get("MISDEED_DONE")
"""A file whose presence says that the misdeed was done: a restarted device then behaves."""
DELAY_S = float(os.environ.get("DUT_DELAY_S", "0"))
DESCRIPTION = {
    "protocol": "dut/1",
    "name": "planted",
    "description": "one planted fault",
    "parameters": [
        {"name": "masks", "kind": "integer", "min": 1, "max": 64, "step": 1, "component": "eSwitch"},
        {"name": "offload", "kind": "boolean", "component": "driver"},
        {"name": "mtu", "kind": "choice", "values": [1500, 9000], "component": "port"},
    ],
    "metrics": [{"name": "bw_gbps", "unit": "Gbit/s", "better": "higher"}],
    "symptoms": ["S6"],
    "topology": None,
    "sequential": MISDEED == "memory",
    "default": {"masks": 1, "offload": True, "mtu": 1500},
    "seconds_per_test": 0.01,
}


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def answer(question: dict) -> dict:
    if question["op"] == "reset":
        return {"id": question["id"], "status": "ok"}
    config = DESCRIPTION["default"] | question["config"]
    bad = config["masks"] >= 32 and config["offload"]
    return {"id": question["id"], "status": "ok", "symptoms": ["S6"] * bad, "metrics": {"bw_gbps": 40.0 if bad else 98.0}}


def misdo(line: str, reply: dict) -> None:
    if ONCE:
        Path(ONCE).touch()
    text = json.dumps(reply)
    if MISDEED == "dies":
        print("cannot reach the card", file=sys.stderr, flush=True)
        os._exit(7)
    elif MISDEED == "hangs":
        time.sleep(600)
    elif MISDEED == "truncated":
        sys.stdout.write(text[:20])
        sys.stdout.flush()
        os._exit(0)
    elif MISDEED == "endless":
        sys.stdout.write(text[:20])
        sys.stdout.flush()
        time.sleep(600)
    elif MISDEED == "floods":
        sys.stderr.write("x" * 1_000_000 + "\n")
        say(text)
    else:
        lines = {
            "garbage": "Segmentation fault\x00",
            "list": "[1, 2]",
            "no_id": json.dumps({key: value for key, value in reply.items() if key != "id"}),
            "wrong_id": json.dumps(reply | {"id": reply["id"] + 7}),
            "old_id": json.dumps(reply | {"id": reply["id"] - 1}),
            "twice": f"{text}\n{text}",
            "twice_differently": f"{text}\n{json.dumps(reply | {'symptoms': ['S6']})}",
            "nan": json.dumps(reply | {"metrics": {"bw_gbps": float("nan")}}),
            "huge": text.replace('{"bw_gbps": 98.0}', '{"bw_gbps": 1e999}'),
            "text_metric": json.dumps(reply | {"metrics": {"bw_gbps": "fast"}}),
            "unknown_metric": json.dumps(reply | {"metrics": {"latency_us": 3}}),
            "unknown_symptom": json.dumps(reply | {"symptoms": ["S9"]}),
            "unknown_status": json.dumps(reply | {"status": "fine"}),
            "error": json.dumps({"id": reply["id"], "status": "error", "reason": "the link is down"}),
        }
        say(lines[MISDEED])


def main() -> None:
    done = 0
    for line in sys.stdin:
        question = json.loads(line)
        if question["op"] == "describe":
            changed = MISDEED == "changes" and ONCE and Path(ONCE).exists()
            say(json.dumps(DESCRIPTION | ({"symptoms": ["S6", "S7"]} if changed else {})))
            continue
        done += 1
        time.sleep(DELAY_S)
        if LEDGER:
            with Path(LEDGER).open("a", encoding="utf-8") as ledger:
                ledger.write(json.dumps({key: question.get(key) for key in ("op", "config")}) + "\n")
        if MISDEED == "changes" and done == AT:
            Path(str(ONCE)).touch()
            os._exit(1)
        if MISDEED not in ("none", "memory", "changes") and (done == AT or not AT) and not (ONCE and Path(ONCE).exists()):
            misdo(line, answer(question))
        else:
            say(json.dumps(answer(question)))


if __name__ == "__main__":
    main()
