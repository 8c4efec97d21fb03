"""`wallwatch topics singles` makes of blocks what single messages are."""

import subprocess
import sys

import orjson

from wallwatch_local.paths import REPOSITORY

EXAMPLES = REPOSITORY / "collectors" / "internal" / "blocks" / "testdata"
COMMAND = [sys.executable, "-c", "from wallwatch.cli.main import app; app()", "topics", "singles"]


def test_blocks_become_single_messages_and_other_lines_pass() -> None:
    event = b'{"fields":{"detail":"x"},"name":"event","tags":{"telemetry_key":"wwt1_x"},"timestamp":1}\n'
    text = (EXAMPLES / "blocks.jsonl").read_bytes() + event
    done = subprocess.run(COMMAND, input=text, capture_output=True, check=False, timeout=300)
    assert (done.returncode, done.stderr) == (0, b"")
    singles = [orjson.loads(line) for line in (EXAMPLES / "singles.jsonl").read_bytes().splitlines()]
    for one in singles:
        del one["tags"]["telemetry_key"]
    *found, last = map(orjson.loads, done.stdout.splitlines())
    assert found == singles
    assert last["tags"] == {"telemetry_key": "wwt1_removed"}


def test_what_cannot_be_read_is_named_and_the_rest_is_written() -> None:
    good = (EXAMPLES / "blocks.jsonl").read_bytes().splitlines()[1]
    bad = good.replace(b"[1.5]", b"[1.5,2]")
    done = subprocess.run(COMMAND, input=b"\n".join((b'{"rows":1}', bad, good, b"")), capture_output=True, check=False, timeout=300)
    assert done.returncode == 1
    assert b"line 1: the rows of a block must be a list" in done.stderr
    assert b"line 2: a row is [time, [tags], [1 values]]" in done.stderr
    assert len(done.stdout.splitlines()) == 1
